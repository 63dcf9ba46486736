// The parts of the heap room that hooks ask at each allocation. They are here,
// and not in the session's Parts, because hooks of allocators have no context:
// they know these by their address.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_PARTS_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_PARTS_H_

#include "tracer/heap/heap_native.h"
#include "tracer/heap/heap_rate_control.h"
#include "tracer/heap/heap_sampler.h"
#include "tracer/heap/heap_samples.h"
#include "tracer/heap/heap_sizes.h"
#include "tracer/heap/sampled_blocks.h"

namespace pymemrun {

// Anonymous pages, which forked children find wiped: nothing in them is other
// than zero before main.
extern constinit SampledBlocks g_sampled_blocks;
extern constinit HeapSizes g_heap_sizes;

struct HeapParts {
  HeapSampler sampler;
  HeapRateControl control{sampler, g_sampled_blocks};
  HeapSamples samples{sampler, g_sampled_blocks, control};
  HeapNative native{sampler, samples};
};

extern constinit HeapParts g_heap;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_PARTS_H_
