#include "tracer/code/tracing_cost.h"

#include "tracer/code/stack_nodes.h"

namespace pymemrun {
namespace {

void Raise(uint64_t* peak, uint64_t value) {
  if (value > *peak) *peak = value;
}

}  // namespace

void TracingCost::CodeSeen(PyCodeObject* code) {
  line_array_bytes_ += PymemrunLineArrayBytes(code);
  Raise(&peak_line_array_bytes_, line_array_bytes_);
}

void TracingCost::CodeDied(PyCodeObject* code) {
  const uint64_t bytes = PymemrunLineArrayBytes(code);
  line_array_bytes_ -= bytes < line_array_bytes_ ? bytes : line_array_bytes_;
}

void TracingCost::CodesForgotten() { line_array_bytes_ = 0; }

// Walks from the innermost frame outwards, and stops at the frame that the last
// walk began with. So a growing recursion costs a few frames for each look.
void TracingCost::FramesAt(const PymemrunFrame* frame) {
  uint64_t frame_bytes = 0, bound_bytes = 0;
  bool calls_c = true;  // the innermost frame may: its event may be a C call's
  const PymemrunFrame* at = frame;
  for (uint32_t depth = 0; at != nullptr && depth < kMaxStackDepth; ++depth) {
    const PymemrunFrame* back = PymemrunFrameBack(at);
    if (calls_c) bound_bytes += PymemrunBoundObjectBytes(at);
    if (at == known_frame_ && back == known_back_) {
      frame_bytes += known_frame_bytes_;
      bound_bytes += bound_bytes_below_;
      break;
    }
    frame_bytes += PymemrunFrameObjectBytes(at);
    calls_c = PymemrunEnteredFromC(at) != 0;
    at = back;
  }
  known_frame_ = frame;
  known_back_ = PymemrunFrameBack(frame);
  known_frame_bytes_ = frame_bytes;
  bound_bytes_below_ = bound_bytes - PymemrunBoundObjectBytes(frame);
  Raise(&peak_frame_bytes_, frame_bytes);
  Raise(&peak_bound_bytes_, bound_bytes);
}

}  // namespace pymemrun
