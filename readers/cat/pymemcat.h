// The program pymemcat, apart from main().
#ifndef PYMEMRUN_READERS_CAT_PYMEMCAT_H_
#define PYMEMRUN_READERS_CAT_PYMEMCAT_H_

#include <atomic>
#include <string>
#include <vector>

#include "readers/run/console.h"

namespace pymemrun {

// The most rows of a spreadsheet's sheet, including the header.
inline constexpr uint64_t kSpreadsheetRows = 1048576;
// Input of at least this size gets a progress line.
inline constexpr uint64_t kProgressBytes = 64 << 20;

// Runs the program with `arguments` (without its name) and returns the exit
// code. Setting *interrupted ends --follow.
int RunPymemcat(const std::vector<std::string>& arguments,
                const Console& console, const std::atomic<bool>* interrupted);

// The N for --every N that keeps the rows within a spreadsheet's limit; 0 if
// all fit. `most_context`: the most context rows before one row.
uint64_t SpreadsheetStep(uint64_t next_rows, uint64_t context_rows,
                         uint64_t marks, uint64_t most_context);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_PYMEMCAT_H_
