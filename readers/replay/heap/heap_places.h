// The place that each source of blocks is charged to.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_PLACES_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_PLACES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/places/place_table.h"
#include "readers/replay/heap/heap_replay.h"

namespace pymemrun {

// Stacks with larger ids are not looked up: a malformed file may name any
// number.
inline constexpr uint32_t kMaxStack = 1 << 22;

// "obj", "mem", "raw", "malloc", "mmap", "mremap"; "?" for an unknown
// allocator.
absl::string_view HeapAllocatorName(HeapAllocator allocator);

// Grouped by module, what Python allocated for itself is "<python>".
Origin OriginOf(const HeapSource::Key& key);
// The same with the task's name.
Origin OriginOf(const HeapSource::Key& key, const HeapReplay& replay);

// Stacks whose blocks the interpreter keeps for itself: without a Python frame,
// with frames of `<frozen ...>` files alone, or below `site` at start-up. Not
// thread safe. The index must outlive it.
class InterpreterStacks {
 public:
  explicit InterpreterStacks(const RunIndex* index) : index_(*index) {}
  bool Contains(uint32_t stack);

 private:
  enum Kind : uint8_t { kUnknown, kInterpreter, kSite, kProgram };
  Kind OwnKind(uint32_t stack) const;

  const RunIndex& index_;
  std::vector<Kind> kinds_;  // by stack
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_PLACES_H_
