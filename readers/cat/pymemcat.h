// The program pymemcat, apart from main().
#ifndef PYMEMRUN_READERS_CAT_PYMEMCAT_H_
#define PYMEMRUN_READERS_CAT_PYMEMCAT_H_

#include <atomic>
#include <string>
#include <vector>

#include "readers/run/console.h"

namespace pymemrun {

// Rows that a spreadsheet's sheet has, the header's among them.
inline constexpr uint64_t kSpreadsheetRows = 1048576;
// Input from this size on is worth a progress line.
inline constexpr uint64_t kProgressBytes = 64 << 20;

// Runs it with `arguments` (without the program's name) and returns the exit
// code. *interrupted ends --follow.
int RunPymemcat(const std::vector<std::string>& arguments,
                const Console& console, const std::atomic<bool>* interrupted);

// The N for --every N that keeps the rows below a spreadsheet's limit, or 0
// where all fit. `most_context`: of context rows before one row.
uint64_t SpreadsheetStep(uint64_t next_rows, uint64_t context_rows,
                         uint64_t marks, uint64_t most_context);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_PYMEMCAT_H_
