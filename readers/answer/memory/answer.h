// What a run's memory was, in short: its peak, what RSS consisted of there,
// what is still there at the end, and what was not recorded.
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

// One moment, with what the names of its places belong to.
struct AnswerMoment {
  uint64_t time_us = 0;
  MemorySplit split;
  std::unique_ptr<ResidentReplay> pages;
  std::shared_ptr<HeapReplay> heap;  // null: no allocation was recorded
};

// A line of the user's own code that was growing when that ended.
struct GrowingLine {
  Place place;
  GrowthFit fit;  // its error with that of samples
};

struct Answer {
  RunFacts facts;
  double peak_bytes = 0;  // the highest RSS that is known
  AnswerMoment peak;
  AnswerMoment end;  // of the program's own code, before finalization
  // So much earlier than the end it was, as nothing later is known of RSS.
  uint64_t end_unknown_us = 0;
  // Then RSS was at its peak: it may have risen further.
  bool PeakIsOpen() const {
    return end_unknown_us > 0 && end.split.rss_bytes >= 0.95 * peak_bytes;
  }
  // Of a forked process: the lines of the parent's live blocks at the fork,
  // most bytes first. None: it is not forked, or the parent's file is not
  // there.
  std::vector<PlaceHolding> inherited;
  std::unique_ptr<HeapReplay> inherited_names;
  bool has_pages = false;
  // Nobody saw the program's end: `end` is the file's last moment.
  bool has_no_end = false;
  // Before it was read. A copy is not written.
  Writing writing = Writing::kNo;
  // Of lines, at evenly spaced moments of the run.
  static constexpr size_t kSteps = 10;
  PlaceCurves over_time;
  const FileTimeline* files = nullptr;  // end.pages, if over_time needs it
  std::vector<GrowingLine> growing;     // most first; with over_time alone
  Hindsight hindsight;                  // for further readings of its pages
};

// Null: nothing could be read, which has been said. Not `with_curves`: without
// over_time, which takes a reading of its own.
std::unique_ptr<Answer> ReadAnswer(RereadFile* file, bool with_curves = true);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_H_
