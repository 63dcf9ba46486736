// Memory of the child that walks the objects: directly from the kernel, because
// another thread of the parent may have held locks of malloc. It is never
// released: the child ends.
#ifndef PYMEMRUN_TRACER_OBJECTS_CHILD_MEMORY_H_
#define PYMEMRUN_TRACER_OBJECTS_CHILD_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pymemrun {

// What is called when there is no more memory; does not return.
extern void (*g_child_out_of_memory)();

// Zeros. Does not return where there is no memory.
void* MapChildMemory(size_t bytes);
// Gives the mapping another size and perhaps another place.
void* RemapChildMemory(void* at, size_t bytes, size_t new_bytes);
void UnmapChildMemory(void* at, size_t bytes);

// A vector that grows by moving pages, not bytes.
template <typename T>
class ChildArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  void Push(const T& value) {
    if (__builtin_expect(size_ == room_, 0)) Grow();
    data_[size_++] = value;
  }
  void Clear() { size_ = 0; }
  size_t size() const { return size_; }
  T& operator[](size_t at) { return data_[at]; }
  const T& operator[](size_t at) const { return data_[at]; }
  T* data() { return data_; }

 private:
  [[gnu::noinline, gnu::cold]] void Grow() {
    constexpr size_t kFirstBytes = size_t{1} << 16;
    const size_t new_bytes = bytes_ == 0 ? kFirstBytes : 2 * bytes_;
    data_ = static_cast<T*>(bytes_ == 0
                                ? MapChildMemory(new_bytes)
                                : RemapChildMemory(data_, bytes_, new_bytes));
    bytes_ = new_bytes;
    room_ = new_bytes / sizeof(T);
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t room_ = 0;
  size_t bytes_ = 0;
};

// Small pieces that stay.
class ChildArena {
 public:
  void* Allocate(size_t bytes);

 private:
  char* at_ = nullptr;
  size_t left_ = 0;
};

// From pointers to small numbers other than 0.
class PointerMap {
 public:
  // 0: none. A value may be changed by what is returned, until the next Add().
  uint32_t Find(uint64_t key) const {
    if (count_ == 0) return 0;
    for (size_t at = HashOf(key) & mask_;; at = (at + 1) & mask_) {
      if (slots_[at].key == key) return slots_[at].value;
      if (slots_[at].key == 0) return 0;
    }
  }
  // REQUIRES: key is not 0 and not there, value is not 0.
  void Add(uint64_t key, uint32_t value);

  static uint64_t HashOf(uint64_t key) {
    const uint64_t mixed = key * 0x9E3779B97F4A7C15u;
    return mixed ^ mixed >> 32;
  }

 private:
  struct Slot {
    uint64_t key;
    uint64_t value;
  };
  void Grow();

  Slot* slots_ = nullptr;
  size_t mask_ = 0;
  size_t count_ = 0;
};

// A stack of blocks, for what allocates in the child that walks the objects.

// Not thread safe.
class ChildHeap {
 public:
  // Memory for `bytes` bytes of blocks and their heads, a multiple of 16. It is
  // never released.
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

// How much memory mappings of the program's take. For the forked child, which
// has them as they were: the program goes on, and may drop them.

class MappedMemory {
 public:
  // Resident bytes of private or shared memory. 0: it is a file, whose pages
  // the kernel would drop, or the limit of questions is reached.
  size_t ResidentBytes(const void* at, size_t bytes);

 private:
  bool IsOfFile(uint64_t address);

  // Pages left for all questions together.
  uint64_t pages_left_ = uint64_t{1} << 24;
  uint64_t text_left_ = uint64_t{1} << 28;  // bytes of /proc/self/maps
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_CHILD_MEMORY_H_
