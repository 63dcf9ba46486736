// The live heap over time as counters: in total, by own line, by thread.
#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/output/whole_number.h"
#include "readers/replay/heap/heap_history.h"
#include "readers/replay/moments/moment.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

constexpr uint64_t kMostLines = 10, kMostThreads = 20;
constexpr uint64_t kMoments = 1000, kLeastStepUs = 1000;

class HeapCounters final : public TrackSource {
 public:
  bool Give(RereadFile* file, TrackSink* sink) override;

 private:
  static void Add(absl::string_view name, const Curves& history,
                  const std::vector<double>& bytes, TrackSink* sink);
};

// Missing values are 0.
void HeapCounters::Add(absl::string_view name, const Curves& history,
                       const std::vector<double>& bytes, TrackSink* sink) {
  const uint32_t counter = sink->AddCounter(name, CounterUnit::kBytes);
  int64_t before = -1;
  for (size_t i = 0; i < history.time_us.size(); ++i) {
    const auto value = static_cast<int64_t>(
        WholeNumber(i < bytes.size() ? std::max(bytes[i], 0.0) : 0.0));
    // The last value shows where the curve ends.
    if (value != before || i + 1 == history.time_us.size()) {
      sink->Count(counter, history.time_us[i], value);
    }
    before = value;
  }
}

// Two readings: one by line, one by thread. The moments are evenly spaced over
// the run.
bool HeapCounters::Give(RereadFile* file, TrackSink* sink) {
  HeapHistoryOptions options;
  options.interval_us = std::max(LastMomentOf(file) / kMoments, kLeastStepUs);
  HeapHistoryReplay lines(options);
  if (!file->Read(&lines)) return false;
  if (!lines.has_heap_events()) return true;
  const Curves by_line = lines.Result({.top = kMostLines});
  Add("live heap", by_line, by_line.total.values, sink);
  for (const Series& series : by_line.chosen) {
    Add(absl::StrCat("live heap, ", LabelOf(series.place)), by_line,
        series.values, sink);
  }
  options.by = GroupBy::kThread;
  HeapHistoryReplay threads(options);
  if (!file->Read(&threads)) return false;
  const Curves by_thread = threads.Result({.top = kMostThreads});
  for (const Series& series : by_thread.chosen) {
    Add(absl::StrCat("live heap of ", LabelOf(series.place)), by_thread,
        series.values, sink);
  }
  return true;
}

}  // namespace

std::unique_ptr<TrackSource> NewHeapSource() {
  return std::make_unique<HeapCounters>();
}

}  // namespace pymemrun
