// Growth of RSS by place: the rows of `pymemreport top`.
//
// The dRSS of a row is the change of RSS from the event before it to its own
// event. It is charged to the place of the row: its line of Python code (for C
// events the calling line), its Python function, and its thread. So an
// allocation by a C function is charged to the line that called the function.
// One by plain bytecode is charged to the next line of the function with an
// event.
//
// At a CALL the called function has not run yet, but its caller has. So the row
// is charged to the place of the thread's event just before, which is in the
// caller. The file must have that event (row number - 1, mostly as context),
// and it must not be a RETURN. If it is a CALL, its place is the caller's first
// line. Otherwise the row is charged to the calling line, if its stack is
// known.
//
// The own line of a place is the innermost frame of the user's own code in the
// row's stack (OwnCode). Without such a frame, or without stacks, it is the
// row's place itself.
//
// Context rows are not counted: they passed no filter. The dRSS of event 0 is
// its whole RSS; only what came after tracing started counts as growth. If the
// filter measured dRSS since the last logged event, the profile does so, too.
#ifndef PYMEMRUN_READERS_REPLAY_GROWTH_CALL_PROFILE_H_
#define PYMEMRUN_READERS_REPLAY_GROWTH_CALL_PROFILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "format/records/record_visitor.h"
#include "readers/places/place_table.h"
#include "readers/places/thread_filter.h"
#include "readers/places/time_range.h"
#include "readers/replay/current_task/task_steps_reader.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// Sums over rows: growth and shrinkage are kept apart, in bytes.
struct RssTotals {
  uint64_t growth_bytes = 0;
  uint64_t shrinkage_bytes = 0;
  uint64_t rows = 0;

  int64_t net_bytes() const {
    return static_cast<int64_t>(growth_bytes - shrinkage_bytes);
  }
  void Add(int64_t change_bytes);
  void Add(const RssTotals& other);
};

// Sums of one run. Not thread safe.
class CallProfile {
 public:
  // Charges only rows of the `wanted` threads to places, see ThreadFilter. To
  // be called first, if at all.
  void KeepThreads(std::string wanted, const RunIndex* index) {
    filter_.emplace(std::move(wanted), index);
  }
  // Likewise, only rows within the range.
  void KeepRange(const TimeRange& range) { range_ = range; }
  // Likewise, also sums rows by task. `tasks` knows the run's steps and must
  // outlive it.
  void TellTasksApart(const TaskStepsReader* tasks) { steps_ = tasks; }
  // To be called before Add(): RSS when tracing started, and how dRSS was
  // measured.
  void SetHeader(const Header& header);
  // `index` has everything that was defined before the row.
  void Add(const Row& row, const RunIndex& index);
  // Tracing was off: the change of RSS during the pause is charged to no place.
  void Add(const Pause& pause);

  // By id of the site or thread, up to kMaxIds; index 0 has all larger ids.
  const std::vector<RssTotals>& sites() const { return sites_; }
  const std::vector<RssTotals>& threads() const { return threads_; }
  // By StackDef.id of the own line; rows without an own line are by site.
  const std::vector<RssTotals>& own_lines() const { return own_lines_; }
  const std::vector<RssTotals>& other_sites() const { return other_sites_; }
  // By StackDef.id of a calling frame, for rows charged to a caller without a
  // site.
  const std::vector<RssTotals>& callers() const { return callers_; }
  // By the task whose step ran, 0: none. Empty without TellTasksApart().
  const absl::flat_hash_map<uint32_t, RssTotals>& tasks() const {
    return tasks_;
  }
  absl::string_view TaskLabel(uint32_t task) const;
  // All threads that are not kept.
  const RssTotals& other_threads() const { return other_threads_; }
  // Rows seen at a site, including those charged to another site.
  uint64_t RowsSeenAt(uint32_t site) const;
  // The change of RSS that is charged to no place: from the start of tracing to
  // the last row, or to `last_rss_bytes` if it is not 0. For a range: from the
  // last row before it to the last one in it.
  int64_t UnseenBytes(uint64_t last_rss_bytes) const;

 private:
  static constexpr uint32_t kMaxIds = 1 << 21;
  template <typename Total>
  static Total* Slot(uint32_t id, std::vector<Total>* table);
  bool IsInRange(const Row& row);
  void Charge(const Row& row, int64_t change, const RunIndex& index);
  void ChargeSite(const Row& row, int64_t change, const RunIndex& index);
  void ChargeCaller(const Row& row, uint32_t caller, int64_t change,
                    const RunIndex& index);
  int64_t ChangeOf(const Row& row) const;
  bool IsOfCaller(const Row& row, int64_t change_bytes) const;
  uint32_t SiteOf(const Row& row, bool of_caller);

  uint64_t first_rss_bytes_ = 0;  // 0: unknown
  bool since_logged_ = false;
  bool any_row_ = false;
  std::optional<TimeRange> range_;  // none: all times
  // At the end of range_; 0: there is no later row.
  uint64_t end_rss_bytes_ = 0;
  Row last_ = {};  // valid if any_row_
  // The RSS that the next row's growth is measured from, if dRSS counts from
  // the last logged row: RSS at that row, or at the start, plus the changes in
  // pauses.
  uint64_t base_rss_bytes_ = 0;
  std::vector<RssTotals> sites_, threads_, own_lines_, other_sites_, callers_;
  // By site: rows charged to it minus rows charged to others.
  std::vector<int64_t> moved_rows_;
  const TaskStepsReader* steps_ = nullptr;
  absl::flat_hash_map<uint32_t, RssTotals> tasks_;
  std::optional<ThreadFilter> filter_;  // none: all threads are kept
  RssTotals other_threads_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GROWTH_CALL_PROFILE_H_
