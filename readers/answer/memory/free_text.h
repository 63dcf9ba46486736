// What the answer says of memory that may be in use or free.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_FREE_TEXT_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_FREE_TEXT_H_

#include <functional>
#include <string>

#include "readers/answer/memory/answer.h"

namespace pymemrun {

// For a terminal.
using NameOfPlace = std::function<std::string(const Place&)>;

// Tracing was off for a time: not all that is alive is known.
bool WasPaused(const Answer& answer);

// The moment at which free memory is much: the end, or else the peak; null: it
// is not much, or nothing is known of it.
const MemorySplit* MuchFreeAt(const Answer& answer);

// Where free memory is much: in which allocator it lies, what keeps it there
// and what returns it. Empty: see MuchFreeAt().
std::string FreeMemoryText(const Answer& answer, const NameOfPlace& name_of);

// Which libraries keep much memory in pools of their own; empty: none.
std::string PoolsText(const Answer& answer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_FREE_TEXT_H_
