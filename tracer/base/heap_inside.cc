#include "tracer/base/heap_inside.h"

namespace pymemrun {

constinit thread_local bool t_heap_inside = false;
constinit thread_local size_t t_heap_request = kAnySize;

}  // namespace pymemrun
