// How deep the nodes of a file's call tree are, and what stands for those that
// are deeper. Used by RecordDecoder, and by all that writes stacks.
#ifndef PYMEMRUN_FORMAT_STACK_DEPTHS_H_
#define PYMEMRUN_FORMAT_STACK_DEPTHS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace pymemrun {

// The name of the code that stands for a stack's outermost frames, where these
// are left out. Of a run file and of reports.
inline constexpr absl::string_view kDeeperFramesName = "<deeper frames>";

// The recorder keeps 4,096 frames of a stack at most, and one that stands for
// the deeper ones. A file with deeper stacks is damaged: else it could make its
// readers write each of a million leaves with a million callers.
inline constexpr uint32_t kMaxStackNodes = 4096 + 1;

// Not thread safe.
class StackDepths {
 public:
  // Of a node below `parent`. REQUIRES: `parent` was added, or is 0.
  uint32_t Below(uint32_t parent) const { return depths_[parent] + 1u; }
  // Adds the next node. REQUIRES: the same; Below() is at most kMaxStackNodes.
  void Add(uint32_t parent) {
    depths_.push_back(static_cast<uint16_t>(Below(parent)));
  }

 private:
  std::vector<uint16_t> depths_ = {0};  // by StackDef.id
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STACK_DEPTHS_H_
