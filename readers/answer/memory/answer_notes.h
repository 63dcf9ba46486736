// The sentences below the answer's tables, and the names of its parts.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_NOTES_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_NOTES_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/answer/memory/answer.h"
#include "readers/answer/memory/free_text.h"

namespace pymemrun {

// The parts of a moment's RSS with their names, in order; empty parts are left
// out.
std::vector<std::pair<absl::string_view, double>> PartsOf(
    const MemorySplit& split, const Answer& answer);

// What is still there at the end, by the same parts; each byte is in one of
// them. Empty: RSS is unknown. `name_of` returns names that are safe for a
// terminal.
std::string StillThere(const Answer& answer, const NameOfPlace& name_of);

// The lines of a forked process's parent that allocated what it inherited.
// Empty: there are none, or they are unknown.
std::string InheritedText(const Answer& answer, const NameOfPlace& name_of);

// Events that were lost, and unreadable parts of the file; empty: none.
std::string LossText(const Answer& answer);

// Why the file has no end; empty: it has one.
std::string CutText(const Answer& answer);

// What was not recorded; empty: everything was.
std::string UnrecordedText(const Answer& answer);

// A line of commands for what else was recorded; empty: nothing was.
std::string AlsoRecorded(const Answer& answer);

// "job.py:3 holds 40 MiB of it (67 %), in numpy ones.", for the peak.
std::string HoldsText(const Answer& answer, const PlaceHolding& first,
                      const NameOfPlace& name_of);

// A part of the peak that is larger than the largest own line.
struct LargestPart {
  double bytes = 0;
  std::string is;  // "is free memory that allocators keep"
};
// 0 bytes if a line holds most. `line_bytes`: the bytes of the first line.
LargestPart LargestPartOf(const Answer& answer, double line_bytes);

// The lines that were still growing when the program's own code ended, with
// errors; empty: none.
std::string GrowingText(const Answer& answer, const NameOfPlace& name_of);

// "By thread: indexer 58 MiB; pool_1 57 MiB." Empty: one thread has nearly all.
std::string ThreadsText(const Answer& answer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_NOTES_H_
