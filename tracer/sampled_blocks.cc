#include "tracer/sampled_blocks.h"

#include <sys/mman.h>

#include "tracer/own_memory.h"

namespace pymemrun {
namespace {

// A block stands in one of so many places from where its hash points, so that
// a removed one leaves a plain hole.
constexpr uint32_t kReach = 64;
std::atomic<uintptr_t>* g_places = nullptr;
uint32_t g_capacity = 0;
std::atomic<uint32_t> g_used;

std::atomic<uintptr_t>& PlaceAt(uintptr_t block, uint32_t step) {
  const uint64_t hash = (block >> 4) * 0x9E3779B97F4A7C15u;
  return g_places[((hash >> 32) + step) & (g_capacity - 1)];
}

// A count that has come to kStuck is not known any more, and stays.
void Step(std::atomic<uint8_t>* counter, int by) {
  constexpr uint8_t kStuck = 255;
  uint8_t count = counter->load(std::memory_order_relaxed);
  while (count != kStuck && !counter->compare_exchange_weak(
                                count, static_cast<uint8_t>(count + by),
                                std::memory_order_relaxed)) {
  }
}

}  // namespace

SampledBlocks::Filter SampledBlocks::g_filter;

bool SampledBlocks::Create(uint32_t capacity) {
  const size_t bytes = capacity * sizeof(g_places[0]);
  void* memory = OwnMemory::Map(bytes);
  if (memory == nullptr || madvise(memory, bytes, MADV_WIPEONFORK) != 0 ||
      madvise(&g_filter, sizeof(g_filter), MADV_WIPEONFORK) != 0) {
    return false;
  }
  for (size_t at = 0; at < sizeof(g_filter); at += 4096) {  // touched
    reinterpret_cast<std::atomic<uint8_t>*>(&g_filter)[at] = 0;
  }
  OwnMemory::Add(&g_filter, sizeof(g_filter));
  g_places = static_cast<std::atomic<uintptr_t>*>(memory);
  g_capacity = capacity;
  return true;
}

bool SampledBlocks::Add(const void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  for (uint32_t step = 0; step < kReach; ++step) {
    uintptr_t hole = 0;
    if (!PlaceAt(address, step)
             .compare_exchange_strong(hole, address,
                                      std::memory_order_relaxed)) {
      continue;
    }
    g_used.fetch_add(1, std::memory_order_relaxed);
    Count(block);
    return true;
  }
  return false;
}

bool SampledBlocks::Remove(const void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  if (address == 0) return false;  // it stands for a hole
  for (uint32_t step = 0; step < kReach; ++step) {
    std::atomic<uintptr_t>& place = PlaceAt(address, step);
    if (place.load(std::memory_order_relaxed) != address) continue;
    // Nobody else frees this block.
    place.store(0, std::memory_order_relaxed);
    g_used.fetch_sub(1, std::memory_order_relaxed);
    Uncount(block);
    return true;
  }
  return false;
}

double SampledBlocks::fill() {
  return g_capacity == 0
             ? 0
             : static_cast<double>(g_used.load(std::memory_order_relaxed)) /
                   g_capacity;
}

void SampledBlocks::Count(const void* block) {
  Step(&g_filter.pages[PageOf(block)], 1);
  Step(&g_filter.blocks[HashOf(block)], 1);
}

void SampledBlocks::Uncount(const void* block) {
  Step(&g_filter.pages[PageOf(block)], -1);
  Step(&g_filter.blocks[HashOf(block)], -1);
}

}  // namespace pymemrun
