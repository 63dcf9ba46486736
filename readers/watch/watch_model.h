// The state of a run so far, from its file, as `pymemreport watch` shows it.
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

// RSS over time in a fixed number of steps, whatever the run's length: the
// highest RSS of each step. If there are too many steps, pairs of them are
// joined. Not thread safe.
class RssCurve {
 public:
  // With more steps, two neighbouring steps become one.
  static constexpr size_t kMostSteps = 1024;

  void Add(uint64_t time_us, uint64_t rss_bytes);
  // `count` values from the start to `end_us`: the highest of each part of the
  // time, or the last RSS before it.
  std::vector<double> Values(uint64_t end_us, size_t count) const;

 private:
  uint64_t step_us_ = 1000;
  std::vector<uint64_t> highest_;  // 0: not read
};

// Reads a run that still grows. Not thread safe.
class WatchModel final : public HeapReplay {
 public:
  // The changes shown are those since then.
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
  // Fills in everything except children and notes. Changes are relative to
  // earlier calls.
  void Fill(size_t curve_columns, WatchFrame* frame);

 private:
  // Bytes by number of the line or thread.
  struct Sums {
    uint64_t time_us = 0;
    std::vector<double> lines, threads;
  };
  // What the amounts are: live blocks, pages that came, or growth at calls; the
  // best that the run has.
  enum class Basis { kNone, kHeap, kPages, kCalls };

  // A reading at this time; 0 bytes: RSS was not read.
  void See(uint64_t time_us, uint64_t rss_bytes);
  Basis basis() const;
  Sums Take();
  // `events` more were read. Keeps the current sums once every kStepUs of the
  // run, unless that costs more than reading the events.
  void Remember(size_t events);
  // Adds the sums, and drops those older than needed.
  void Keep(Sums now);
  void TakeHeap(Sums* sums);
  void TakePages(Sums* sums);
  void TakeCalls(Sums* sums);
  // A renamed thread is counted by its last name.
  std::vector<double> ByThread(const std::vector<double>& sums) const;
  // Compares with the sums of kRecentUs ago.
  std::vector<WatchFrame::Amount> AmountsOf(const std::vector<double>& now,
                                            const std::vector<double>& before,
                                            bool threads) const;

  // From the run file, as far as it was read.
  bool has_header_ = false, ended_ = false;
  Footer footer_;
  uint64_t now_us_ = 0, rss_bytes_ = 0, peak_bytes_ = 0, damages_ = 0;
  RssCurve curve_;
  CallProfile profile_;
  bool has_rows_ = false, has_pages_ = false;
  // Bytes of pages that came; those that left are not known by stack.
  std::vector<double> came_by_stack_, came_by_thread_;
  PlaceTable lines_;
  OriginNumbers of_sources_, of_stacks_;
  std::deque<Sums> before_ = {Sums()};  // the first is the one to compare with
  size_t events_ = 0;                   // read since the last one
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_WATCH_MODEL_H_
