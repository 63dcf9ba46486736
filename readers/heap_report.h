// The commands `pymemreport heap` and `snapshot`, and what those of heap events
// share.
#ifndef PYMEMRUN_READERS_HEAP_REPORT_H_
#define PYMEMRUN_READERS_HEAP_REPORT_H_

#include "readers/heap_replay.h"
#include "readers/report_options.h"
#include "readers/reread_file.h"

namespace pymemrun {

// Reads options.files and prints; returns the exit code.
int PrintHeap(const ReportOptions& options, const Console& console,
              OutputBuffer* output);
int PrintSnapshot(const ReportOptions& options, const Console& console,
                  OutputBuffer* output);

// Reads the file at `path`. False: there is nothing to report, which has been
// said; *code is at least what the program is to exit with.
bool ReadHeap(const std::string& path, const Console& console,
              HeapReplay* replay, int* code);
// As ReadHeap(), of a file that is to be read again. `say_beyond_end`: that a
// moment was asked for at which the run had ended.
bool ReadHeapAgain(RereadFile* file, const Console& console, HeapReplay* replay,
                   int* code, bool say_beyond_end = true);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_REPORT_H_
