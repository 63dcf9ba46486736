// When a run's program ended, as heap events tell: `pymemreport heap --leaks`.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_EXIT_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_EXIT_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/replay/heap/heap_places.h"

namespace pymemrun {

// Not: the program was killed or still runs, or the file was cut. Without a
// footer: an empty one.
bool SawEnd(const Footer& footer);
// "the program's end", or else "the last record".
absl::string_view NameOfEnd(const Footer& footer);

// The footer tells it. Where it does not, as in files of earlier versions and
// such as were cut, this finds the last allocation below the frame that the
// program began with, or below that of one of its threads. What comes after it
// is the interpreter's end, which frees what the program keeps: exit handlers
// and finalizers have outermost frames of their own. Not thread safe.
class HeapExitFinder final : public HeapReplay {
 public:
  HeapExitFinder() : interpreter_(&index()) {}
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void OnFooter(const Footer& footer) override;
  // Everything up to this moment, which has a name, was the program's.
  HeapMoment exit() const;

 private:
  enum Kind : uint8_t { kUnknown, kOther, kProgram };
  // A stack's outermost frame, and how many it has.
  struct Root {
    uint32_t stack, frames;
  };
  Kind KindOf(uint32_t stack);
  Root RootOf(uint32_t stack);

  InterpreterStacks interpreter_;
  std::vector<Kind> kinds_;  // by stack
  std::vector<Root> roots_;  // by stack; frames 0: not known yet
  Place program_;            // the function that it began with
  bool has_program_ = false;
  uint64_t last_us_ = kEnd;  // of those allocations; kEnd: no such allocation
  uint64_t events_ = 0;
  Footer footer_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_EXIT_H_
