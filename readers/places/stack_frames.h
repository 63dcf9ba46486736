// Numbers the distinct frames of stacks. Used by the exports.
#ifndef PYMEMRUN_READERS_PLACES_STACK_FRAMES_H_
#define PYMEMRUN_READERS_PLACES_STACK_FRAMES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/places/place_table.h"
#include "readers/run/frame_budget.h"

namespace pymemrun {

// Not thread safe. The index must outlive it.
class StackFrames {
 public:
  // A distinct frame: a line of a function.
  struct Frame {
    Place place;                 // grouped by line
    absl::string_view qualname;  // the function's, with its classes
    uint32_t first_line = 0;
  };
  explicit StackFrames(const RunIndex* index)
      : index_(*index), budget_(FrameBudget::kBytes / 2) {}
  // The numbers of a stack's frames, innermost first: at least one, and as many
  // as FrameBudget allows.
  std::vector<uint32_t> Of(uint32_t stack);
  const std::vector<Frame>& frames() const { return frames_; }

 private:
  uint32_t NumberOf(uint32_t stack);
  uint32_t NumberOf(const Frame& frame);

  const RunIndex& index_;
  FrameBudget budget_;
  std::vector<Frame> frames_;
  PlaceTable numbers_;
  absl::flat_hash_map<uint32_t, uint32_t> by_stack_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_STACK_FRAMES_H_
