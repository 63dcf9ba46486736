// What is read from a file before its rows are printed.
#ifndef PYMEMRUN_READERS_CAT_FIRST_READING_H_
#define PYMEMRUN_READERS_CAT_FIRST_READING_H_

#include <cstdint>
#include <memory>

#include "readers/cat/cat_options.h"
#include "readers/replay/threads/thread_drss.h"
#include "readers/run/input_file.h"

namespace pymemrun {

// For the column thread_drss_bytes: the changes of RSS by threads. Page events
// may follow the rows of their time, so the whole run is read first. `fd` must
// be at the file's start, and is there again afterwards. `from_us`: see
// ThreadDrss. Returns null if the changes are unknown. Damage is reported by
// the later reading of rows.
std::unique_ptr<ThreadDrss> ReadThreadDrss(int fd, uint64_t from_us);

// For --from and --to with moments: sets the filter's times. Returns false if
// there are no such moments, and has printed why; *code is the exit status.
// Damage is reported by the later reading of rows.
bool FindTimes(const CatOptions& options, const InputFile& input,
               const Console& console, FilterOptions* filter, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_FIRST_READING_H_
