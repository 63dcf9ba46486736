// For --from and --to with moments that a file has to be read for beforehand.
#ifndef PYMEMRUN_READERS_CAT_TIME_READING_H_
#define PYMEMRUN_READERS_CAT_TIME_READING_H_

#include "readers/cat/cat_options.h"
#include "readers/run/input_file.h"

namespace pymemrun {

// Sets the filter's times. False: there are none, which has been said; *code is
// what to exit with. Damage is left to who reads the rows.
bool FindTimes(const CatOptions& options, const InputFile& input,
               const Console& console, FilterOptions* filter, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_TIME_READING_H_
