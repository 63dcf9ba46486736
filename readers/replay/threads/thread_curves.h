// Memory that each thread added over time: `pymemreport timeline --of threads`.
#ifndef PYMEMRUN_READERS_REPLAY_THREADS_THREAD_CURVES_H_
#define PYMEMRUN_READERS_REPLAY_THREADS_THREAD_CURVES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "readers/places/thread_filter.h"
#include "readers/replay/growth/call_profile.h"
#include "readers/replay/resident/resident_replay.h"
#include "readers/series/series.h"

namespace pymemrun {

// The highest point of a thread's curve since the first moment.
struct HighPoint {
  uint64_t time_us = 0;
  double bytes = 0;
  uint32_t stack = 0;  // that added the last of it; 0: unknown
};

// The result: a series for each chosen thread, and its highest point.
struct ThreadCurves {
  Curves curves;  // without the total; places are labels of threads
  std::vector<HighPoint> highs;  // of each series that was chosen
  // Number of threads summed up as others; 0: unknown, or none.
  size_t others = 0;
};

// Which thread growth is charged to.
enum class GrowthBy {
  kFaults,  // the thread that touched the pages
  kEvents,  // the thread whose event saw RSS change
};

// Net bytes of threads since tracing started, at some moments. Not thread safe.
class ThreadCurvesReplay final : public ResidentReplay {
 public:
  // `time_us` is ascending. REQUIRES: it is not empty.
  ThreadCurvesReplay(GrowthBy by, std::vector<uint64_t> time_us,
                     Hindsight hindsight);
  void OnHeader(const Header& header) override;
  bool OnRows(const Row* rows, size_t count) override;
  void OnPause(const Pause& pause) override;
  void Finish() override;

  // At most `top` of the wanted threads, those with the highest points, have a
  // series of their own. REQUIRES: Finish() was called.
  ThreadCurves Result(size_t top, ThreadFilter* wanted) const;
  // Whether any row was read; counts only with GrowthBy::kEvents.
  bool any_row() const { return any_row_; }

 private:
  // Further threads are counted with the others.
  static constexpr size_t kMaxThreads = 20000;

  void OnTime(uint64_t time_us) override { PassTo(time_us); }
  void OnChanged(const PageOwner& by, int64_t bytes) override;
  void PassTo(uint64_t time_us);
  void TakeValues();
  void Set(uint32_t thread, uint64_t time_us, uint32_t stack, double bytes);
  std::vector<double> ErrorsOf(size_t thread) const;

  struct State {
    double net_bytes = 0;
    HighPoint high;
    bool was_seen = false;
  };
  const GrowthBy by_;
  CallProfile profile_;
  bool any_row_ = false;
  std::vector<State> states_;  // by thread
  PlaceValues values_;         // by thread
  Curves curves_;              // without values_
  // By moment and thread, see VariancesByThread().
  std::vector<std::vector<double>> variances_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_THREADS_THREAD_CURVES_H_
