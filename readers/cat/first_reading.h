// What a file is read for before its rows are printed.
#ifndef PYMEMRUN_READERS_CAT_FIRST_READING_H_
#define PYMEMRUN_READERS_CAT_FIRST_READING_H_

#include <cstdint>
#include <memory>

#include "readers/cat/cat_options.h"
#include "readers/replay/threads/thread_drss.h"
#include "readers/run/input_file.h"

namespace pymemrun {

// For the column thread_drss_bytes, since page events may stand behind the rows
// of their time: what threads did in the run, a file at whose begin `fd` is and
// will be again. `from_us`: see ThreadDrss. Null: it is not known. Damage is
// left to who reads the rows.
std::unique_ptr<ThreadDrss> ReadThreadDrss(int fd, uint64_t from_us);

// For --from and --to with moments: sets the filter's times. False: there are
// none, which has been said; *code is what to exit with. Damage is left to who
// reads the rows.
bool FindTimes(const CatOptions& options, const InputFile& input,
               const Console& console, FilterOptions* filter, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_FIRST_READING_H_
