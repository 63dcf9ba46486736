// The answer's sentences on memory that may be in use or free.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_FREE_TEXT_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_FREE_TEXT_H_

#include <functional>
#include <string>

#include "readers/answer/memory/answer.h"

namespace pymemrun {

// Returns a name that is safe for a terminal.
using NameOfPlace = std::function<std::string(const Place&)>;

// Tracing was paused, so some live blocks are unknown.
bool WasPaused(const Answer& answer);

// The moment with much free memory: the end, or else the peak. Null: free
// memory is small, or unknown.
const MemorySplit* MuchFreeAt(const Answer& answer);

// The allocator that has the free memory, what keeps it there, and what would
// release it. Empty if MuchFreeAt() is null.
std::string FreeMemoryText(const Answer& answer, const NameOfPlace& name_of);

// Which libraries keep much memory in pools; empty: none.
std::string PoolsText(const Answer& answer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_FREE_TEXT_H_
