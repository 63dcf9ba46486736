// What the answer says in words below its tables, and the names of its parts.
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

// Of a moment's RSS, as they are shown; those that are nothing are left out.
std::vector<std::pair<absl::string_view, double>> PartsOf(
    const MemorySplit& split, const Answer& answer);

// What is still there at the end, by the same parts: each byte is in one of
// them. Empty: RSS is not known. `name_of`: for a terminal.
std::string StillThere(const Answer& answer, const NameOfPlace& name_of);

// Which lines of a forked process's parent had what it inherited; empty: there
// are none, or they are not known.
std::string InheritedText(const Answer& answer, const NameOfPlace& name_of);

// That events were lost, or that a part of the file could not be read; empty:
// neither.
std::string LossText(const Answer& answer);

// That the file has no end, and why; empty: it has one.
std::string CutText(const Answer& answer);

// What was not recorded; empty: all was.
std::string UnrecordedText(const Answer& answer);

// The commands for what else was recorded, on a line; empty: nothing was.
std::string AlsoRecorded(const Answer& answer);

// "job.py:3 holds 40 MiB of it (67 %), in numpy ones." Of the peak.
std::string HoldsText(const Answer& answer, const PlaceHolding& first,
                      const NameOfPlace& name_of);

// A part of the peak that is larger than any line of the user's own code.
struct LargestPart {
  double bytes = 0;
  std::string is;  // "is free memory that allocators keep"
};
// Nothing where a line holds most. `line_bytes`: what the first line holds.
LargestPart LargestPartOf(const Answer& answer, double line_bytes);

// Which lines were growing when the program's own code ended, with errors;
// empty: none.
std::string GrowingText(const Answer& answer, const NameOfPlace& name_of);

// "By thread: indexer 58 MiB; pool_1 57 MiB." Empty: one has nearly all.
std::string ThreadsText(const Answer& answer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_NOTES_H_
