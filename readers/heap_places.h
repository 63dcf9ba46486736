// Which place each source of blocks is charged to.
#ifndef PYMEMRUN_READERS_HEAP_PLACES_H_
#define PYMEMRUN_READERS_HEAP_PLACES_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "readers/heap_replay.h"
#include "readers/resident_places.h"

namespace pymemrun {

enum class HeapBy {
  kLine,
  kFunction,
  kFile,
  kThread,
  kAllocator,
  kModule,  // the file that called malloc
  kStack,
};

// "line", "function", "file", "thread", "allocator", "module", "stack"; false
// for anything else.
bool ParseHeapBy(absl::string_view name, HeapBy* by);

// "obj", "mem", "raw", "malloc", "mmap", "mremap"; "?" for one that this reader
// does not know.
absl::string_view HeapAllocatorName(HeapAllocator allocator);

// Places of sources, each once and numbered. Not thread safe; the replay must
// outlive it.
class SourcePlaces {
 public:
  SourcePlaces(HeapBy by, const HeapReplay* replay)
      : by_(by), replay_(*replay) {}
  // REQUIRES: `source` is one of the model's.
  uint32_t NumberOf(uint32_t source);
  const std::vector<ResidentPlace>& places() const { return places_; }

 private:
  ResidentPlace PlaceOf(const HeapSource::Key& key);

  const HeapBy by_;
  const HeapReplay& replay_;
  std::vector<ResidentPlace> places_;
  std::deque<std::string> stack_texts_;
  FrameBudget stack_budget_{FrameBudget::kBytes / 4};
  absl::flat_hash_map<ResidentPlace, uint32_t> numbers_;
  std::vector<uint32_t> by_source_;  // number + 1; 0: not asked for yet
};

// Whose blocks the interpreter keeps for itself: those without a Python frame,
// with frames of files `<frozen ...>` alone, and of what `site` does at the
// start. Not thread safe; the replay must outlive it.
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

#endif  // PYMEMRUN_READERS_HEAP_PLACES_H_
