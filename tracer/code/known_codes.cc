#include "tracer/code/known_codes.h"

#include "tracer/base/own_memory.h"

namespace pymemrun {
namespace {

constexpr uint32_t kEntries = 1u << 16;
// An entry is within this many places of that given by its hash.
constexpr uint32_t kReach = 32;

// What `code` is beside an address.
constexpr uintptr_t kEmpty = 0;
constexpr uintptr_t kErased = 1;
constexpr uintptr_t kTaken = 2;  // being filled

}  // namespace

KnownCodes::Entry& KnownCodes::EntryAt(uintptr_t code, uint32_t step) const {
  const uint64_t hash = (code >> 4) * 0x9E3779B97F4A7C15u;
  return entries_[((hash >> 40) + step) & (kEntries - 1)];
}

bool KnownCodes::Create() {
  entries_ = static_cast<Entry*>(OwnMemory::MapTold(sizeof(Entry) * kEntries));
  return entries_ != nullptr;
}

void KnownCodes::Forget() {
  entries_ = nullptr;
  last_id_.store(0, std::memory_order_relaxed);
}

uint32_t KnownCodes::Find(const void* code) const {
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
  return last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
}

void KnownCodes::Add(const void* code, uint32_t id) {
  const auto address = reinterpret_cast<uintptr_t>(code);
  for (uint32_t step = 0; step < kReach; ++step) {
    Entry& entry = EntryAt(address, step);
    uintptr_t there = entry.code.load(std::memory_order_relaxed);
    if (there != kEmpty && there != kErased) continue;
    OwnMemory::Wrote(&entry, sizeof(entry));
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
  if (entries_ == nullptr) return 0;
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
