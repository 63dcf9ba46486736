#include "tracer/tracing_cost.h"

#include "tracer/stack_nodes.h"

namespace pymemrun {
namespace {

struct CostState {
  uint64_t line_array_bytes;
  uint64_t peak_line_array_bytes;
  uint64_t peak_frame_bytes;
  uint64_t peak_bound_bytes;
  // A frame of the last walk and what it and the frames below it came to. A
  // recursion that grows finds it again after a few steps.
  const PymemrunFrame* known_frame;
  const PymemrunFrame* known_back;
  uint64_t known_frame_bytes;
  uint64_t bound_bytes_below;  // without the frame's own call
};
CostState g_cost = {};

void Raise(uint64_t* peak, uint64_t value) {
  if (value > *peak) *peak = value;
}

}  // namespace

void TracingCost::CodeSeen(PyCodeObject* code) {
  g_cost.line_array_bytes += PymemrunLineArrayBytes(code);
  Raise(&g_cost.peak_line_array_bytes, g_cost.line_array_bytes);
}

void TracingCost::CodeDied(PyCodeObject* code) {
  const uint64_t bytes = PymemrunLineArrayBytes(code);
  g_cost.line_array_bytes -=
      bytes < g_cost.line_array_bytes ? bytes : g_cost.line_array_bytes;
}

void TracingCost::CodesForgotten() { g_cost.line_array_bytes = 0; }

void TracingCost::FramesAt(const PymemrunFrame* frame) {
  uint64_t frame_bytes = 0, bound_bytes = 0;
  bool calls_c = true;  // the innermost frame may: its event may be a C call's
  const PymemrunFrame* at = frame;
  for (uint32_t depth = 0; at != nullptr && depth < kMaxStackDepth; ++depth) {
    const PymemrunFrame* back = PymemrunFrameBack(at);
    if (calls_c) bound_bytes += PymemrunBoundObjectBytes(at);
    if (at == g_cost.known_frame && back == g_cost.known_back) {
      frame_bytes += g_cost.known_frame_bytes;
      bound_bytes += g_cost.bound_bytes_below;
      break;
    }
    frame_bytes += PymemrunFrameObjectBytes(at);
    calls_c = PymemrunEnteredFromC(at) != 0;
    at = back;
  }
  g_cost.known_frame = frame;
  g_cost.known_back = PymemrunFrameBack(frame);
  g_cost.known_frame_bytes = frame_bytes;
  g_cost.bound_bytes_below = bound_bytes - PymemrunBoundObjectBytes(frame);
  Raise(&g_cost.peak_frame_bytes, frame_bytes);
  Raise(&g_cost.peak_bound_bytes, bound_bytes);
}

uint64_t TracingCost::peak_line_array_bytes() {
  return g_cost.peak_line_array_bytes;
}
uint64_t TracingCost::peak_frame_bytes() { return g_cost.peak_frame_bytes; }
uint64_t TracingCost::peak_bound_bytes() { return g_cost.peak_bound_bytes; }

}  // namespace pymemrun
