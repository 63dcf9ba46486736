// A summary of a run's memory: its peak, what RSS consisted of then, what is
// still there at the end, and what was not recorded.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "readers/answer/memory/growth_fit.h"
#include "readers/answer/memory/memory_split.h"
#include "readers/answer/memory/place_curves.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/resident/resident_replay.h"
#include "readers/replay/summary/run_facts.h"
#include "readers/run/follow_watch.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// A moment, with the replays that keep the names of its places.
struct AnswerMoment {
  uint64_t time_us = 0;
  MemorySplit split;
  std::unique_ptr<ResidentReplay> pages;
  std::shared_ptr<HeapReplay> heap;  // null: no allocations were recorded
};

// A line of the user's own code that was still growing at the end.
struct GrowingLine {
  Place place;
  GrowthFit fit;  // its error includes that of samples
};

// The summary of a run. Owns the replays that keep the names of places.
struct Answer {
  RunFacts facts;
  double peak_bytes = 0;  // the highest known RSS
  AnswerMoment peak;
  AnswerMoment end;  // when the program's own code ended
  // How much earlier `end` is than the run's end, as RSS is unknown after it.
  uint64_t end_unknown_us = 0;
  // RSS was at its peak at `end`, so it may have risen further.
  bool PeakIsOpen() const {
    return end_unknown_us > 0 && end.split.rss_bytes >= 0.95 * peak_bytes;
  }
  // For a forked process: the lines of the parent's live blocks at the fork,
  // most bytes first. Empty if it was not forked, or the parent's file is
  // missing.
  std::vector<PlaceHolding> inherited;
  std::unique_ptr<HeapReplay> inherited_names;
  bool has_pages = false;
  // The program's end is not in the file: `end` is the file's last moment.
  bool has_no_end = false;
  // Whether the file was being written before it was read. A copy is not.
  Writing writing = Writing::kNo;
  // Bytes of lines, at evenly spaced moments of the run.
  static constexpr size_t kSteps = 10;
  PlaceCurves over_time;
  const FileTimeline* files = nullptr;  // end.pages if over_time needs it
  std::vector<GrowingLine> growing;     // most first; empty without over_time
  Hindsight hindsight;                  // for later readings of the pages
};

// Returns null if nothing could be read, and has printed why. `with_curves`:
// also fills over_time, which takes a reading of its own.
std::unique_ptr<Answer> ReadAnswer(RereadFile* file, bool with_curves = true);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_H_
