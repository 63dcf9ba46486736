#include "tracer/tracing_cost.h"

#include "tracer/stack_walk.h"

namespace pymemrun {
namespace {

struct CostState {
  uint64_t line_array_bytes;
  uint64_t peak_line_array_bytes;
  uint64_t peak_frame_bytes;
  // A frame of the last walk and what it and the frames below it came to. A
  // recursion that grows finds it again after a few steps.
  const PymemrunFrame* known_frame;
  const PymemrunFrame* known_back;
  uint64_t known_bytes;
};
CostState g_cost = {};

}  // namespace

void TracingCost::CodeSeen(PyCodeObject* code) {
  g_cost.line_array_bytes += PymemrunLineArrayBytes(code);
  if (g_cost.line_array_bytes > g_cost.peak_line_array_bytes) {
    g_cost.peak_line_array_bytes = g_cost.line_array_bytes;
  }
}

void TracingCost::CodeDied(PyCodeObject* code) {
  const uint64_t bytes = PymemrunLineArrayBytes(code);
  g_cost.line_array_bytes -=
      bytes < g_cost.line_array_bytes ? bytes : g_cost.line_array_bytes;
}

void TracingCost::CodesForgotten() { g_cost.line_array_bytes = 0; }

void TracingCost::FramesAt(const PymemrunFrame* frame) {
  uint64_t bytes = 0;
  const PymemrunFrame* at = frame;
  for (uint32_t depth = 0; at != nullptr && depth < kMaxStackDepth; ++depth) {
    const PymemrunFrame* back = PymemrunFrameBack(at);
    if (at == g_cost.known_frame && back == g_cost.known_back) {
      bytes += g_cost.known_bytes;
      break;
    }
    bytes += PymemrunFrameObjectBytes(at);
    at = back;
  }
  g_cost.known_frame = frame;
  g_cost.known_back = PymemrunFrameBack(frame);
  g_cost.known_bytes = bytes;
  if (bytes > g_cost.peak_frame_bytes) g_cost.peak_frame_bytes = bytes;
}

uint64_t TracingCost::peak_line_array_bytes() {
  return g_cost.peak_line_array_bytes;
}
uint64_t TracingCost::peak_frame_bytes() { return g_cost.peak_frame_bytes; }

}  // namespace pymemrun
