// The hooks that count the sizes of allocations (--heap stats): a layer of
// their own on CPython's allocators, over those of HeapHooks if there are any.
// GIL.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_SIZE_HOOKS_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_SIZE_HOOKS_H_

#include <Python.h>

#include <cstdint>

namespace pymemrun {

class HeapSizeHooks {
 public:
  // Makes and touches the counts. Returns false with errno set.
  static bool Create();
  // Puts the hooks in; once. They stay, and only forward while they rest.
  static void Install();
  static bool installed();
  // The allocator below the hook of a domain, by AllocatorKind; may be changed.
  // REQUIRES: installed().
  static PyMemAllocatorEx& below(uint32_t domain);
  // Whether allocations are counted: from Create() on they are not.
  static void Count(bool on);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_SIZE_HOOKS_H_
