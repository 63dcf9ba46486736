// A call tree with sizes: the memory at a moment by call stack, or the time
// that was waited, as a table and as collapsed stacks. What fills one is the
// report's.
#ifndef PYMEMRUN_READERS_PLACES_PLACE_TREE_H_
#define PYMEMRUN_READERS_PLACES_PLACE_TREE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_set.h"
#include "readers/output/output_buffer.h"
#include "readers/output/table.h"
#include "readers/output/terminal.h"
#include "readers/places/place_table.h"

namespace pymemrun {

enum class TreeUnit { kBytes, kNanos };
// What the sizes and counts of a tree are, and the columns that have them.
struct TreeMeasure {
  TreeUnit unit = TreeUnit::kBytes;
  const char *size_name = "bytes", *size_title = "bytes";
  const char *count_name = nullptr, *count_title = nullptr;  // null: no column
};

// Frames are lines, functions or files. Not thread safe; the index must outlive
// it, and the names of other places too.
class PlaceTree {
 public:
  struct Node {
    uint32_t parent = 0;  // 0: it is an outermost one
    uint32_t depth = 0;
    Place place;
    double self_bytes = 0, self_count = 0;
    // With all that was called from there; see SumUp().
    double bytes = 0, count = 0;
  };

  // Frames are FramesBy(by). Unless `by` IsOfFrames(), each place by that is an
  // outermost frame.
  PlaceTree(GroupBy by, const RunIndex* index, const TreeMeasure& measure = {})
      : measure_(measure), by_(by), frames_by_(FramesBy(by)), index_(*index) {}

  // From here on what importing a library takes is one frame, `import NAME`,
  // and the import machinery has none. REQUIRES: the tree is empty.
  void FoldImports() { folds_imports_ = true; }

  // Callers and what they call are the same frames for many stacks, but not
  // where a tree begins with the innermost frames, or has a root for each
  // thread. Beyond so many frames a stack has its innermost 16 in such a tree,
  // under `<deeper frames>`.
  static constexpr uint64_t kMostSteps = uint64_t{1} << 20;

  // The number of the node of that place below `parent`, 0: an outermost one.
  uint32_t Child(uint32_t parent, const Place& place);
  // That of a frame that is no place. The tree keeps the name.
  uint32_t NamedChild(uint32_t parent, std::string name);
  // That of the origin's stack; `inverted`: of its outermost frame, with what
  // that calls above it.
  uint32_t NodeOf(const Origin& origin, bool inverted = false);
  // That of a stack that is not 0, in a tree below `root`; 0: the whole tree.
  uint32_t NodeBelow(uint32_t root, uint32_t stack, bool inverted) {
    return inverted ? InvertedNodeOf(root, stack) : NodeOf(root, stack);
  }
  void Add(uint32_t node, double bytes, double count) {
    nodes_[node].self_bytes += bytes;
    nodes_[node].self_count += count;
  }
  // An outermost frame that has that name; 0 bytes are none.
  void AddNamed(absl::string_view name, double bytes, double count) {
    if (bytes > 0) Add(Child(0, NamedPlace(name)), bytes, count);
  }
  // To be called when everything was added.
  void SumUp();
  // What is in no frame, which may be below 0: it comes last. Shares are then
  // of `whole`, and else of all that was added. The name lives as long as the
  // tree.
  void SetRest(absl::string_view name, double bytes, double whole) {
    rest_ = {name, bytes, whole};
  }

  const TreeMeasure& measure() const { return measure_; }
  // By number; callers come before what they call.
  const std::vector<Node>& nodes() const { return nodes_; }
  // The `limit` nodes with the most bytes (0: all), in the order of a walk
  // through the tree, larger ones first.
  std::vector<uint32_t> Ordered(uint64_t limit) const;

  // Columns that say which frame a row is of: for text one indented cell.
  static std::vector<Table::Heading> NameHeadings(TableFormat format);
  static std::vector<Cell> NameCells(uint32_t depth, const Place& place,
                                     TableFormat format);
  // The `limit` frames with the most bytes (0: all), each below its caller:
  // with all that was called from there, and without.
  Table ToTable(uint64_t limit, TableFormat format) const;
  // "outermost;...;innermost bytes", a line for each stack that has some, and
  // for the rest if it is above 0. Times are microseconds.
  void PrintCollapsed(OutputBuffer* output) const;

 private:
  using Key = std::pair<uint32_t, Place>;  // parent, place

  // That of a stack below `root`, 0: of the tree.
  uint32_t NodeOf(uint32_t root, uint32_t stack);
  uint32_t InvertedNodeOf(uint32_t root, uint32_t stack);
  // How many frames of the next stack may be taken.
  uint64_t StepsLeft() const { return std::max(steps_left_, kLeastSteps); }
  void TakeSteps(uint64_t steps) {
    steps_left_ -= std::min(steps_left_, steps);
  }
  uint32_t DeeperFrames(uint32_t parent);
  uint32_t FrameBelow(uint32_t node, uint32_t stack);
  absl::string_view ImportedBy(uint32_t stack) const;

  static constexpr uint64_t kLeastSteps = 16;
  const TreeMeasure measure_;
  const GroupBy by_, frames_by_;
  const RunIndex& index_;
  struct Rest {
    absl::string_view name;
    double bytes, whole;
  };
  std::optional<Rest> rest_;
  bool folds_imports_ = false;
  absl::flat_hash_set<uint32_t> imports_;   // nodes that are `import NAME`
  absl::node_hash_set<std::string> names_;  // of frames that are no places
  uint64_t steps_left_ = kMostSteps;
  std::vector<Node> nodes_ = {{}};  // 0: above the outermost ones
  absl::flat_hash_map<Key, uint32_t> children_;
  // By root and stack.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> known_;
};

// A call tree as people read it in a terminal: `pymemreport heap --as tree`.

// A line for each of the `limit` frames with the most bytes (0: all), below its
// caller: bytes, share of the whole, a line to the caller, and the frame. One
// that calls frames which are not shown is marked as closed. Each line is
// ended, and as wide as the terminal at most.
std::string TreeText(const PlaceTree& tree, uint64_t limit,
                     const Terminal& terminal);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_PLACE_TREE_H_
