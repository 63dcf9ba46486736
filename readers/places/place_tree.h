// A call tree with sizes: the memory at a moment, or the time waited, by call
// stack. Printed as a table and as collapsed stacks. Reports fill it.
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
// What the sizes and counts of a tree measure, and the names of their columns.
struct TreeMeasure {
  TreeUnit unit = TreeUnit::kBytes;
  const char *size_name = "bytes", *size_title = "bytes";
  const char *count_name = nullptr, *count_title = nullptr;  // null: no column
};

// A tree whose frames are lines, functions or files. Not thread safe. The
// index, and the names of other places, must outlive it.
class PlaceTree {
 public:
  // A frame of the tree, or a named part of it.
  struct Node {
    uint32_t parent = 0;  // 0: it is an outermost frame
    uint32_t depth = 0;
    Place place;
    double self_bytes = 0, self_count = 0;
    // Including everything called from there; see SumUp().
    double bytes = 0, count = 0;
  };

  // Frames are FramesBy(by). Unless IsOfFrames(by), each place grouped by `by`
  // is an outermost frame.
  PlaceTree(GroupBy by, const RunIndex* index, const TreeMeasure& measure = {})
      : measure_(measure), by_(by), frames_by_(FramesBy(by)), index_(*index) {}

  // From now on an import of a library is one frame, `import NAME`, and the
  // import machinery has no frames. REQUIRES: the tree is empty.
  void FoldImports() { folds_imports_ = true; }

  // Many stacks share the frames of their callers. They do not in a tree that
  // starts with the innermost frames, or has a root for each thread. In such a
  // tree, after this number of frames, a stack keeps only its innermost 16,
  // below `<deeper frames>`.
  static constexpr uint64_t kMostSteps = uint64_t{1} << 20;

  // The number of the node of a place below `parent`; 0: an outermost frame.
  uint32_t Child(uint32_t parent, const Place& place);
  // The same for a frame that is not a place. The tree keeps the name.
  uint32_t NamedChild(uint32_t parent, std::string name);
  // The node of the origin's stack. `inverted`: that of its outermost frame,
  // below the frames that it calls.
  uint32_t NodeOf(const Origin& origin, bool inverted = false);
  // The node of a stack, which is not 0, in the tree below `root`; 0: the whole
  // tree.
  uint32_t NodeBelow(uint32_t root, uint32_t stack, bool inverted) {
    return inverted ? InvertedNodeOf(root, stack) : NodeOf(root, stack);
  }
  void Add(uint32_t node, double bytes, double count) {
    nodes_[node].self_bytes += bytes;
    nodes_[node].self_count += count;
  }
  // Adds an outermost frame with this name, unless it has 0 bytes.
  void AddNamed(absl::string_view name, double bytes, double count) {
    if (bytes > 0) Add(Child(0, NamedPlace(name)), bytes, count);
  }
  // To be called when everything was added.
  void SumUp();
  // Sets what is in no frame; it is printed last and may be negative. Shares
  // are then parts of `whole`, otherwise of all that was added. The name must
  // outlive the tree.
  void SetRest(absl::string_view name, double bytes, double whole) {
    rest_ = {name, bytes, whole};
  }

  const TreeMeasure& measure() const { return measure_; }
  // By number; callers precede what they call.
  const std::vector<Node>& nodes() const { return nodes_; }
  // The `limit` nodes with the most bytes (0: all), in the order of a walk
  // through the tree, larger ones first.
  std::vector<uint32_t> Ordered(uint64_t limit) const;

  // The columns that name a row's frame: in text one indented cell.
  static std::vector<Table::Heading> NameHeadings(TableFormat format);
  static std::vector<Cell> NameCells(uint32_t depth, const Place& place,
                                     TableFormat format);
  // The `limit` frames with the most bytes (0: all), each below its caller:
  // with everything called from there, and without.
  Table ToTable(uint64_t limit, TableFormat format) const;
  // A line "outermost;...;innermost bytes" for each stack with bytes, and one
  // for the rest if it is positive. Times are in microseconds.
  void PrintCollapsed(OutputBuffer* output) const;

 private:
  using Key = std::pair<uint32_t, Place>;  // parent, place

  // The node of a stack below `root`; 0: below the tree's root.
  uint32_t NodeOf(uint32_t root, uint32_t stack);
  uint32_t InvertedNodeOf(uint32_t root, uint32_t stack);
  // How many frames the next stack may take.
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
  absl::flat_hash_set<uint32_t> imports_;  // nodes named `import NAME`
  // Names of frames that are not places.
  absl::node_hash_set<std::string> names_;
  uint64_t steps_left_ = kMostSteps;
  std::vector<Node> nodes_ = {{}};  // 0: the root, above the outermost frames
  absl::flat_hash_map<Key, uint32_t> children_;
  // By root and stack.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> known_;
};

// A call tree for a terminal: `pymemreport heap --as tree`. Has a line for each
// of the `limit` frames with the most bytes (0: all), below its caller. The
// line has bytes, share of the whole, a line to the caller, and the frame. A
// frame with hidden callees is marked as closed. Each line is ended, and at
// most as wide as the terminal.
std::string TreeText(const PlaceTree& tree, uint64_t limit,
                     const Terminal& terminal);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_PLACE_TREE_H_
