// What a run tells of its process: RSS, the kernel's samples, marks, pauses.
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/lanes/thin_counter.h"
#include "readers/lanes/track_names.h"
#include "readers/lanes/track_source.h"
#include "readers/lanes/track_threads.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

class ProcessTracks final : public ReplayVisitor {
 public:
  explicit ProcessTracks(TrackSink* sink)
      : sink_(*sink), threads_(&index(), sink) {}

  void OnHeader(const Header& header) override {
    sink_.SetProcess(header);
    rss_ = Bytes(kRssCounter);
    if (header.first_rss_bytes() > 0) rss_->Add(0, header.first_rss_bytes());
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

 private:
  void AddRss(uint64_t time_us, uint64_t rss_bytes) {
    if (rss_bytes > 0 && rss_ != nullptr) rss_->Add(time_us, rss_bytes);
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
  std::map<std::string, std::unique_ptr<ThinCounter>> counters_;
  uint32_t tracing_ = 0, tracing_name_ = 0;  // track and name of its slices
  uint64_t tracing_us_ = 0;                  // up to when it has them
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
  from_us = std::max(from_us, tracing_us_);
  tracing_us_ = std::max(from_us, to_us);
  sink_.Begin(tracing_, from_us, tracing_name_);
  sink_.End(tracing_, tracing_us_, {});
}

// All threads have tracks, those without a slice, too.
void ProcessTracks::Finish() {
  if (rss_ != nullptr) rss_->Finish(end_us_);
  for (const auto& [name, counter] : counters_) counter->Finish(end_us_);
  for (uint32_t thread = 1; thread <= index().threads(); ++thread) {
    threads_.TrackOf(thread);
  }
}

class ProcessSource final : public TrackSource {
 public:
  bool Give(RereadFile* file, TrackSink* sink) override {
    ProcessTracks tracks(sink);
    return file->Read(&tracks);
  }
};

class LastMoment final : public RecordVisitor {
 public:
  bool OnRows(const Row* rows, size_t count) override {
    if (count > 0) Take(rows[count - 1].time_us);
    return true;
  }
  bool OnPages(const PageEntry* entries, size_t count) override {
    for (size_t i = 0; i < count; ++i) Take(entries[i].time_us);
    return true;
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    if (count > 0) Take(events[count - 1].time_us);
    return true;
  }
  bool OnGil(const GilEvent* events, size_t count) override {
    if (count > 0) Take(events[count - 1].time_ns / 1000);
    return true;
  }
  bool OnStates(const StateEvent* events, size_t count) override {
    if (count > 0) Take(events[count - 1].time_ns / 1000);
    return true;
  }
  bool OnTasks(const TaskEvent* events, size_t count) override {
    if (count > 0) Take(events[count - 1].time_ns / 1000);
    return true;
  }
  bool OnSched(const SchedSample* samples, size_t count) override {
    if (count > 0) Take(samples[count - 1].time_us);
    return true;
  }
  void OnResidency(const ResidencyView& seen) override { Take(seen.time_us); }
  void OnMark(const Mark& mark) override { Take(mark.time_us()); }
  void OnProcess(const ProcessSample& sample) override {
    Take(sample.time_us());
  }
  void OnFooter(const Footer& footer) override { Take(footer.end_us()); }

  uint64_t last_us() const { return last_us_; }

 private:
  void Take(uint64_t time_us) { last_us_ = std::max(last_us_, time_us); }

  uint64_t last_us_ = 0;
};

}  // namespace

std::unique_ptr<TrackSource> NewProcessSource() {
  return std::make_unique<ProcessSource>();
}

uint64_t LastMomentOf(RereadFile* file) {
  LastMoment last;
  file->ReadAgain(&last);
  return last.last_us();
}

std::vector<std::unique_ptr<TrackSource>> AllSources(
    const SourceOptions& options) {
  std::vector<std::unique_ptr<TrackSource>> sources;
  sources.push_back(NewProcessSource());
  sources.push_back(NewCallSource(options.min_us));
  sources.push_back(NewStateSource(options));
  sources.push_back(NewGilSource(options));
  sources.push_back(NewTaskSource(options));
  if (options.for_picture) {
    sources.push_back(NewGrowthSource());
  } else {
    sources.push_back(NewHeapSource());
    sources.push_back(NewCounterSource());
  }
  return sources;
}

}  // namespace pymemrun
