// What a whole run file says of its run: `pymemreport summary` and
// `pymemcat --summary`.
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

// Keeps what came of each kind of fact, for whoever prints it.

template <class Fact>
struct KeptFact {
  uint64_t count = 0;
  Fact last;
};

// A visitor that keeps a run's definitions, how many facts of each kind came,
// and the last of each. Who overrides a fact's method keeps that fact instead.
// A new kind of fact is kept without a line here. Not thread safe.
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
  // The int ends the list, as each fact has a comma behind it.
  std::tuple<PYMEMRUN_FACTS(PYMEMRUN_KEPT_FACT) int> kept_;
#undef PYMEMRUN_KEPT_FACT
};

// Whether the filters let every event pass.
bool EveryEventLogged(const Filters& filters);
// Whether a CALL that passes the filters has its RETURN pass, too, whatever RSS
// did: they choose by file, function and thread alone.
bool CallsLoggedWhole(const Filters& filters);
// The same of the calls of C functions, where those of Python are not logged.
bool OnlyCCallsLoggedWhole(const Filters& filters);

// Reads everything once. Memory is constant, except for definitions. Not thread
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
  // Its places, and what no row has of the change of RSS. Of a table by what
  // threads caused the rows alone.
  void AddTo(ProfileTable* table) const;
  // What RSS changed by at no row, see CallProfile.
  int64_t UnseenBytes() const;

  // The footer's word where there is a footer, else what the stream tells.
  uint64_t Events() const;
  uint64_t DurationUs() const;
  uint64_t HwmBytes() const;
  // RSS at the last event; 0: not known.
  uint64_t LastRssBytes() const;
  uint64_t OwnBytes() const;
  // Those, and what profiling made the interpreter allocate, at its most.
  uint64_t TracingBytes() const;
  // How many objects that was in the whole run; none where not every event was
  // logged. Of the bound ones some may have been the program's own.
  struct ObjectsMade {
    uint64_t frames = 0, bound = 0;
  };
  ObjectsMade MadeObjects() const;
  // Whether calls were traced, or asked for.
  bool HasCalls() const;
  // Faults recorded, unweighted, and what was lost of them.
  struct PageCounts {
    uint64_t events = 0, inferred = 0, samples_lost = 0, stacks_lost = 0;
  };
  PageCounts Pages() const;
  bool HasPages() const;
  // Heap events recorded, and those that found no room.
  struct HeapCounts {
    uint64_t allocations = 0, frees = 0, lost = 0;
  };
  HeapCounts Heap() const;
  bool HasHeap() const;
  // Rows lost on a full ring. Only a footer knows of all; without one they are
  // at least `lost_rows`.
  std::optional<uint64_t> DroppedRows() const;
  // The highest RSS at an event, logged or not, as far as the file tells; 0: it
  // does not.
  uint64_t SeenBytes() const;
  // Whether HwmBytes() was reached between two events, those that `peak` names:
  // a peak below what an event saw is not where the highest came from.
  bool HasPeak() const;

  Header header;
  std::optional<Footer> footer;
  uint64_t first_rss_bytes = 0;  // when tracing began; 0: not known
  uint64_t rows = 0, context_rows = 0;
  // The row with the highest RSS, context included; or one that is lost and
  // that the footer tells of; its site is 0 where even that is not known.
  std::optional<Row> highest;
  std::optional<Row> last;  // by number
  uint64_t gaps = 0, gap_us = 0, gap_events = 0;
  uint64_t lost_rows = 0;
  uint64_t user_us = 0, system_us = 0;  // the last sample's
  std::optional<Peak> peak;             // the highest
  bool has_pauses = false;
  // Places of the file that could not be read, and when the first one was.
  uint64_t damages = 0, damaged_us = 0;
  uint64_t gauge_changes = 0;
  GaugeChange last_gauge_change;

 private:
  CallProfile profile_;
  uint64_t last_us_ = 0;
  uint64_t sampled_hwm_bytes_ = 0;
  PageCounts pages_;  // in the stream
  HeapCounts heap_;   // in the stream
};

// How the program ended: "exit 0", "signal 9", "killed", "became another
// program", "no end in the file".
std::string EndText(const RunFacts& facts);

// What kinds of events there are: "calls, pages by scan, heap sampled (native
// too)". `has_pages`: which pages were resident is known.
std::string RecordedText(const RunFacts& facts, bool has_pages);

// The end report's text, as `pymemrun` prints it. Where the file has no footer,
// what the stream tells stands in its stead, and that is said.
std::string EndReportOf(const RunFacts& facts, const std::string& file_name,
                        uint64_t file_bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_SUMMARY_RUN_FACTS_H_
