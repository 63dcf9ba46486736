// Parts of the heap room that hooks use at each allocation. They are global,
// and not in Parts of the session, because hooks of allocators have no context
// pointer.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_PARTS_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_PARTS_H_

#include "tracer/heap/heap_native.h"
#include "tracer/heap/heap_rate_control.h"
#include "tracer/heap/heap_sampler.h"
#include "tracer/heap/heap_samples.h"
#include "tracer/heap/heap_sizes.h"
#include "tracer/heap/sampled_blocks.h"

namespace pymemrun {

// In anonymous pages that forked children find zeroed. So no initial value may
// be other than zero.
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
