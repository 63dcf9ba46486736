#include "tracer/heap/sampled_blocks.h"

#include <sys/mman.h>

#include "tracer/base/own_memory.h"

namespace pymemrun {
namespace {

// A hash table with bounded probing: a block is in one of kReach places from
// its hash on. Look-ups always test all kReach places, so removing a block is
// one store, with no tombstone. Add() and Remove() may run on any thread,
// without locks: an entry is claimed by compare-and-swap, and only the thread
// that frees a block removes it.
constexpr uint32_t kReach = 64;

// Adds to a counter of the filter. A counter at kStuck has an unknown value and
// stays there, so the filter may report blocks that are not there, but never
// misses one.
void Step(std::atomic<uint8_t>* counter, int by) {
  constexpr uint8_t kStuck = 255;
  uint8_t count = counter->load(std::memory_order_relaxed);
  while (count != kStuck && !counter->compare_exchange_weak(
                                count, static_cast<uint8_t>(count + by),
                                std::memory_order_relaxed)) {
  }
}

}  // namespace

std::atomic<uintptr_t>& SampledBlocks::PlaceAt(uintptr_t block,
                                               uint32_t step) const {
  const uint64_t hash = (block >> 4) * 0x9E3779B97F4A7C15u;
  return places_[((hash >> 32) + step) & (capacity_ - 1)];
}

bool SampledBlocks::Create(uint32_t capacity, bool wiped) {
  const size_t bytes = capacity * sizeof(places_[0]);
  void* memory = OwnMemory::Map(bytes);
  if (memory == nullptr) return false;
  if (wiped && (madvise(memory, bytes, MADV_WIPEONFORK) != 0 ||
                madvise(&filter_, sizeof(filter_), MADV_WIPEONFORK) != 0)) {
    return false;
  }
  for (size_t at = 0; at < sizeof(filter_); at += 4096) {  // touched
    reinterpret_cast<std::atomic<uint8_t>*>(&filter_)[at] = 0;
  }
  OwnMemory::Add(&filter_, sizeof(filter_));
  places_ = static_cast<std::atomic<uintptr_t>*>(memory);
  capacity_ = capacity;
  return true;
}

// Fails if all kReach places are taken.
bool SampledBlocks::Add(const void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  for (uint32_t step = 0; step < kReach; ++step) {
    uintptr_t hole = 0;
    if (!PlaceAt(address, step)
             .compare_exchange_strong(hole, address,
                                      std::memory_order_relaxed)) {
      continue;
    }
    used_.fetch_add(1, std::memory_order_relaxed);
    Count(block);
    return true;
  }
  return false;
}

bool SampledBlocks::Remove(const void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  if (address == 0) return false;  // 0 is an empty place
  for (uint32_t step = 0; step < kReach; ++step) {
    std::atomic<uintptr_t>& place = PlaceAt(address, step);
    if (place.load(std::memory_order_relaxed) != address) continue;
    // Only this thread frees this block, so a plain store is enough.
    place.store(0, std::memory_order_relaxed);
    used_.fetch_sub(1, std::memory_order_relaxed);
    Uncount(block);
    return true;
  }
  return false;
}

double SampledBlocks::fill() const {
  return capacity_ == 0
             ? 0
             : static_cast<double>(used_.load(std::memory_order_relaxed)) /
                   capacity_;
}

void SampledBlocks::Count(const void* block) {
  Step(&filter_.pages[PageOf(block)], 1);
  Step(&filter_.blocks[HashOf(block)], 1);
}

void SampledBlocks::Uncount(const void* block) {
  Step(&filter_.pages[PageOf(block)], -1);
  Step(&filter_.blocks[HashOf(block)], -1);
}

}  // namespace pymemrun
