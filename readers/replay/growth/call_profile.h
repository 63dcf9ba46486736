// RSS growth by place: what `pymemreport top` lists.
//
// The dRSS of a row is what RSS changed by between the event before it and the
// row's own event; it is charged to the row's own place: the line of Python
// code where the event was seen (for C events the calling line), the Python
// function that this line is in, and the row's thread. So an allocation made by
// a C function is charged to the line that called it, one made by plain
// bytecode to the next line with an event in the same function.
//
// At a CALL the function called has not run yet, its caller has. There the row
// is charged to the place of the thread's event just before, if the file has
// it (row number - 1, mostly as context) and it is no RETURN: then it lies in
// the caller. With a CALL before, that place is the caller's first line. Else
// the row is charged to the line that calls, if its stack is known.
//
// A place's own line is that of the innermost frame of the user's own code in
// the row's stack (OwnCode). Without such a frame, or without stacks, it is the
// row's place itself.
//
// Context rows are not counted: they passed no filter. Event 0's dRSS is its
// whole RSS; only what came after tracing began counts as growth. Where the
// filter measured dRSS since the last logged event, so is it counted here.
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

// Of one run. Not thread safe.
class CallProfile {
 public:
  // To be called first, if at all: only rows of the threads that are `wanted`
  // are charged to places. See ThreadFilter.
  void KeepThreads(std::string wanted, const RunIndex* index) {
    filter_.emplace(std::move(wanted), index);
  }
  // The same of rows at times of the range.
  void KeepRange(const TimeRange& range) { range_ = range; }
  // The same of rows by task: `tasks` knows the run's steps, and must outlive
  // it.
  void TellTasksApart(const TaskStepsReader* tasks) { steps_ = tasks; }
  // To be called before Add(): RSS when tracing began, and what dRSS is
  // measured against.
  void SetHeader(const Header& header);
  // `index`: of what was defined before the row.
  void Add(const Row& row, const RunIndex& index);
  // Tracing was off: what RSS changed by meanwhile is charged to no place.
  void Add(const Pause& pause);

  // By id of the site or thread, up to kMaxIds; index 0 holds what lies beyond.
  const std::vector<RssTotals>& sites() const { return sites_; }
  const std::vector<RssTotals>& threads() const { return threads_; }
  // By the StackDef.id of an own line; of stacks without one, by site.
  const std::vector<RssTotals>& own_lines() const { return own_lines_; }
  const std::vector<RssTotals>& other_sites() const { return other_sites_; }
  // By the StackDef.id of a frame that calls: what no site stands for.
  const std::vector<RssTotals>& callers() const { return callers_; }
  // By number of the task whose step was under way, 0: none; empty where tasks
  // are not told apart.
  const absl::flat_hash_map<uint32_t, RssTotals>& tasks() const {
    return tasks_;
  }
  absl::string_view TaskLabel(uint32_t task) const;
  // Of all threads that are not kept.
  const RssTotals& other_threads() const { return other_threads_; }
  // Rows seen at a site, also where their changes are charged to another.
  uint64_t RowsSeenAt(uint32_t site) const;
  // What RSS changed by from the begin of tracing to the last row, or to
  // `last_rss_bytes` if that is not 0, less all that is charged to places. Of a
  // range: from the last row before it to the last one in it.
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

  uint64_t first_rss_bytes_ = 0;  // 0: not known
  bool since_logged_ = false;
  bool any_row_ = false;
  std::optional<TimeRange> range_;  // nothing: all times
  uint64_t end_rss_bytes_ = 0;      // at the end of range_; 0: no later row
  Row last_ = {};                   // if any_row_
  // Where the growth of the next row begins, if it counts from the last logged
  // row: RSS there, or when tracing began, and what pauses have added.
  uint64_t base_rss_bytes_ = 0;
  std::vector<RssTotals> sites_, threads_, own_lines_, other_sites_, callers_;
  std::vector<int64_t> moved_rows_;  // by site: rows taken from others, net
  const TaskStepsReader* steps_ = nullptr;
  absl::flat_hash_map<uint32_t, RssTotals> tasks_;
  std::optional<ThreadFilter> filter_;  // nothing: all threads are kept
  RssTotals other_threads_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GROWTH_CALL_PROFILE_H_
