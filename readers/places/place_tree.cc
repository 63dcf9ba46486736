#include "readers/places/place_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "readers/output/table_columns.h"
#include "readers/output/whole_number.h"
#include "readers/run/frame_budget.h"
#include "text/fitted_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Deeper frames have their depth as a number instead of more indentation.
constexpr uint32_t kMaxIndent = 60;
// The most bytes of a collapsed line; a longer one loses outer frames.
constexpr size_t kMaxLineBytes = 1 << 20;

// Replaces semicolons and line ends, at which readers of collapsed stacks
// split.
std::string CollapsedLabel(const Place& place) {
  return absl::StrReplaceAll(TerminalText(FrameLabelOf(place)),
                             {{";", "\\x3b"}});
}

bool IsImportMachinery(const SourceLocation& where) {
  return OwnCode::IsImportMachinery(where.file);
}

}  // namespace

// Nodes are found by parent and place: two callers of one function have a node
// of it each.
uint32_t PlaceTree::Child(uint32_t parent, const Place& place) {
  const auto next = static_cast<uint32_t>(nodes_.size());
  const auto [found, is_new] = children_.emplace(Key(parent, place), next);
  if (is_new) {
    Node node;
    node.parent = parent;
    node.depth = parent == 0 ? 0 : nodes_[parent].depth + 1;
    node.place = place;
    nodes_.push_back(node);
  }
  return found->second;
}

uint32_t PlaceTree::NamedChild(uint32_t parent, std::string name) {
  return Child(parent, {{}, 0, *names_.insert(std::move(name)).first});
}

uint32_t PlaceTree::NodeOf(const Origin& origin, bool inverted) {
  if (origin.is_mapping()) return Child(0, PlaceOf(by_, index_, origin));
  const uint32_t root =
      IsOfFrames(by_) ? 0 : Child(0, PlaceOf(by_, index_, origin));
  return NodeBelow(root, origin.stack, inverted);
}

uint32_t PlaceTree::NodeOf(uint32_t root, uint32_t stack) {
  // Outwards to a known frame, and back.
  std::vector<uint32_t> path;
  // Below a root stacks are not shared with other roots, so the budget applies.
  const uint64_t most = root == 0 ? UINT64_MAX : StepsLeft();
  uint32_t node = root;
  for (uint32_t at = stack;; at = index_.ParentStack(at)) {
    const auto found = known_.find({root, at});
    if (found != known_.end()) {
      node = found->second;
      break;
    }
    if (path.size() == most) {
      node = DeeperFrames(root);
      break;
    }
    path.push_back(at);
    if (index_.ParentStack(at) == 0) break;
  }
  if (root != 0) TakeSteps(path.size());
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    node = FrameBelow(node, *at);
    known_.emplace(std::make_pair(root, *at), node);
  }
  return node;
}

// From the innermost frame outwards. Nothing is shared, so each frame costs a
// step of the budget.
uint32_t PlaceTree::InvertedNodeOf(uint32_t root, uint32_t stack) {
  uint32_t node = root;
  uint64_t steps = 0;
  const uint64_t most = StepsLeft();
  for (uint32_t at = stack;; at = index_.ParentStack(at)) {
    node = FrameBelow(node, at);
    ++steps;
    const bool is_last = index_.ParentStack(at) == 0;
    if (!is_last && steps == most) node = DeeperFrames(node);
    if (is_last || steps == most) break;
  }
  TakeSteps(steps);
  return node;
}

// The library whose import the innermost frame of the stack starts; empty:
// none.
absl::string_view PlaceTree::ImportedBy(uint32_t stack) const {
  const SourceLocation where = index_.ResolveStack(stack);
  const uint32_t caller = index_.ParentStack(stack);
  if (where.code_name != "<module>" || caller == 0 ||
      !IsImportMachinery(index_.ResolveStack(caller))) {
    return "";
  }
  return OwnCode::PackageOf(where.file);
}

