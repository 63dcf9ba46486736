#include "tracer/known_codes.h"

#include <atomic>

#include "tracer/own_memory.h"

namespace pymemrun {
namespace {

constexpr uint32_t kEntries = 1u << 16;
// An entry stands within so many places from where its hash points.
constexpr uint32_t kReach = 32;

// What `code` is beside an address.
constexpr uintptr_t kEmpty = 0;
constexpr uintptr_t kErased = 1;
constexpr uintptr_t kTaken = 2;  // being filled

struct Entry {
  std::atomic<uintptr_t> code;
  std::atomic<uint32_t> id;  // valid once `code` is an address
};
static_assert(sizeof(Entry) == 16);

Entry* g_entries = nullptr;
std::atomic<uint32_t> g_last_id;

Entry& EntryAt(uintptr_t code, uint32_t step) {
  const uint64_t hash = (code >> 4) * 0x9E3779B97F4A7C15u;
  return g_entries[((hash >> 40) + step) & (kEntries - 1)];
}

}  // namespace

bool KnownCodes::Create() {
  g_entries = static_cast<Entry*>(OwnMemory::Map(sizeof(Entry) * kEntries));
  return g_entries != nullptr;
}

uint32_t KnownCodes::Find(const void* code) {
  const auto address = reinterpret_cast<uintptr_t>(code);
  for (uint32_t step = 0; step < kReach; ++step) {
    const Entry& entry = EntryAt(address, step);
    const uintptr_t there = entry.code.load(std::memory_order_acquire);
    if (there == address) return entry.id.load(std::memory_order_relaxed);
    if (there == kEmpty) break;
  }
  return 0;
}

uint32_t KnownCodes::NewId() {
  return g_last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

void KnownCodes::Add(const void* code, uint32_t id) {
  const auto address = reinterpret_cast<uintptr_t>(code);
  for (uint32_t step = 0; step < kReach; ++step) {
    Entry& entry = EntryAt(address, step);
    uintptr_t there = entry.code.load(std::memory_order_relaxed);
    if (there != kEmpty && there != kErased) continue;
    if (!entry.code.compare_exchange_strong(there, kTaken,
                                            std::memory_order_acquire)) {
      continue;
    }
    entry.id.store(id, std::memory_order_relaxed);
    entry.code.store(address, std::memory_order_release);
    return;
  }
}

uint32_t KnownCodes::Remove(const void* code) {
  if (g_entries == nullptr) return 0;
  const auto address = reinterpret_cast<uintptr_t>(code);
  for (uint32_t step = 0; step < kReach; ++step) {
    Entry& entry = EntryAt(address, step);
    const uintptr_t there = entry.code.load(std::memory_order_relaxed);
    if (there == kEmpty) break;
    if (there != address) continue;
    const uint32_t id = entry.id.load(std::memory_order_relaxed);
    entry.code.store(kErased, std::memory_order_release);
    return id;
  }
  return 0;
}

}  // namespace pymemrun
