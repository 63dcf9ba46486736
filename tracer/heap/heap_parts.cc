#include "tracer/heap/heap_parts.h"

namespace pymemrun {

constinit SampledBlocks g_sampled_blocks;
constinit HeapSizes g_heap_sizes;
constinit HeapParts g_heap;

}  // namespace pymemrun