// The node of the stack's innermost frame below `node`, its caller's; or `node`
// itself if that is the same frame.
uint32_t PlaceTree::FrameBelow(uint32_t node, uint32_t stack) {
  if (folds_imports_) {
    // Below an import everything belongs to it.
    if (imports_.contains(node)) return node;
    const bool is_machinery = IsImportMachinery(index_.ResolveStack(stack));
    // The frames of the import machinery above an import are left out.
    if (is_machinery && node != 0) return node;
    const absl::string_view library = ImportedBy(stack);
    if (!library.empty()) {
      node = NamedChild(node, absl::StrCat("import ", library));
      imports_.insert(node);
      return node;
    }
  }
  return Child(node, PlaceOf(frames_by_, index_, {.stack = stack}));
}

uint32_t PlaceTree::DeeperFrames(uint32_t parent) {
  return Child(parent, {{}, 0, kDeeperFramesName});
}

// Children have higher numbers than their parents: one pass from the last node
// to the first.
void PlaceTree::SumUp() {
  for (Node& node : nodes_) {
    node.bytes = node.self_bytes;
    node.count = node.self_count;
  }
  for (size_t i = nodes_.size(); --i > 0;) {
    nodes_[nodes_[i].parent].bytes += nodes_[i].bytes;
    nodes_[nodes_[i].parent].count += nodes_[i].count;
  }
}

// A caller has at least the bytes of what it calls, so it is kept whenever one
// of its callees is.
std::vector<uint32_t> PlaceTree::Ordered(uint64_t limit) const {
  std::vector<uint32_t> kept(nodes_.size() - 1);
  std::iota(kept.begin(), kept.end(), 1);
  const auto larger = [this](uint32_t a, uint32_t b) {
    return nodes_[a].bytes != nodes_[b].bytes
               ? nodes_[a].bytes > nodes_[b].bytes
               : a < b;  // callers precede what they call
  };
  std::sort(kept.begin(), kept.end(), larger);
  if (limit != 0 && limit < kept.size()) kept.resize(limit);
  // The children of each node, smallest first, to be pushed onto a stack.
  std::vector<std::vector<uint32_t>> below(nodes_.size());
  for (auto node = kept.rbegin(); node != kept.rend(); ++node) {
    below[nodes_[*node].parent].push_back(*node);
  }
  std::vector<uint32_t> order, open = below[0];
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    order.push_back(node);
    open.insert(open.end(), below[node].begin(), below[node].end());
  }
  return order;
}

std::vector<Table::Heading> PlaceTree::NameHeadings(TableFormat format) {
  if (format == TableFormat::kText) {
    return {{"frame", "frame", CellLook::kName}};
  }
  return {{"depth"}, {"file"}, {"line"}, {"function"}};
}

std::vector<Cell> PlaceTree::NameCells(uint32_t depth, const Place& place,
                                       TableFormat format) {
  if (format == TableFormat::kText) {
    std::string frame(2 * std::min(depth, kMaxIndent), ' ');
    if (depth > kMaxIndent) absl::StrAppend(&frame, depth, ": ");
    return {frame + FrameLabelOf(place)};
  }
  std::vector<Cell> cells = {uint64_t{depth}, std::string(place.file), Cell(),
                             std::string(place.function)};
  if (place.line != 0) cells[2] = uint64_t{place.line};
  return cells;
}

