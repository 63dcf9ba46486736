// What a run's file tells so far, as `pymemreport watch` shows it.
#ifndef PYMEMRUN_READERS_WATCH_WATCH_MODEL_H_
#define PYMEMRUN_READERS_WATCH_WATCH_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "readers/replay/growth/call_profile.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/watch/watch_frame.h"

namespace pymemrun {

// RSS over time in a fixed number of steps, whatever the run's length.

// The highest RSS in each step of time; where there are too many steps, two
// become one. Not thread safe.
class RssCurve {
 public:
  static constexpr size_t kMostSteps = 1024;

  void Add(uint64_t time_us, uint64_t rss_bytes);
  // So many values from the begin to `end_us`, each the highest of its time, or
  // what RSS was last before it.
  std::vector<double> Values(uint64_t end_us, size_t count) const;

 private:
  uint64_t step_us_ = 1000;
  std::vector<uint64_t> highest_;  // 0: nothing was read
};

// Not thread safe.
class WatchModel final : public HeapReplay {
 public:
  // What changed since then is what grows now.
  static constexpr uint64_t kRecentUs = 5000000;

  WatchModel();
  void OnHeader(const Header& header) override;
  bool OnRows(const Row* rows, size_t count) override;
  bool OnPages(const PageEntry* entries, size_t count) override;
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void OnResidency(const ResidencyView& seen) override;
  void OnProcess(const ProcessSample& sample) override;
  void OnPause(const Pause& pause) override;
  void OnFooter(const Footer& footer) override;
  void OnDamage(const StreamReader::Damage& damage) override;

  bool has_header() const { return has_header_; }
  bool ended() const { return ended_; }
  // Fills in what the run's own file tells: all but children and notes. What
  // changed is told beside the frames before.
  void Fill(size_t curve_columns, WatchFrame* frame);

 private:
  // Bytes by number of the line or thread.
  struct Sums {
    uint64_t time_us = 0;
    std::vector<double> lines, threads;
  };
  enum class Basis { kNone, kHeap, kPages, kCalls };

  void See(uint64_t time_us, uint64_t rss_bytes);
  Basis basis() const;
  Sums Take();
  // So many events were read. Keeps how things are now, once in kStepUs of the
  // run, where that is no more work than these.
  void Remember(size_t events);
  void Keep(Sums now);
  void TakeHeap(Sums* sums);
  void TakePages(Sums* sums);
  void TakeCalls(Sums* sums);
  // A renamed thread is one, by its last name.
  std::vector<double> ByThread(const std::vector<double>& sums) const;
  // Beside how it was kRecentUs ago.
  std::vector<WatchFrame::Amount> AmountsOf(const std::vector<double>& now,
                                            const std::vector<double>& before,
                                            bool threads) const;

  bool has_header_ = false, ended_ = false;
  Footer footer_;
  uint64_t now_us_ = 0, rss_bytes_ = 0, peak_bytes_ = 0, damages_ = 0;
  RssCurve curve_;
  CallProfile profile_;
  bool has_rows_ = false, has_pages_ = false;
  std::vector<double> came_by_stack_, came_by_thread_;
  PlaceTable lines_;
  OriginNumbers of_sources_, of_stacks_;
  std::deque<Sums> before_ = {Sums()};  // the first is compared with
  size_t events_ = 0;                   // read since the last one
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_WATCH_MODEL_H_
