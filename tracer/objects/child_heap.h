// A stack of blocks, for what allocates in the child that walks the objects.
#ifndef PYMEMRUN_TRACER_OBJECTS_CHILD_HEAP_H_
#define PYMEMRUN_TRACER_OBJECTS_CHILD_HEAP_H_

#include <cstddef>

namespace pymemrun {

// Not thread safe.
class ChildHeap {
 public:
  // Memory for so many bytes of blocks and their heads, a multiple of 16. It is
  // never given back.
  void Open(size_t bytes);

  // Null where there is no room; what is asked for may be 0.
  void* Allocate(size_t bytes);
  void* AllocateZeros(size_t count, size_t bytes);
  // Null for a block of another heap too: its size is not known.
  void* Reallocate(void* block, size_t bytes);
  // The room of the last block is used again. Another heap's blocks stay.
  void Free(void* block);

 private:
  bool IsOurs(const void* block) const;

  char* begin_ = nullptr;
  char* top_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_CHILD_HEAP_H_