Table PlaceTree::ToTable(uint64_t limit, TableFormat format) const {
  const bool is_time = measure_.unit == TreeUnit::kNanos;
  const auto size = [is_time](double value) {
    return is_time ? Cell(value / 1e9) : Cell(SignedNumber(value));
  };
  const double whole = rest_.has_value() ? rest_->whole : nodes_[0].bytes;
  TableColumns<Node> columns;
  const CellLook look = is_time ? CellLook::kPlain : CellLook::kBytes;
  columns.Add(measure_.size_name, measure_.size_title, look,
              [=](const Node& of) { return size(of.bytes); });
  columns.Add(is_time ? "self_s" : "self_bytes", is_time ? "self s" : "self",
              look, [=](const Node& of) { return size(of.self_bytes); });
  if (measure_.count_name != nullptr) {
    columns.Add(measure_.count_name, measure_.count_title,
                [](const Node& of) { return WholeNumber(of.count); });
  }
  columns.AddShare(whole, [](const Node& of) { return of.bytes; });
  Table table;
  table.headings = NameHeadings(format);
  columns.AppendHeadings(&table.headings);
  const auto add = [&](const Node& node) {
    table.rows.push_back(NameCells(node.depth, node.place, format));
    columns.AppendCells(node, &table.rows.back());
  };
  for (const uint32_t id : Ordered(limit)) add(nodes_[id]);
  if (rest_.has_value()) {
    const double bytes = rest_->bytes;
    add({0, 0, NamedPlace(rest_->name), bytes, 0, bytes, 0});
  }
  return table;
}

void PlaceTree::PrintCollapsed(OutputBuffer* output) const {
  const double unit = measure_.unit == TreeUnit::kNanos ? 1000 : 1;
  FrameBudget budget(FrameBudget::kBytes / 2);
  for (const uint32_t id : Ordered(0)) {
    const uint64_t self_bytes = WholeNumber(nodes_[id].self_bytes / unit);
    if (self_bytes == 0) continue;
    std::vector<std::string> frames;  // innermost first
    size_t bytes = 0;
    budget.BeginStack();
    // From the innermost frame outwards, until the line or the budget is full.
    for (uint32_t at = id; at != 0; at = nodes_[at].parent) {
      if (bytes > kMaxLineBytes || !budget.HasRoom()) {
        frames.emplace_back("...");
        break;
      }
      frames.push_back(CollapsedLabel(nodes_[at].place));
      bytes += frames.back().size();
      budget.Take(frames.back().size());
    }
    std::string line;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      absl::StrAppend(&line, line.empty() ? "" : ";", *frame);
    }
    output->Append(absl::StrCat(line, " ", self_bytes, "\n"));
  }
  if (rest_.has_value() && rest_->bytes > 0) {
    output->Append(
        absl::StrCat(rest_->name, " ", WholeNumber(rest_->bytes), "\n"));
  }
}

namespace {

constexpr size_t kBytesColumns = 9, kShareColumns = 6;
// The deepest indentation.
constexpr size_t kMostBranches = 24;
constexpr size_t kLeastName = 16, kMarkerColumns = 2, kBranchColumns = 2;
constexpr size_t kLeastPart = 4;  // of a name's part
// The least width of a terminal for shares: a narrower one needs the columns
// for names.
constexpr size_t kWithShares = 60;

class TreeWriter {
 public:
  TreeWriter(const PlaceTree& tree, uint64_t limit, const Terminal& terminal)
      : tree_(tree),
        terminal_(terminal),
        order_(tree.Ordered(limit)),
        shown_(tree.nodes().size()),
        children_(tree.nodes().size()),
        last_(tree.nodes().size()),
        has_shares_(!terminal.fits() || terminal.columns >= kWithShares) {
    for (size_t id = 1; id < tree.nodes().size(); ++id) {
      ++children_[tree.nodes()[id].parent];
    }
    // Visited in order: the last child shown is kept.
    for (const uint32_t id : order_) {
      ++shown_[tree.nodes()[id].parent];
      last_[tree.nodes()[id].parent] = id;
    }
  }

  std::string Take() {
    for (const uint32_t id : order_) AddNode(id);
    return std::move(text_);
  }

 private:
  const PlaceTree::Node& Node(uint32_t id) const { return tree_.nodes()[id]; }

