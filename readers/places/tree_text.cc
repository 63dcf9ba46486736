#include "readers/places/tree_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "text/columns.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr size_t kBytesColumns = 9, kShareColumns = 6;
// Deeper frames stand no further right.
constexpr size_t kMostBranches = 24;
constexpr size_t kLeastName = 16, kMarkerColumns = 2, kBranchColumns = 2;
constexpr size_t kLeastPart = 4;  // of a name
// A narrower terminal needs the columns for names.
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
    // In the order of the walk: the last one that is seen stays.
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

  // The lines to the callers, the nearest `most` of them.
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

  // Open, closed, or without anything below it.
  absl::string_view Marker(uint32_t id) const {
    if (children_[id] == 0) return terminal_.unicode ? "•" : "-";
    if (shown_[id] > 0) return terminal_.unicode ? "▼" : "v";
    return terminal_.unicode ? "▶" : ">";
  }

  // "function  file:line", of at most so many columns; the file is cut first.
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
    return absl::StrCat(CutToColumns(name, both - ColumnsOf(path)), "  ", path,
                        line);
  }

  const PlaceTree& tree_;
  const Terminal& terminal_;
  const std::vector<uint32_t> order_;
  // By node: how many it has below it, how many of them are shown, and the
  // last.
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
