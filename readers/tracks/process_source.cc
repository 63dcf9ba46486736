// The tracks of the process: RSS, the kernel's samples, marks, pauses.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/tracks/thin_counter.h"
#include "readers/tracks/track_source.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// Sorts RSS by time. Rows of several threads, and readings beside them, are in
// the file as they were drained: on a busy machine they are seconds late.
class RssCurve {
 public:
  explicit RssCurve(ThinCounter* counter) : counter_(*counter) {}

  void Add(uint64_t time_us, uint64_t rss_bytes) {
    const uint64_t step = time_us / ThinCounter::kStepUs;
    // Too late to be sorted in: the counter would take it for the latest value.
    if (rss_bytes == 0 || step < given_) return;
    const Reading reading = {time_us, rss_bytes};
    // A step keeps its highest and its last reading: a curve needs no more.
    const auto [at, is_new] = steps_.try_emplace(step, Step{reading, reading});
    Step& of = at->second;
    if (time_us >= of.last.time_us) of.last = reading;
    if (rss_bytes > of.highest.rss_bytes) of.highest = reading;
    // Older steps are not expected to change any more.
    if (is_new && steps_.size() > kMostSteps) GiveFirst();
  }
  void Finish(uint64_t end_us) {
    while (!steps_.empty()) GiveFirst();
    counter_.Finish(end_us);
  }

 private:
  struct Reading {
    uint64_t time_us, rss_bytes;
  };
  // What the counter needs of a millisecond.
  struct Step {
    Reading highest, last;
  };
  static constexpr size_t kMostSteps = size_t{1} << 16;  // a minute of them

  void GiveFirst() {
    const auto [highest, last] = steps_.begin()->second;
    given_ = steps_.begin()->first + 1;
    steps_.erase(steps_.begin());
    counter_.Add(highest.time_us, highest.rss_bytes);
    counter_.Add(last.time_us, last.rss_bytes);
  }

  ThinCounter& counter_;
  absl::btree_map<uint64_t, Step> steps_;  // by time / kStepUs
  uint64_t given_ = 0;                     // earlier steps were passed on
};

// RSS of a run without calls: from page events between two readings.
class PageRss final : public ResidentReplay {
 public:
  // Reads the page events again, with what is known of the peak.
  PageRss(Hindsight hindsight, RssCurve* curve)
      : ResidentReplay(kEnd, std::move(hindsight)), curve_(*curve) {}
  void Finish() override {
    ResidentReplay::Finish();
    OnTime(kEnd);
  }

 private:
  void OnTime(uint64_t) override { curve_.Add(now_us(), model().RssBytes()); }

  RssCurve& curve_;
};

// Every run has these tracks, whatever else was recorded.
class ProcessTracks final : public ReplayVisitor {
 public:
  explicit ProcessTracks(TrackSink* sink)
      : sink_(*sink), threads_(&index(), sink) {}

  void OnHeader(const Header& header) override {
    sink_.SetProcess(header);
    rss_ = Bytes(kRssCounter);
    curve_ = std::make_unique<RssCurve>(rss_.get());
    has_rows_ = !header.calls_off();
    has_pages_ = header.page_period() != 0;
    AddRss(0, header.first_rss_bytes());
  }
  bool OnRows(const Row* rows, size_t count) override {
    for (size_t i = 0; i < count; ++i)
      AddRss(rows[i].time_us, rows[i].rss_bytes);
    return true;
  }
  void OnProcess(const ProcessSample& sample) override;
  void OnResidency(const ResidencyView& seen) override {
    AddRss(seen.time_us, seen.rss_bytes);
  }
  void OnMark(const Mark& mark) override {
    AddRss(mark.time_us(), mark.rss_bytes());
    const bool known = mark.thread() != 0;
    sink_.Instant(known ? threads_.TrackOf(mark.thread()) : 0, mark.time_us(),
                  mark.label());
  }
  void OnPause(const Pause& pause) override {
    Between("tracing off", pause.from_us(), pause.to_us());
  }
  void OnLoss(const Loss& loss) override {
    sink_.Instant(0, loss.time_us(),
                  absl::StrCat(Counted(loss.rows(), "event"), " lost"));
  }
  void OnObjectsDumped(const ObjectsDumped& dumped) override {
    sink_.Instant(0, dumped.time_us(), "dump of the object graph");
  }
  void OnFooter(const Footer& footer) override {
    end_us_ = footer.end_us();
    if (footer.hwm_bytes() > 0) {
      Counter(kHwmCounter).Add(footer.end_us(), footer.hwm_bytes());
    }
  }
  void Finish() override;