  void AddNode(uint32_t id) {
    const PlaceTree::Node& node = Node(id);
    const double all = Node(0).bytes;
    std::string line =
        PadLeft(tree_.measure().unit == TreeUnit::kBytes
                    ? ShortBytes(node.bytes)
                    : absl::StrFormat("%.3f s", node.bytes / 1e9),
                kBytesColumns);
    if (has_shares_) {
      line += PadLeft(Percent(all > 0 ? node.bytes / all : 0.0), kShareColumns);
    }
    absl::StrAppend(&line, "  ");
    const size_t fixed = ColumnsOf(line) + kMarkerColumns + kLeastName;
    const size_t most_branches =
        !terminal_.fits()
            ? kMostBranches
            : std::min(kMostBranches,
                       (terminal_.columns - fixed) / kBranchColumns);
    absl::StrAppend(&line, Branches(id, most_branches), Marker(id), " ");
    absl::StrAppend(&line,
                    NameOf(node.place, terminal_.fits()
                                           ? terminal_.columns - ColumnsOf(line)
                                           : SIZE_MAX));
    absl::StrAppend(&text_, line, "\n");
  }

  // The lines to at most `most` callers, the nearest ones.
  std::string Branches(uint32_t id, size_t most) const {
    std::vector<absl::string_view> parts;
    const bool unicode = terminal_.unicode;
    for (uint32_t at = id; Node(at).parent != 0; at = Node(at).parent) {
      const bool is_last = last_[Node(at).parent] == at;
      if (at == id) {
        parts.push_back(is_last ? (unicode ? "└ " : "`-")
                                : (unicode ? "├ " : "|-"));
      } else {
        parts.push_back(is_last ? "  " : (unicode ? "│ " : "| "));
      }
      if (parts.size() == most) break;
    }
    std::string text;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      absl::StrAppend(&text, *part);
    }
    return text;
  }

  // Open, closed, or without children.
  absl::string_view Marker(uint32_t id) const {
    if (children_[id] == 0) return terminal_.unicode ? "•" : "-";
    if (shown_[id] > 0) return terminal_.unicode ? "▼" : "v";
    return terminal_.unicode ? "▶" : ">";
  }

  // "function file:line", cut to `room` columns; the file is cut first.
  std::string NameOf(const Place& place, size_t room) const {
    std::string name = TerminalText(place.function);
    if (place.file.empty()) return CutToColumns(place.function, room);
    if (place.function.empty()) name = TerminalText(place.file);
    const std::string line =
        place.line == 0 ? "" : absl::StrCat(":", place.line);
    std::string path;
    if (!place.function.empty()) {
      path = TerminalText(terminal_.fits()
                              ? ShortPath(place.file, terminal_.folder)
                              : std::string(place.file));
    }
    const size_t fixed = ColumnsOf(line) + 2;
    if (!terminal_.fits() ||
        ColumnsOf(name) + ColumnsOf(path) + fixed <= room) {
      return absl::StrCat(name, path.empty() ? "" : "  ", path, line);
    }
    const size_t both = room - std::min(room, fixed);
    if (both < 2 * kLeastPart) {
      return absl::StrCat(CutToColumns(name, room - ColumnsOf(line)), line);
    }
    // The path gets what the name leaves, or half of the room.
    const size_t left = both - std::min(both, ColumnsOf(name));
    path = CutPath(path,
                   std::min({ColumnsOf(path), both - kLeastPart,
                             std::max(room / 2, left)}),
                   terminal_.unicode);
    // The name takes what the path leaves.
    return absl::StrCat(CutToColumns(name, both - ColumnsOf(path)), "  ", path,
                        line);
  }

  const PlaceTree& tree_;
  const Terminal& terminal_;
  const std::vector<uint32_t> order_;
  // By node: the number of children, of those shown, and the last one shown.
  std::vector<uint32_t> shown_, children_, last_;
  const bool has_shares_;
  std::string text_;
};

}  // namespace

std::string TreeText(const PlaceTree& tree, uint64_t limit,
                     const Terminal& terminal) {
  return TreeWriter(tree, limit, terminal).Take();
}

}  // namespace pymemrun
