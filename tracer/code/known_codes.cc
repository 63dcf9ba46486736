#include "tracer/code/known_codes.h"

#include "tracer/base/own_memory.h"

namespace pymemrun {
namespace {

// Open addressing over 65,536 entries of 16 bytes: 1 MiB, touched at the start.
constexpr uint32_t kEntries = 1u << 16;
// An entry is within this many places of that given by its hash.
constexpr uint32_t kReach = 32;

// Values of Entry::code that are no addresses. An erased entry does not end a
// search.
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

// Acquire: pairs with the release in Add(), so the id is valid.
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

// Claims an entry by compare-and-swap, then fills it. A signal handler that
// interrupts this may add the same object too.
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
