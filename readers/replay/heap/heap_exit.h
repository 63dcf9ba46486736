// When the program of a run ended, from heap events: `pymemreport heap
// --leaks`.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_EXIT_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_EXIT_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/replay/heap/heap_places.h"

namespace pymemrun {

// Whether the run has the program's end. It lacks it if the program was killed
// or still runs, or the file was cut. `footer` is empty if the file has no
// footer.
bool SawEnd(const Footer& footer);
// "the program's end", or else "the last record".
absl::string_view NameOfEnd(const Footer& footer);

// Finds the end of the program. The footer has it, except in files of earlier
// versions and files that were cut. In these the end is the last allocation
// below the frame that the program, or one of its threads, started with. After
// it the interpreter shuts down, and frees what the program keeps: exit
// handlers and finalizers have outermost frames of their own. Not thread safe.
class HeapExitFinder final : public HeapReplay {
 public:
  HeapExitFinder() : interpreter_(&index()) {}
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void OnFooter(const Footer& footer) override;
  // The program's own time ends with this moment, which has a name.
  HeapMoment exit() const;

 private:
  enum Kind : uint8_t { kUnknown, kOther, kProgram };
  // The outermost frame of a stack, and its number of frames.
  struct Root {
    uint32_t stack, frames;
  };
  Kind KindOf(uint32_t stack);
  Root RootOf(uint32_t stack);

  InterpreterStacks interpreter_;
  std::vector<Kind> kinds_;  // by stack
  std::vector<Root> roots_;  // by stack; 0 frames: not looked up yet
  Place program_;            // the function that the program started with
  bool has_program_ = false;
  // Time of the last such allocation; kEnd: there was none.
  uint64_t last_us_ = kEnd;
  uint64_t events_ = 0;
  Footer footer_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_EXIT_H_
