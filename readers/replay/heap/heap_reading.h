// What the commands for heap events share.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_READING_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_READING_H_

#include <functional>
#include <string>

#include "readers/places/thread_filter.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/heap/heap_totals.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Reads the file at `path`. False: there is nothing to report, which has been
// said; *code is at least what the program is to exit with.
bool ReadHeap(const std::string& path, const Console& console,
              HeapReplay* replay, int* code);
// As ReadHeap(), of a file that is to be read again.
bool ReadHeapAgain(RereadFile* file, const Console& console, HeapReplay* replay,
                   int* code);

// Of the tasks that the sources are of. False: the file cannot be read.
bool ReadTaskNames(const HeapModel& model, TaskStepsReader* steps);

// "the peak of RSS, 12.300 s".
std::string MomentText(const HeapMoments& replay, size_t moment);
// "live 1.2 GiB in 3,456 blocks at the peak of RSS, 12.300 s\n".
std::string LiveText(const HeapMoments& replay, size_t moment);
// Where most was alive, if that was another moment. REQUIRES: the whole run was
// read.
std::string PeakText(const HeapMoments& replay);
// What --leaks begins with, of the sources that pass `keep`.
std::string LeaksText(const HeapMoments& replay,
                      const std::function<bool(const HeapSource&)>& keep);
// What these threads have of it; empty of all threads.
std::string ThreadText(const HeapMoments& replay, ThreadFilter* threads);
// What the bytes measure, and which report tells more.
std::string MeaningText(const HeapMoments& replay);
// Where RSS is far above what heap events tell of, and they do not tell of C
// code's own memory: how to see it.
std::string RestText(const HeapMoments& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_READING_H_
