// Whether the calling thread is within an allocator's hook.
#ifndef PYMEMRUN_TRACER_BASE_HEAP_INSIDE_H_
#define PYMEMRUN_TRACER_BASE_HEAP_INSIDE_H_

#include <cstddef>

namespace pymemrun {

// t_heap_inside: the calling thread is within an allocator's hook. What it then
// asks of the allocators below was counted already, or is not the program's.
// What an allocator asks for its own books still counts: its size differs from
// t_heap_request, unless that is kAnySize.
inline constexpr size_t kAnySize = ~size_t{0};
extern constinit thread_local bool t_heap_inside;
extern constinit thread_local size_t t_heap_request;

class HeapInside {
 public:
  explicit HeapInside(size_t request = kAnySize)
      : before_(t_heap_inside), request_(t_heap_request) {
    t_heap_inside = true;
    t_heap_request = request;
  }
  ~HeapInside() {
    t_heap_inside = before_;
    t_heap_request = request_;
  }
  HeapInside(const HeapInside&) = delete;
  HeapInside& operator=(const HeapInside&) = delete;

 private:
  const bool before_;
  const size_t request_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_HEAP_INSIDE_H_
