#include "readers/replay/threads/thread_table.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/output/cells.h"
#include "readers/output/table_columns.h"
#include "readers/output/whole_number.h"
#include "readers/places/place_table.h"
#include "readers/replay/heap/heap_reading.h"
#include "readers/replay/resident/resident_table.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// The figures of one thread, or of several.
struct ThreadRow {
  std::string name;
  ThreadTotals totals;
  double live_bytes = 0, live_variance = 0;
  std::string top_line;
};

// Joins what pages, heap events and rows say about each thread. Renamed threads
// are one row.
class RowsMaker {
 public:
  explicit RowsMaker(const ThreadFacts& facts)
      : facts_(facts),
        index_(facts.replay->index()),
        totals_(facts.replay->threads()),
        live_bytes_(totals_.size()),
        live_variance_(totals_.size()) {
    if (facts.observed != nullptr) Observe(facts.observed->threads());
    if (facts.heap == nullptr) return;
    const std::vector<HeapSums> sums = facts.heap->SumsAt(0);
    for (size_t i = 0; i < sums.size(); ++i) {
      const HeapSource& source = facts.heap->model().sources()[i];
      if (!source.counts() || sums[i].bytes <= 0) continue;
      const uint32_t thread = Id(source.key.thread);
      live_bytes_[thread] += sums[i].bytes;
      live_variance_[thread] += sums[i].bytes_variance;
      Hold(thread, source.key.stack, sums[i].bytes);
    }
  }

  // The ids of all threads, the largest growth first.
  std::vector<uint32_t> Order() const {
    std::vector<uint32_t> order;
    for (uint32_t id = 1; id < totals_.size(); ++id) {
      if (Id(id) == id) order.push_back(id);
    }
    std::stable_sort(
        order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
          return std::pair(totals_[a].growth_bytes, live_bytes_[a]) >
                 std::pair(totals_[b].growth_bytes, live_bytes_[b]);
        });
    return order;
  }

  ThreadRow Of(uint32_t thread) const {
    ThreadRow row = {std::string(index_.ThreadLabel(thread)), totals_[thread],
                     live_bytes_[thread], live_variance_[thread], ""};
    const auto held = top_lines_.find(thread);
    if (held != top_lines_.end() && HeapExplains(row)) {
      row.top_line = LabelOf(lines_.places()[held->second.line]);
    } else if (row.totals.top_stack != 0) {
      row.top_line = LabelOf(PlaceOf(GroupBy::kLine, index_,
                                     Origin{.stack = row.totals.top_stack}));
    }
    return row;
  }

  // Whether the thread's live blocks are at least half of what it added and
  // kept. Otherwise a few small objects would be shown as the reason for mapped
  // memory.
  static bool HeapExplains(const ThreadRow& row) {
    return row.totals.top_stack == 0 ||
           2 * row.live_bytes >= static_cast<double>(row.totals.net_bytes());
  }

  void AddTo(uint32_t thread, ThreadRow* sum) const {
    sum->totals.Add(totals_[thread]);
    sum->live_bytes += live_bytes_[thread];
    sum->live_variance += live_variance_[thread];
  }

 private:
  // The id whose name tables show.
  uint32_t Id(uint32_t thread) const {
    const uint32_t latest = index_.LatestThread(thread);
    return latest < totals_.size() ? latest : 0;
  }

  // The code that holds memory is a better answer than the code that first
  // touched its pages.
  void Hold(uint32_t thread, uint32_t stack, double bytes) {
    const uint32_t line = lines_.NumberOf(GroupBy::kLine, facts_.heap->index(),
                                          Origin{.stack = stack});
    const double sum = held_bytes_[{thread, line}] += bytes;
    TopLine& top = top_lines_[thread];
    if (sum > top.bytes) top = {line, sum};
  }

  // Without page faults, growth is what each thread's events saw: it replaces
  // what the pages say.
  void Observe(const std::vector<RssTotals>& observed) {
    for (ThreadTotals& totals : totals_) {
      totals.growth_bytes = totals.shrinkage_bytes = 0;
      totals.top_stack = 0;
    }
    for (uint32_t id = 0; id < observed.size(); ++id) {
      totals_[Id(id)].growth_bytes += observed[id].growth_bytes;
      totals_[Id(id)].shrinkage_bytes += observed[id].shrinkage_bytes;
    }
  }

  const ThreadFacts& facts_;
  const RunIndex& index_;
  std::vector<ThreadTotals> totals_;
  std::vector<double> live_bytes_, live_variance_;  // by thread
  struct TopLine {
    uint32_t line = 0;
    double bytes = 0;
  };
  PlaceTable lines_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, double> held_bytes_;
  absl::flat_hash_map<uint32_t, TopLine> top_lines_;
};

