#include "readers/stack_tree.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "format/terminal_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kUnattributed = "unattributed";
// Deeper frames say their depth instead of standing further right.
constexpr uint32_t kMaxIndent = 60;
// Of a collapsed line; what is longer loses outer frames.
constexpr size_t kMaxLineBytes = 1 << 20;

bool IsRoot(ResidentBy by) {
  return by == ResidentBy::kThread || by == ResidentBy::kModule;
}

}  // namespace

StackTree::StackTree(ResidentBy by, const ResidentReplay* replay)
    : replay_(*replay),
      has_roots_(IsRoot(by)),
      frames_by_(has_roots_ ? ResidentBy::kLine : by),
      by_(by) {
  const ResidentModel& model = replay_.model();
  for (uint32_t owner = 1; owner < model.owners().size(); ++owner) {
    const uint64_t pages = model.PagesOf(owner);
    if (pages == 0) continue;
    nodes_[NodeOf(model.owners()[owner])].self_pages += pages;
  }
  const uint64_t before = model.UnlistedBeforeBytes();
  if (before > 0) {
    ResidentPlace place;
    place.file = kBeforeTracing;
    nodes_[Child(0, place)].self_pages += before / model.page_bytes();
  }
  // Callers come before what they call.
  for (Node& node : nodes_) node.pages = node.self_pages;
  for (size_t i = nodes_.size(); --i > 0;) {
    nodes_[nodes_[i].parent].pages += nodes_[i].pages;
  }
}

uint32_t StackTree::Child(uint32_t parent, const ResidentPlace& place) {
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

uint32_t StackTree::NodeOf(uint32_t root, uint32_t stack) {
  // Outwards up to a frame that is known, and back.
  std::vector<uint32_t> path;
  uint32_t node = root;
  for (uint32_t at = stack;; at = replay_.index().ParentStack(at)) {
    const auto found = known_.find({root, at});
    if (found != known_.end()) {
      node = found->second;
      break;
    }
    path.push_back(at);
    if (replay_.index().ParentStack(at) == 0) break;
  }
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    node = Child(node, PlaceOfStack(frames_by_, replay_.index(), *at));
    known_.emplace(std::make_pair(root, *at), node);
  }
  return node;
}

uint32_t StackTree::NodeOf(const PageOwner& owner) {
  const RunIndex& index = replay_.index();
  ResidentPlace place;
  if (owner.before_tracing()) {
    place.file = kBeforeTracing;
    const uint32_t root = Child(0, place);
    place.file = ShownMapping(index, owner.mapping);
    return Child(root, place);
  }
  if (!has_roots_) return NodeOf(0, owner.stack);
  place.file = by_ == ResidentBy::kThread
                   ? index.ThreadLabel(owner.thread)
                   : ShownMapping(index, owner.code_mapping);
  return NodeOf(Child(0, place), owner.stack);
}

// The largest, in the order of a walk through the tree.
std::vector<uint32_t> StackTree::Ordered(uint64_t limit) const {
  std::vector<uint32_t> kept(nodes_.size() - 1);
  std::iota(kept.begin(), kept.end(), 1);
  const auto larger = [this](uint32_t a, uint32_t b) {
    return nodes_[a].pages != nodes_[b].pages
               ? nodes_[a].pages > nodes_[b].pages
               : a < b;  // a caller before what it calls
  };
  std::sort(kept.begin(), kept.end(), larger);
  if (limit != 0 && limit < kept.size()) kept.resize(limit);
  // Each one's children, smallest first, for a stack.
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

std::string StackTree::Label(const Node& node) const {
  const ResidentPlace& place = node.place;
  if (place.function.empty()) return std::string(place.file);
  if (place.file.empty()) return std::string(place.function);
  std::string label = absl::StrCat(place.function, " (", place.file);
  if (place.line != 0) absl::StrAppend(&label, ":", place.line);
  return label + ")";
}

// Readers of collapsed stacks split at semicolons and line ends.
std::string StackTree::CollapsedLabel(const Node& node) const {
  return absl::StrReplaceAll(TerminalText(Label(node)), {{";", "\\x3b"}});
}

double StackTree::Bytes(uint64_t pages) const {
  return static_cast<double>(pages * replay_.model().page_bytes());
}

std::vector<Cell> StackTree::NameCells(const Node& node, bool text) const {
  if (text) {
    std::string frame(2 * std::min(node.depth, kMaxIndent), ' ');
    if (node.depth > kMaxIndent) absl::StrAppend(&frame, node.depth, ": ");
    return {frame + Label(node)};
  }
  std::vector<Cell> cells = {uint64_t{node.depth}, std::string(node.place.file),
                             Cell(), std::string(node.place.function)};
  if (node.place.line != 0) cells[2] = uint64_t{node.place.line};
  return cells;
}

Table StackTree::ToTable(uint64_t limit, TableFormat format) const {
  const bool text = format == TableFormat::kText;
  const ResidentModel& model = replay_.model();
  const auto rss = static_cast<double>(model.RssBytes());
  Table table;
  if (text) {
    table.headings = {{"frame", "frame", CellLook::kName}};
  } else {
    table.headings = {{"depth"}, {"file"}, {"line"}, {"function"}};
  }
  table.headings.insert(table.headings.end(),
                        {{"resident_bytes", "resident", CellLook::kBytes},
                         {"self_bytes", "self", CellLook::kBytes},
                         {"share", "share", CellLook::kShare}});
  const auto add = [&](const Node& node, Cell bytes, Cell self, double share) {
    std::vector<Cell> cells = NameCells(node, text);
    cells.push_back(std::move(bytes));
    cells.push_back(std::move(self));
    cells.emplace_back(rss > 0 ? share / rss : 0.0);
    table.rows.push_back(std::move(cells));
  };
  for (const uint32_t id : Ordered(limit)) {
    const Node& node = nodes_[id];
    add(node, node.pages * model.page_bytes(),
        node.self_pages * model.page_bytes(), Bytes(node.pages));
  }
  Node unattributed;
  unattributed.place.file = kUnattributed;
  const int64_t bytes = model.UnattributedBytes();
  add(unattributed, bytes, bytes, static_cast<double>(bytes));
  return table;
}

void StackTree::PrintCollapsed(OutputBuffer* output) const {
  const ResidentModel& model = replay_.model();
  for (const uint32_t id : Ordered(0)) {
    if (nodes_[id].self_pages == 0) continue;
    std::vector<std::string> frames;  // innermost first
    size_t bytes = 0;
    for (uint32_t at = id; at != 0; at = nodes_[at].parent) {
      if (bytes > kMaxLineBytes) {
        frames.emplace_back("...");
        break;
      }
      frames.push_back(CollapsedLabel(nodes_[at]));
      bytes += frames.back().size();
    }
    std::string line;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      absl::StrAppend(&line, line.empty() ? "" : ";", *frame);
    }
    output->Append(absl::StrCat(
        line, " ", nodes_[id].self_pages * model.page_bytes(), "\n"));
  }
  const int64_t rest = model.UnattributedBytes();
  if (rest > 0) {
    output->Append(absl::StrCat(kUnattributed, " ", rest, "\n"));
  }
}

}  // namespace pymemrun
