// The facts of a whole run file: `pymemreport summary` and `pymemcat
// --summary`.
#ifndef PYMEMRUN_READERS_REPLAY_SUMMARY_RUN_FACTS_H_
#define PYMEMRUN_READERS_REPLAY_SUMMARY_RUN_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "format/records/record_visitor.h"
#include "readers/replay/growth/profile_table.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// The number of facts of a kind, and the last one.
template <class Fact>
struct KeptFact {
  uint64_t count = 0;
  Fact last;
};

// A visitor that keeps a run's definitions, and for each kind of fact the
// number and the last one. A new kind needs no line here. A class that
// overrides a fact's method handles that fact instead. Not thread safe.
class FactKeeper : public IndexingVisitor {
 public:
#define PYMEMRUN_KEEP_FACT(kind, field, Message, Method, holds) \
  void Method(const Message& fact) override {                   \
    IndexingVisitor::Method(fact);                              \
    Keep(fact);                                                 \
  }
  PYMEMRUN_FACTS(PYMEMRUN_KEEP_FACT)
#undef PYMEMRUN_KEEP_FACT

  template <class Fact>
  const KeptFact<Fact>& Kept() const {
    return std::get<KeptFact<Fact>>(kept_);
  }

 private:
  template <class Fact>
  void Keep(const Fact& fact) {
    KeptFact<Fact>& kept = std::get<KeptFact<Fact>>(kept_);
    ++kept.count;
    kept.last = fact;
  }

#define PYMEMRUN_KEPT_FACT(kind, field, Message, Method, holds) \
  KeptFact<Message>,
  // The int ends the list, as each fact is followed by a comma.
  std::tuple<PYMEMRUN_FACTS(PYMEMRUN_KEPT_FACT) int> kept_;
#undef PYMEMRUN_KEPT_FACT
};

// Whether the filters let every event pass.
bool EveryEventLogged(const Filters& filters);
// Whether the RETURN of every logged CALL was logged, too, regardless of RSS:
// true if the filters are by file, function and thread only.
bool CallsLoggedWhole(const Filters& filters);
// The same for calls of C functions, in runs without Python calls.
bool OnlyCCallsLoggedWhole(const Filters& filters);

// Reads everything once. Memory is constant apart from definitions. Not thread
// safe.
class RunFacts : public FactKeeper {
 public:
  void OnHeader(const Header& header) override;
  bool OnRows(const Row* rows, size_t count) override;
  void OnProfilerGap(const ProfilerGap& gap) override;
  void OnLoss(const Loss& loss) override;
  void OnProcess(const ProcessSample& sample) override;
  void OnPeak(const Peak& peak) override;
  void OnGauge(const GaugeChange& change) override;
  void OnPause(const Pause& pause) override;
  bool OnPages(const PageEntry* entries, size_t count) override;
  void OnPageLoss(const PageLoss& loss) override;
  HeapUse heap_use() const override { return HeapUse::kFacts; }
  void OnHeapBatch(const HeapBatchFacts& facts) override;
  void OnHeapLoss(const HeapLoss& loss) override {
    heap_.lost += loss.events();
  }
  void OnFooter(const Footer& found) override;
  void OnDamage(const StreamReader::Damage& damage) override;

  // To be called before reading: see CallProfile.
  void KeepThreads(const std::string& wanted) {
    profile_.KeepThreads(wanted, &index());
  }
  void KeepRange(const TimeRange& range) { profile_.KeepRange(range); }
  void TellTasksApart(const TaskStepsReader* tasks) {
    profile_.TellTasksApart(tasks);
  }
  const CallProfile& profile() const { return profile_; }
  // Adds the places and the change of RSS at no row. A table by kCaused gets
  // only the numbers of rows.
  void AddTo(ProfileTable* table) const;
  // The change of RSS at no row, see CallProfile.
  int64_t UnseenBytes() const;

  // These take the footer's value if there is a footer, otherwise that of the
  // stream.
  uint64_t Events() const;
  uint64_t DurationUs() const;
  uint64_t HwmBytes() const;
  // RSS at the last event; 0: unknown.
  uint64_t LastRssBytes() const;
  uint64_t OwnBytes() const;
  // OwnBytes(), plus at most what profiling made the interpreter allocate.
  uint64_t TracingBytes() const;
  // The number of these objects; 0 if not every event was logged. Some of the
  // bound methods may have been the program's own.
  struct ObjectsMade {
    uint64_t frames = 0, bound = 0;
  };
  ObjectsMade MadeObjects() const;
  // Whether calls were traced or requested.
  bool HasCalls() const;
  // The number of recorded faults, unweighted, and of lost ones.
  struct PageCounts {
    uint64_t events = 0, inferred = 0, samples_lost = 0, stacks_lost = 0;
  };
  PageCounts Pages() const;
  bool HasPages() const;
  // The number of recorded heap events, and of those that did not fit.
  struct HeapCounts {
    uint64_t allocations = 0, frees = 0, lost = 0;
  };
  HeapCounts Heap() const;
  bool HasHeap() const;
  // Rows lost because a ring was full. Only the footer has all of them; without
  // one at least `lost_rows` were lost.
  std::optional<uint64_t> DroppedRows() const;
  // The highest RSS at any event, logged or not; 0: unknown.
  uint64_t SeenBytes() const;
  // Whether HwmBytes() was reached between the two events that `peak` names. A
  // peak below what an event saw is not the highest.
  bool HasPeak() const;

  Header header;
  std::optional<Footer> footer;
  uint64_t first_rss_bytes = 0;  // when tracing started; 0: unknown
  uint64_t rows = 0, context_rows = 0;
  // The row with the highest RSS, context included. If it was lost, it is the
  // footer's; its site is 0 if that is unknown, too.
  std::optional<Row> highest;
  std::optional<Row> last;  // by number
  uint64_t gaps = 0, gap_us = 0, gap_events = 0;
  uint64_t lost_rows = 0;
  uint64_t user_us = 0, system_us = 0;  // of the last sample
  std::optional<Peak> peak;             // the highest
  bool has_pauses = false;
  // The number of unreadable parts of the file, and the time of the first one.
  uint64_t damages = 0, damaged_us = 0;
  uint64_t gauge_changes = 0;
  GaugeChange last_gauge_change;

 private:
  CallProfile profile_;
  uint64_t last_us_ = 0;
  uint64_t sampled_hwm_bytes_ = 0;
  PageCounts pages_;  // of the stream
  HeapCounts heap_;   // of the stream
};

// How the program ended: "exit 0", "signal 9", "killed", "still running or
// killed".
std::string EndText(const RunFacts& facts);

// The kinds of recorded events. `has_pages`: it is known which pages were
// resident.
std::string RecordedText(const RunFacts& facts, bool has_pages);

// The end report, as `pymemrun` prints it. Without a footer it has the stream's
// figures, and a line that says so.
std::string EndReportOf(const RunFacts& facts, const std::string& file_name,
                        uint64_t file_bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_SUMMARY_RUN_FACTS_H_
