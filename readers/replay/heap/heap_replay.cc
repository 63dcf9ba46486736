#include "readers/replay/heap/heap_replay.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "readers/replay/heap/heap_totals.h"

namespace pymemrun {
namespace {

// Sorted, without duplicates.
std::vector<uint64_t> StopsFor(const std::vector<HeapMoment>& moments) {
  std::vector<uint64_t> stops;
  // Other kinds are not known before the reading: they need no stop.
  for (const HeapMoment& moment : moments) {
    if (moment.kind == HeapMoment::kTime) stops.push_back(moment.time_us);
  }
  std::sort(stops.begin(), stops.end());
  stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
  return stops;
}

uint64_t FirstOf(const std::vector<uint64_t>& stops) {
  return stops.empty() ? ReplayVisitor::kEnd : stops[0];
}

bool NeedEnd(const std::vector<HeapMoment>& moments) {
  return std::any_of(moments.begin(), moments.end(), [](const HeapMoment& m) {
    return m.kind != HeapMoment::kTime;
  });
}

// The mmap module of the interpreter: each of its objects is a mapping.
bool IsMmapModule(absl::string_view path) {
  return absl::StartsWith(path.substr(path.rfind('/') + 1), "mmap.");
}

// The live sums now, by source.
std::vector<HeapSums> LiveSums(const HeapModel& model) {
  std::vector<HeapSums> sums;
  sums.reserve(model.sources().size());
  for (const HeapSource& source : model.sources()) sums.push_back(source.live);
  return sums;
}

}  // namespace

void HeapReplay::OnHeader(const Header& header) {
  header_ = header;
  has_heap_events_ = header.heap() != HEAP_OFF;
}

void HeapReplay::OnCode(const CodeDef& code) {
  IndexingVisitor::OnCode(code);
  // The collector marks tracing's own allocations with this code.
  if (code.file().empty() && code.name() == kTracingItself) {
    tracing_code_ = code.id();
  }
}

void HeapReplay::OnStack(const StackDef& node) {
  IndexingVisitor::OnStack(node);
  if (tracing_code_ != 0 && node.code() == tracing_code_) {
    model_.SetTracing(node.id());
  }
}

void HeapReplay::OnMapping(const MappingDef& def) {
  IndexingVisitor::OnMapping(def);
  if (IsMmapModule(def.name())) model_.SetBlockMapper(def.id());
}

void HeapReplay::TellTasksApart(const TaskStepsReader* tasks, bool with_stacks,
                                HeapSources::LetGo let_go) {
  tasks_ = tasks;
  with_stacks_ = with_stacks;
  let_go_ = std::move(let_go);
  model_.TellTasksApart(
      [this](const HeapEvent& event) {
        return tasks_->TaskAt(index().FirstThread(event.thread), event.time_us);
      },
      with_stacks);
}

void HeapReplay::TellTasksApartAs(const HeapReplay& other) {
  if (other.tasks_ == nullptr) return;
  TellTasksApart(other.tasks_, other.with_stacks_);
}

absl::string_view HeapReplay::TaskLabel(uint32_t task) const {
  return task == 0 || tasks_ == nullptr ? kNoTask : tasks_->names().Label(task);
}

// Makes the stops that are before the event at `time_us`.
void HeapReplay::StopsBefore(uint64_t time_us) {
  for (uint64_t stop_us; (stop_us = NextStop()) < time_us;) {
    last_us_ = std::max(last_us_, stop_us);
    if (stop_us == next_stop_us_) next_stop_us_ = OnStop(stop_us);
    looks_.DoUntil(stop_us);
  }
  done_ = !to_end_ && next_stop_us_ == kEnd && looks_.empty();
}

// Adds the events in pieces: up to the next stop, then from there on. Events at
// the very time of a stop are before it.
bool HeapReplay::OnHeap(const HeapEvent* events, size_t count) {
  has_heap_events_ = true;
  const HeapEvent* const end = events + count;
  while (events != end && !done_) {
    const HeapEvent* next = end;
    const uint64_t stop_us = NextStop();
    // Most batches contain no stop: one test skips the search.
    if ((end - 1)->time_us > stop_us) {
      next = std::find_if(events, end, [stop_us](const HeapEvent& event) {
        return event.time_us > stop_us;
      });
    }
    model_.Add(events, next - events);
    if (next != events) last_us_ = std::max(last_us_, (next - 1)->time_us);
    if (next != end) StopsBefore(next->time_us);
    events = next;
  }
  return !done_;
}

// Sources may be let go only now: blocks from the parent process come first.
void HeapReplay::OnInherited() {
  model_.BeginAnew();
  if (let_go_) model_.mutable_sources()->set_let_go(let_go_);
}

void HeapReplay::OnHeapRates(const HeapRates& rates) {
  if (done_) return;
  const uint32_t before = model_.rate();
  model_.SetRates(rates);
  if (has_rates_ && model_.rate() != before) ++rate_changes_;
  has_rates_ = true;
  rates_ = rates;
  unseen_.TakeMost(UnseenAt(rates));
}

void HeapReplay::OnHeapLoss(const HeapLoss& loss) {
  if (!done_) lost_events_ += loss.events();
}

// Readings of RSS are kept for RssNear(), which may ask for any moment.
void HeapReplay::OnProcess(const ProcessSample& sample) {
  // A sample may precede heap events of earlier times in the file.
  if (to_end_) last_us_ = std::max(last_us_, sample.time_us());
  if (sample.rss_bytes() == 0) return;
  if (rss_.size() >= kMostRss) {
    // Every other reading is dropped when there are too many.
    for (size_t i = 0; 2 * i < rss_.size(); ++i) rss_[i] = rss_[2 * i];
    rss_.resize(rss_.size() / 2);
  }
  rss_.push_back({sample.time_us(), sample.rss_bytes()});
}

uint64_t HeapReplay::RssNear(uint64_t time_us) const {
  uint64_t bytes = rss_.empty() ? 0 : rss_[0].bytes;
  for (const RssAt& rss : rss_) {
    if (rss.time_us <= time_us) bytes = rss.bytes;
  }
  return bytes;
}

void HeapReplay::OnFooter(const Footer& footer) {
  if (!done_) last_us_ = std::max(last_us_, footer.end_us());
  // The footer includes events that could not be written.
  lost_events_ = std::max<uint64_t>(lost_events_, footer.heap_events_lost());
}

void HeapReplay::Finish() {
  // Stops up to the last moment that was read.
  if (last_us_ < kEnd) StopsBefore(last_us_ + 1);
  // Looks after the end show the end.
  looks_.DoUntil(kEnd);
}

HeapMoments::HeapMoments(std::vector<HeapMoment> moments, bool to_end)
    : HeapReplay(FirstOf(StopsFor(moments)), to_end || NeedEnd(moments)),
      moments_(std::move(moments)),
      stops_us_(StopsFor(moments_)),
      events_left_(moments_[0].kind == HeapMoment::kEvents ? moments_[0].events
                                                           : kEnd) {
  KnowWaits(moments_[0].waits);
}

bool HeapMoments::OnHeap(const HeapEvent* events, size_t count) {
  // The moment is after this batch: count down.
  if (count < events_left_) {
    events_left_ -= events_left_ == kEnd ? 0 : count;
    return HeapReplay::OnHeap(events, count);
  }
  // The moment is within it: only the events before it are added.
  HeapReplay::OnHeap(events, events_left_);
  EndAt(moments_[0].time_us);
  return false;
}

uint64_t HeapMoments::OnStop(uint64_t) {
  sums_.push_back(LiveSums(model()));
  // Sources alive at a stop must keep their numbers, as sums are by number.
  mutable_model().mutable_sources()->HoldLive();
  return sums_.size() < stops_us_.size() ? stops_us_[sums_.size()] : kEnd;
}

// Times were copied when they were passed. The peak is kept in the model, and
// the end is what the model has now.
std::vector<HeapSums> HeapMoments::SumsAt(size_t moment) const {
  const HeapMoment& at = moments_[moment];
  if (at.kind == HeapMoment::kTime) {
    const auto stop =
        std::lower_bound(stops_us_.begin(), stops_us_.end(), at.time_us);
    const size_t i = stop - stops_us_.begin();
    // A stop after the run's end was not made: the end is the answer.
    if (i < sums_.size()) return sums_[i];
  }
  if (at.kind != HeapMoment::kPeak) return LiveSums(model());
  std::vector<HeapSums> sums;
  for (uint32_t i = 0; i < model().sources().size(); ++i) {
    sums.push_back(model().AtPeak(i));
  }
  return sums;
}

uint64_t HeapMoments::TimeOf(size_t moment) const {
  switch (moments_[moment].kind) {
    case HeapMoment::kPeak:
      return model().peak_us();
    case HeapMoment::kEnd:
      return last_us();
    case HeapMoment::kTime:
    case HeapMoment::kEvents:
      return std::min(moments_[moment].time_us, last_us());
  }
  return 0;
}

HeapTotals TotalsOf(const HeapModel& model, const std::vector<HeapSums>& sums) {
  HeapTotals totals;
  for (size_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = model.sources()[i];
    if (source.counts()) totals.live.Add(sums[i]);
    if (source.tracing) totals.tracing.Add(sums[i]);
    if (source.reserved) totals.reserved.Add(sums[i]);
  }
  return totals;
}

// Equal sources are in the order of their numbers, so that output is stable.
std::vector<size_t> SourcesByBytes(const HeapModel& model,
                                   const std::vector<HeapSums>& sums) {
  std::vector<size_t> order;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].recorded != 0 && model.sources()[i].counts())
      order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&sums](size_t a, size_t b) {
    return sums[a].bytes != sums[b].bytes ? sums[a].bytes > sums[b].bytes
                                          : a < b;
  });
  return order;
}

}  // namespace pymemrun
