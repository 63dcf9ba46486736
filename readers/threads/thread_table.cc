#include "readers/threads/thread_table.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/heap/heap_reading.h"
#include "readers/output/whole_number.h"
#include "readers/places/place.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// What a row tells of one thread, or of several.
struct ThreadRow {
  std::string name;
  ThreadTotals totals;
  double live_bytes = 0;
  std::string top_line;
};

class RowsMaker {
 public:
  RowsMaker(const ThreadReplay& replay, const HeapMoments* heap)
      : replay_(replay), live_bytes_(replay.threads().size()) {
    if (heap == nullptr) return;
    const std::vector<HeapSums> sums = heap->SumsAt(0);
    for (size_t i = 0; i < sums.size(); ++i) {
      const HeapSource& source = heap->model().sources()[i];
      if (!source.counts()) continue;
      const uint32_t thread = source.key.thread;
      live_bytes_[thread < live_bytes_.size() ? thread : 0] += sums[i].bytes;
    }
  }

  // The ids of all threads, those first that took most.
  std::vector<uint32_t> Order() const {
    std::vector<uint32_t> order(replay_.threads().size() - 1);
    std::iota(order.begin(), order.end(), 1);
    std::stable_sort(order.begin(), order.end(),
                     [this](uint32_t a, uint32_t b) {
                       const ThreadTotals &left = replay_.threads()[a],
                                          &right = replay_.threads()[b];
                       return std::pair(left.growth_bytes, live_bytes_[a]) >
                              std::pair(right.growth_bytes, live_bytes_[b]);
                     });
    return order;
  }

  ThreadRow Of(uint32_t thread) const {
    ThreadRow row = {std::string(replay_.index().ThreadLabel(thread)),
                     replay_.threads()[thread], live_bytes_[thread], ""};
    if (row.totals.top_stack != 0) {
      row.top_line = LabelOf(PlaceOf(GroupBy::kLine, replay_.index(),
                                     Origin{.stack = row.totals.top_stack}));
    }
    return row;
  }

  void AddTo(uint32_t thread, ThreadRow* sum) const {
    const ThreadTotals& from = replay_.threads()[thread];
    ThreadTotals& to = sum->totals;
    to.growth_bytes += from.growth_bytes;
    to.shrinkage_bytes += from.shrinkage_bytes;
    to.peak_bytes += from.peak_bytes;
    to.rows += from.rows;
    to.first_us = std::min(to.first_us, from.first_us);
    to.last_us = std::max(to.last_us, from.last_us);
    sum->live_bytes += live_bytes_[thread];
  }

 private:
  const ThreadReplay& replay_;
  std::vector<double> live_bytes_;  // by thread
};

double Seconds(uint64_t time_us) { return static_cast<double>(time_us) / 1e6; }

Cell NameOrNone(const std::string& name) {
  return name.empty() ? Cell() : Cell(name);
}

std::vector<Cell> CellsOf(const ThreadRow& row, bool pages, bool heap) {
  const ThreadTotals& totals = row.totals;
  const auto if_pages = [pages](Cell cell) { return pages ? cell : Cell(); };
  return {NameOrNone(row.name),
          if_pages(totals.growth_bytes),
          if_pages(totals.shrinkage_bytes),
          if_pages(totals.net_bytes()),
          if_pages(totals.peak_bytes),
          heap ? Cell(WholeNumber(row.live_bytes)) : Cell(),
          Seconds(totals.first_us),
          Seconds(totals.last_us),
          totals.rows,
          NameOrNone(row.top_line)};
}

}  // namespace

bool KnowsPages(const ThreadReplay& replay) {
  return replay.has_page_events() && !replay.by_scan();
}

Table ThreadTable(const ThreadReplay& replay, const HeapMoments* heap,
                  uint64_t limit) {
  Table table;
  table.headings = {{"thread", "thread", CellLook::kName},
                    {"growth_bytes", "growth", CellLook::kBytes},
                    {"shrinkage_bytes", "shrinkage", CellLook::kBytes},
                    {"net_bytes", "net", CellLook::kBytes},
                    {"peak_bytes", "at peak", CellLook::kBytes},
                    {"live_bytes", "live heap", CellLook::kBytes},
                    {"first_s", "from s"},
                    {"last_s", "to s"},
                    {"rows", "rows"},
                    {"top_line", "most at", CellLook::kName}};
  const bool pages = KnowsPages(replay);
  const RowsMaker maker(replay, heap);
  const std::vector<uint32_t> order = maker.Order();
  table.places =
      limit == 0 ? order.size() : std::min<uint64_t>(limit, order.size());
  for (size_t i = 0; i < table.places; ++i) {
    table.rows.push_back(CellsOf(maker.Of(order[i]), pages, heap != nullptr));
  }
  if (table.places < order.size()) {
    ThreadRow others = {std::string(kOtherThreads), {}, 0, ""};
    others.totals.first_us = UINT64_MAX;
    for (size_t i = table.places; i < order.size(); ++i) {
      maker.AddTo(order[i], &others);
    }
    table.rows.push_back(CellsOf(others, pages, heap != nullptr));
  }
  if (pages) {
    table.rows.push_back({std::string(kUnattributed), Cell(), Cell(),
                          replay.unattributed_bytes(), Cell(), Cell(), Cell(),
                          Cell(), Cell(), Cell()});
  }
  return table;
}

std::string ThreadHeading(const ThreadReplay& replay, const HeapMoments* heap) {
  std::string text;
  if (KnowsPages(replay)) {
    text = absl::StrCat(
        "RSS ",
        HumanBytes(static_cast<double>(replay.header().first_rss_bytes())),
        " when tracing began, ",
        HumanBytes(static_cast<double>(replay.model().RssBytes())),
        " at the end; growth: pages that a thread brought, shrinkage: those "
        "that its calls gave back\n");
  } else {
    text =
        "pages were not seen to come: the live heap alone tells threads "
        "apart\n";
  }
  if (heap != nullptr) {
    absl::StrAppend(&text,
                    "live heap: what it allocated and nobody had freed "
                    "at ",
                    MomentText(*heap, 0), "\n");
  }
  return text;
}

}  // namespace pymemrun
