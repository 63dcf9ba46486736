// Depths of the nodes of a file's call tree, and names of frames that stand for
// missing ones. Used by RecordDecoder and by everything that writes stacks.
#ifndef PYMEMRUN_FORMAT_RECORDS_STACK_DEPTHS_H_
#define PYMEMRUN_FORMAT_RECORDS_STACK_DEPTHS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "format/limits.h"

namespace pymemrun {

// Name of the code that stands for the outermost frames of a stack that was
// cut. Used in run files and reports.
inline constexpr absl::string_view kDeeperFramesName = "<deeper frames>";
// Name of the only frame of a thread without Python frames.
inline constexpr absl::string_view kNativeThreadName = "<native thread>";

// Not thread-safe.
class StackDepths {
 public:
  // Returns the depth of a node below `parent`. REQUIRES: `parent` was added,
  // or is 0.
  uint32_t Below(uint32_t parent) const { return depths_[parent] + 1u; }
  // Adds the next node. REQUIRES: `parent` was added, or is 0; Below(parent) is
  // at most kMaxStackNodes.
  void Add(uint32_t parent) {
    depths_.push_back(static_cast<uint16_t>(Below(parent)));
  }

 private:
  std::vector<uint16_t> depths_ = {0};  // by StackDef.id
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_STACK_DEPTHS_H_
