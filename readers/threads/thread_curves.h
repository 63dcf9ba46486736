// What each thread did to memory over time: `pymemreport graph`.
#ifndef PYMEMRUN_READERS_THREADS_THREAD_CURVES_H_
#define PYMEMRUN_READERS_THREADS_THREAD_CURVES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "readers/growth/call_profile.h"
#include "readers/heap/heap_history.h"
#include "readers/resident/resident_replay.h"

namespace pymemrun {

struct ThreadCurve {
  // The highest that it was since the moment before.
  struct High {
    uint64_t time_us = 0;
    int64_t bytes = 0;
    uint32_t stack = 0;  // that brought it there; 0: not known
  };
  uint32_t thread = 0;  // ThreadDef.id; 0: none, or not known
  std::string name;
  std::vector<int64_t> bytes;  // at each moment
  std::vector<High> highs;     // the same, or none
  // One standard error of each, where they are estimates; or none.
  std::vector<int64_t> errors;
};

struct ThreadCurves {
  std::vector<uint64_t> time_us;
  std::vector<ThreadCurve> threads;  // the highest first
  std::vector<int64_t> other_bytes;  // of all other threads
  size_t others = 0;                 // so many; 0: not known, or none
  bool any_other() const;
};

// By whom growth is charged to a thread.
enum class GrowthBy {
  kFaults,  // the thread that touched the pages
  kEvents,  // the thread whose event saw RSS change
};

// Net bytes of threads since tracing began: first, with no thread chosen, which
// have most; then of these the values at some moments. Not thread safe.
class ThreadCurvesReplay final : public ResidentReplay {
 public:
  // `time_us` rises. REQUIRES: it is not empty.
  ThreadCurvesReplay(GrowthBy by, std::vector<uint64_t> time_us,
                     const std::vector<uint32_t>& chosen, Hindsight hindsight);
  void OnHeader(const Header& header) override;
  bool OnRows(const Row* rows, size_t count) override;
  void OnPause(const Pause& pause) override;
  void Finish() override;

  // The ids of the threads that had most at one time between the moments, at
  // most so many of those that are wanted, most first. REQUIRES: Finish() was
  // called.
  std::vector<uint32_t> Largest(size_t most, ThreadFilter* wanted) const;
  // Of the chosen threads, in their order. REQUIRES: Finish() was called.
  ThreadCurves Result() const;
  // Rows were seen, as far as GrowthBy::kEvents needs them.
  bool any_row() const { return any_row_; }

 private:
  void OnTime(uint64_t time_us) override { PassTo(time_us); }
  void OnChanged(const PageOwner& by, int64_t bytes) override;
  void PassTo(uint64_t time_us);
  void TakeValues();
  void TakeErrors();
  void Set(uint32_t thread, uint64_t time_us, uint32_t stack, int64_t bytes);

  struct State {
    int64_t net_bytes = 0;
    int64_t highest_bytes = 0;  // since the first moment
    uint32_t chosen = 0;        // place among the chosen + 1; 0: it is not
    bool was_seen = false;
  };
  const GrowthBy by_;
  CallProfile profile_;
  bool any_row_ = false;
  std::vector<State> states_;  // by thread
  ThreadCurves curves_;
  std::vector<ThreadCurve::High> highs_;  // by chosen, since the last moment
  int64_t others_bytes_ = 0;
  size_t next_ = 0;  // moment
};

// Of a reading by thread.
ThreadCurves CurvesOf(HeapHistory history);

// The process's line among those of threads.
inline constexpr absl::string_view kProcess = "process";

// A point that a picture is to tell of.
struct ThreadPeak {
  size_t number = 0;
  uint64_t time_us = 0;
  std::string line;   // a curve's name, or kProcess
  int64_t bytes = 0;  // of its line there; of a call what it changed RSS by
  std::string text;   // who, and where
};

// The highest points of the lines, for a run that knows no calls, by time:
// those from which a line went down, or to which it had come up, by a tenth at
// least of the highest one. At most `most`, the highest. `rss_bytes`: the
// process's line.
std::vector<ThreadPeak> HighestPoints(const ThreadCurves& curves,
                                      const std::vector<uint64_t>& rss_bytes,
                                      const RunIndex& index, size_t most);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_THREADS_THREAD_CURVES_H_
