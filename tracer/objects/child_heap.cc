#include "tracer/objects/child_heap.h"

#include <string.h>

#include "tracer/objects/child_memory.h"

namespace pymemrun {
namespace {

constexpr size_t kHeadBytes = 16;  // before a block: its size

size_t SizeOf(const void* block) {
  size_t bytes;
  memcpy(&bytes, static_cast<const char*>(block) - kHeadBytes, sizeof(bytes));
  return bytes;
}

}  // namespace

void ChildHeap::Open(size_t bytes) {
  begin_ = top_ = static_cast<char*>(MapChildMemory(bytes));
  bytes_ = bytes;
}

bool ChildHeap::IsOurs(const void* block) const {
  return block >= begin_ && block < begin_ + bytes_;
}

void* ChildHeap::Allocate(size_t bytes) {
  if (bytes > bytes_) return nullptr;
  bytes = (bytes + 15) & ~size_t{15};
  if (bytes == 0) bytes = 16;
  const size_t left = bytes_ - static_cast<size_t>(top_ - begin_);
  if (kHeadBytes + bytes > left) return nullptr;
  char* const block = top_ + kHeadBytes;
  memcpy(top_, &bytes, sizeof(bytes));
  top_ = block + bytes;
  return block;
}

void* ChildHeap::AllocateZeros(size_t count, size_t bytes) {
  if (bytes != 0 && count > bytes_ / bytes) return nullptr;
  void* const block = Allocate(count * bytes);
  if (block != nullptr) memset(block, 0, count * bytes);
  return block;
}

void ChildHeap::Free(void* block) {
  if (!IsOurs(block)) return;
  char* const at = static_cast<char*>(block);
  if (at + SizeOf(block) == top_) top_ = at - kHeadBytes;
}

void* ChildHeap::Reallocate(void* block, size_t bytes) {
  if (block != nullptr && !IsOurs(block)) return nullptr;
  void* const other = Allocate(bytes);
  if (block != nullptr && other != nullptr) {
    const size_t had = SizeOf(block);
    memcpy(other, block, had < bytes ? had : bytes);
  }
  return other;
}

}  // namespace pymemrun