// The cell, or an unknown one.
Cell If(bool known, Cell cell) { return known ? std::move(cell) : Cell(); }

Cell ErrorCell(double variance) { return WholeNumber(std::sqrt(variance)); }

TableColumns<ThreadRow> ColumnsOf(const ThreadFacts& facts) {
  const bool grown = facts.knows_growth(), has_heap = facts.heap != nullptr;
  const bool has_peak = facts.replay->KnowsPages() && facts.observed == nullptr;
  const bool peak_error = has_peak && facts.replay->model().sampled();
  const bool heap_error = has_heap && facts.heap->sampled();
  const TableColumns<ThreadRow> columns = {
      {"thread", "thread", CellLook::kName,
       [](const auto& row) { return TextCell(row.name); }},
      {"growth_bytes", "growth", CellLook::kBytes,
       [=](const auto& row) { return If(grown, row.totals.growth_bytes); }},
      {"shrinkage_bytes", "shrinkage", CellLook::kBytes,
       [=](const auto& row) { return If(grown, row.totals.shrinkage_bytes); }},
      {"net_bytes", "net", CellLook::kBytes,
       [=](const auto& row) { return If(grown, row.totals.net_bytes()); }},
      {"peak_bytes", "at peak", CellLook::kBytes,
       [=](const auto& row) { return If(has_peak, row.totals.peak_bytes); }},
      {"peak_error_bytes", "peak error", CellLook::kBytes,
       [=](const auto& row) {
         return If(peak_error, ErrorCell(row.totals.peak_variance));
       }},
      {"live_bytes", "live heap", CellLook::kBytes,
       [=](const auto& row) {
         return If(has_heap, WholeNumber(row.live_bytes));
       }},
      {"live_error_bytes", "std error", CellLook::kBytes,
       [=](const auto& row) {
         return If(heap_error, ErrorCell(row.live_variance));
       }},
      {"first_s", "from s",
       [](const auto& row) { return SecondsOfUs(row.totals.first_us); }},
      {"last_s", "to s",
       [](const auto& row) { return SecondsOfUs(row.totals.last_us); }},
      {"rows", "rows", [](const auto& row) { return row.totals.rows; }},
      {"top_line", "top line", CellLook::kName,
       [](const auto& row) { return TextCell(row.top_line); }},
  };
  return columns;
}

}  // namespace

Table ThreadTable(const ThreadFacts& facts, ThreadFilter* keep,
                  uint64_t limit) {
  const RowsMaker maker(facts);
  ThreadRow others = {std::string(kOtherThreads), {}, 0, 0, ""};
  others.totals.first_us = UINT64_MAX;
  bool any_other = false;
  std::vector<ThreadRow> rows;
  for (const uint32_t thread : maker.Order()) {
    if (keep->Keeps(thread) && (limit == 0 || rows.size() < limit)) {
      rows.push_back(maker.Of(thread));
    } else {
      maker.AddTo(thread, &others);
      any_other = true;
    }
  }
  const size_t listed = rows.size();
  if (any_other) rows.push_back(others);
  Table table = ColumnsOf(facts).Make(rows);
  table.places = listed;
  if (facts.knows_growth()) {
    const bool is_observed = facts.observed != nullptr;
    std::vector<Cell> rest(table.headings.size());
    rest[0] = std::string(is_observed ? kInNoRow : kUnattributed);
    rest[3] =
        is_observed ? facts.unseen_bytes : facts.replay->unattributed_bytes();
    table.rows.push_back(std::move(rest));
  }
  return table;
}

std::string ThreadHeading(const ThreadFacts& facts) {
  std::string text;
  if (facts.knows_growth()) {
    const auto bytes = [](uint64_t value) {
      return HumanBytes(static_cast<double>(value));
    };
    text = absl::StrCat(
        "RSS ", bytes(facts.replay->header().first_rss_bytes()),
        " when tracing began, ", bytes(facts.replay->model().RssBytes()),
        " at the end; ",
        facts.observed != nullptr ? kObservedMeaning : kCausedMeaning, "\n");
    if (facts.observed == nullptr && facts.replay->header().page_weight() > 1) {
      absl::StrAppend(&text, "estimated: ", SampledText(facts.replay->header()),
                      "\n");
    }
  } else {
    text = absl::StrCat(
        facts.replay->header().page_scan()
            ? "pages were scanned: the thread that added each page is not known"
            : "no page faults were recorded (--trace pages)",
        "; only the live heap is known by thread\n");
  }
  if (facts.heap != nullptr) {
    absl::StrAppend(
        &text, "live heap: what the thread allocated and was not yet freed at ",
        MomentText(*facts.heap, 0), "\n");
  }
  return text;
}

}  // namespace pymemrun