  // Returns null if rows have RSS, or only its readings are known.
  RssCurve* CurveOfPages() { return ByPages() ? curve_.get() : nullptr; }
  // To be called last.
  void FinishRss() {
    if (curve_ != nullptr) curve_->Finish(end_us_);
  }

 private:
  bool ByPages() const { return has_pages_ && !has_rows_; }
  void AddRss(uint64_t time_us, uint64_t rss_bytes) {
    if (curve_ != nullptr && !ByPages()) curve_->Add(time_us, rss_bytes);
  }
  std::unique_ptr<ThinCounter> Bytes(absl::string_view name) {
    return std::make_unique<ThinCounter>(
        sink_.AddCounter(name, CounterUnit::kBytes), &sink_);
  }
  ThinCounter& Counter(absl::string_view name,
                       CounterUnit unit = CounterUnit::kBytes) {
    std::unique_ptr<ThinCounter>& counter = counters_[std::string(name)];
    if (counter == nullptr) {
      counter =
          std::make_unique<ThinCounter>(sink_.AddCounter(name, unit), &sink_);
    }
    return *counter;
  }
  void Between(absl::string_view what, uint64_t from_us, uint64_t to_us);

  TrackSink& sink_;
  TrackThreads threads_;
  std::unique_ptr<ThinCounter> rss_;
  std::unique_ptr<RssCurve> curve_;  // of rss_
  bool has_rows_ = false, has_pages_ = false;
  std::map<std::string, std::unique_ptr<ThinCounter>> counters_;
  uint32_t tracing_ = 0, tracing_name_ = 0;  // track and name of its slices
  uint64_t tracing_us_ = 0;                  // it has slices up to this time
  uint64_t end_us_ = 0;                      // 0: not known
};

void ProcessTracks::OnProcess(const ProcessSample& sample) {
  AddRss(sample.time_us(), sample.rss_bytes());
  const auto add = [&](absl::string_view name, uint64_t value) {
    if (value > 0) Counter(name).Add(sample.time_us(), value);
  };
  add(kHwmCounter, sample.hwm_bytes());
  add("RSS of files", sample.file_bytes());
  add("PSS", sample.pss_bytes());
  Counter("CPU time", CounterUnit::kMicroseconds)
      .Add(sample.time_us(), sample.user_us() + sample.system_us());
}

void ProcessTracks::Between(absl::string_view what, uint64_t from_us,
                            uint64_t to_us) {
  if (tracing_ == 0) {
    tracing_ = sink_.AddLane(0, "tracing");
    SliceName name;
    name.name = what;
    tracing_name_ = sink_.AddName(name);
  }
  // Pauses may overlap in a damaged file.
  from_us = std::max(from_us, tracing_us_);
  tracing_us_ = std::max(from_us, to_us);
  sink_.Begin(tracing_, from_us, tracing_name_);
  sink_.End(tracing_, tracing_us_, {});
}

// Every thread gets a track, even without slices.
void ProcessTracks::Finish() {
  for (const auto& [name, counter] : counters_) counter->Finish(end_us_);
  for (uint32_t thread = 1; thread <= index().threads(); ++thread) {
    threads_.TrackOf(thread);
  }
}

class ProcessSource final : public TrackSource {
 public:
  bool Give(RereadFile* file, TrackSink* sink) override {
    ProcessTracks tracks(sink);
    if (!file->Read(&tracks)) return false;
    // Without calls RSS is only read now and then; page events fill the gaps.
    if (RssCurve* const curve = tracks.CurveOfPages()) {
      const std::unique_ptr<PeakFinder> finder = FindPeak(file);
      if (finder == nullptr) return false;
      PageRss pages(finder->hindsight(), curve);
      if (!file->Read(&pages)) return false;
    }
    tracks.FinishRss();
    return true;
  }
};

}  // namespace

std::unique_ptr<TrackSource> NewProcessSource() {
  return std::make_unique<ProcessSource>();
}

std::vector<std::unique_ptr<TrackSource>> AllSources(
    const SourceOptions& options) {
  // The order matters: the first source finds the last names of threads.
  std::vector<std::unique_ptr<TrackSource>> sources;
  sources.push_back(NewProcessSource());
  sources.push_back(NewCallSource(options));
  sources.push_back(NewStateSource(options));
  sources.push_back(NewGilSource(options));
  sources.push_back(NewTaskSource(options));
  if (options.for_picture) {
    sources.push_back(NewGrowthSource(options));
  } else {
    sources.push_back(NewHeapSource());
    sources.push_back(NewCounterSource(options));
  }
  return sources;
}

}  // namespace pymemrun
