#include "readers/replay/heap_in_rss/python_arenas.h"

#include "absl/strings/match.h"

namespace pymemrun {

// ARENA_BITS and POOL_BITS of CPython's obmalloc.c, on 64-bit machines.
void PythonArenas::SetPython(absl::string_view version) {
  // Since 3.10 arenas are larger.
  const bool is_old = absl::StartsWith(version, "3.9.");
  arena_bytes_ = uint64_t{1} << (is_old ? 18 : 20);
  pool_bytes_ = uint64_t{1} << (is_old ? 12 : 14);
}

PythonArenas::Blocks::iterator PythonArenas::Find(uint64_t address) {
  auto found = arenas_.upper_bound(address);
  if (found == arenas_.begin()) return arenas_.end();
  --found;
  return address - found->first < arena_bytes_ ? found : arenas_.end();
}

void PythonArenas::Take(const HeapEvent& event) {
  if (event.free_of != HeapFreeOf::kBlock) return;
  const bool is_block = event.is_free || IsSmall(event.allocator, event.size);
  // An empty arena is forgotten only with the next event: realloc moves a block
  // by a free and an allocation, perhaps within the arena.
  if (emptied_ != 0) {
    const bool moves =
        !event.is_free && is_block && event.address - emptied_ < arena_bytes_;
    if (!moves) arenas_.erase(emptied_);
    emptied_ = 0;
  }
  if (!is_block) return;
  if (event.is_free) {
    Free(event.address);
  } else {
    Allocate(event);
  }
}

void PythonArenas::Allocate(const HeapEvent& event) {
  const uint64_t at = event.address % pool_bytes_;
  // pymalloc's size classes are multiples of 16 bytes.
  const uint64_t class_bytes = (event.size + 15) / 16 * 16;
  const auto arena = Find(event.address);
  if (arena != arenas_.end()) {
    // Counts whether blocks are where pymalloc would place them: it is the test
    // of the assumption, see Found().
    ++arena->second;
    const bool fits =
        at >= kPoolHeaderBytes && (at - kPoolHeaderBytes) % class_bytes == 0;
    ++(fits ? in_place_ : out_of_place_);
    // The first block of a pool outside known arenas: a new arena.
  } else if (at == kPoolHeaderBytes) {
    arenas_[event.address - at] = 1;
  }
}

void PythonArenas::Free(uint64_t address) {
  const auto arena = Find(address);
  if (arena == arenas_.end() || arena->second == 0) return;
  if (--arena->second == 0) emptied_ = arena->first;
}

std::vector<PythonArenas::Arena> PythonArenas::Found() const {
  std::vector<Arena> found;
  // Small blocks are not placed as pymalloc does.
  if (out_of_place_ > in_place_) return found;
  for (const auto& [begin, blocks] : arenas_) {
    if (blocks == 0) continue;
    uint64_t end = begin + arena_bytes_;
    if (end < begin) continue;
    // A later arena overlaps it: the first one was there before tracing, and
    // ends earlier than assumed.
    if (!found.empty() && found.back().end > begin) found.back().end = begin;
    found.push_back({begin, end, pool_bytes_});
  }
  return found;
}

}  // namespace pymemrun
