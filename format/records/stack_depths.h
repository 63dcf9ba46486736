// How deep the nodes of a file's call tree are, and what stands for those that
// are deeper. Used by RecordDecoder, and by all that writes stacks.
#ifndef PYMEMRUN_FORMAT_RECORDS_STACK_DEPTHS_H_
#define PYMEMRUN_FORMAT_RECORDS_STACK_DEPTHS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "format/limits.h"

namespace pymemrun {

// The name of the code that stands for a stack's outermost frames, where these
// are left out. Of a run file and of reports.
inline constexpr absl::string_view kDeeperFramesName = "<deeper frames>";
// The only frame of a thread that has none of Python's.
inline constexpr absl::string_view kNativeThreadName = "<native thread>";

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

#endif  // PYMEMRUN_FORMAT_RECORDS_STACK_DEPTHS_H_
