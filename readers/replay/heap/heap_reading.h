// What the commands that read heap events share.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_READING_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_READING_H_

#include <functional>
#include <string>

#include "readers/places/thread_filter.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/heap/heap_totals.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Reads the file at `path`. Returns false if there is nothing to report, and
// has printed why. Raises *code to the exit status that the program should
// have.
bool ReadHeap(const std::string& path, const Console& console,
              HeapReplay* replay, int* code);
// Like ReadHeap(), for a file that is read again later.
bool ReadHeapAgain(RereadFile* file, const Console& console, HeapReplay* replay,
                   int* code);

// Reads the names of the tasks that the sources belong to. Returns false if the
// file cannot be read.
bool ReadTaskNames(const HeapModel& model, TaskStepsReader* steps);

// "the peak of RSS, 12.300 s".
std::string MomentText(const HeapMoments& replay, size_t moment);
// "live 1.2 GiB in 3,456 blocks at the peak of RSS, 12.300 s\n".
std::string LiveText(const HeapMoments& replay, size_t moment);
// The peak, if `replay` shows another moment. REQUIRES: the whole run was read.
std::string PeakText(const HeapMoments& replay);
// The heading of --leaks, for the sources that pass `keep`.
std::string LeaksText(const HeapMoments& replay,
                      const std::function<bool(const HeapSource&)>& keep);
// The share of these threads; empty if all threads are shown.
std::string ThreadText(const HeapMoments& replay, ThreadFilter* threads);
// What the bytes measure, and which report shows more.
std::string MeaningText(const HeapMoments& replay);
// If RSS is far above the recorded blocks, and C code's own memory was not
// recorded: how to record it.
std::string RestText(const HeapMoments& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_READING_H_
