// Resident pages by call stack: `pymemreport resident --stacks, --collapsed`.
#ifndef PYMEMRUN_READERS_STACK_TREE_H_
#define PYMEMRUN_READERS_STACK_TREE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/output_buffer.h"
#include "readers/resident_places.h"
#include "readers/table.h"

namespace pymemrun {

// The call tree of a replay's pages. Frames are lines, functions or files; by
// thread or module, these are the outermost frames and lines come below. Pages
// from before tracing are a tree of their own, by what they are part of. Not
// thread safe; the replay must outlive it.
class StackTree {
 public:
  // REQUIRES: not kMapping.
  StackTree(ResidentBy by, const ResidentReplay* replay);

  // The `limit` frames with the most bytes (0: all), each below its caller,
  // and last what has no owner. `resident_bytes` is with all that was called
  // from there, `self_bytes` without. For text a frame is one indented cell.
  Table ToTable(uint64_t limit, TableFormat format) const;
  // "outermost;...;innermost bytes", a line for each stack. What has no owner
  // is a line too, unless it is below 0.
  void PrintCollapsed(OutputBuffer* output) const;

 private:
  struct Node {
    uint32_t parent = 0;  // 0: it is an outermost one
    uint32_t depth = 0;
    ResidentPlace place;
    uint64_t self_pages = 0;
    uint64_t pages = 0;
  };
  using Key = std::pair<uint32_t, ResidentPlace>;  // parent, place

  uint32_t Child(uint32_t parent, const ResidentPlace& place);
  uint32_t NodeOf(uint32_t root, uint32_t stack);
  uint32_t NodeOf(const PageOwner& owner);
  std::vector<uint32_t> Ordered(uint64_t limit) const;
  std::vector<Cell> NameCells(const Node& node, bool text) const;
  std::string Label(const Node& node) const;
  std::string CollapsedLabel(const Node& node) const;
  double Bytes(uint64_t pages) const;

  const ResidentReplay& replay_;
  const bool has_roots_;  // threads or modules
  const ResidentBy frames_by_;
  const ResidentBy by_;
  std::vector<Node> nodes_ = {{}};  // 0: above the outermost ones
  absl::flat_hash_map<Key, uint32_t> children_;
  // By root and stack.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> known_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_STACK_TREE_H_
