#include "collector/session/process_sampler.h"

#include <algorithm>

#include "collector/process/monotonic_clock.h"
#include "collector/process/process_watch.h"
#include "collector/side/quiet_span.h"

namespace pymemrun {
namespace {

// RSS only: at most 0.2 % of a CPU, and only if RSS has changed by this much.
constexpr uint64_t kRssPeriodNs = 10000000;
constexpr uint64_t kRssCostFactor = 500;
// RSS is read again if reading took longer than kPromptNs.
constexpr int kSampleTries = 5;
constexpr uint64_t kPromptNs = 300000;
// By then a program has imported most of what it shares with unrelated
// processes.
constexpr uint64_t kAloneNs = 250000000;

}  // namespace

void ProcessSampler::Follow(uint64_t now_ns) {
  if (counters_.IsDue(now_ns)) {
    const uint64_t cpu_ns = ThreadCpuNs();
    Sample(UINT64_MAX, /*with_counters=*/true);
    counters_.Took(now_ns, ThreadCpuNs() - cpu_ns);
  }
  FollowRss(now_ns);
  FollowPss(now_ns);
}

// A killed program reports nothing, so the last reading has to represent its
// end. With page events this is not needed.
void ProcessSampler::FollowRss(uint64_t now_ns) {
  if (has_pages() || now_ns < next_rss_ns_) return;
  const uint64_t cpu_ns = ThreadCpuNs();
  const uint64_t time_ns = MonotonicNs();
  const ProcessSample before = sample_;
  // A process that has ended has no RSS to read: it stays 0.
  sample_.clear_rss_bytes();
  stats_.ReadMemory(&sample_);
  if (!HasMoved(before.rss_bytes(), sample_.rss_bytes(), 256 << 10, 256)) {
    sample_ = before;
    looked_ns_ = time_ns;
  } else if (WasOfProgram(*in_.page, &stats_)) {
    Write(time_ns);
    looked_ns_ = 0;
  } else {
    sample_ = before;
  }
  next_rss_ns_ = now_ns + std::max(kRssPeriodNs,
                                   kRssCostFactor * (ThreadCpuNs() - cpu_ns));
}

// PSS of a process that shares pages with traced relatives. Without relatives
// PSS is read once: RSS less PSS is then what the process shares with
// strangers.
void ProcessSampler::FollowPss(uint64_t now_ns) {
  const bool has_family = in_.launch->header.forked() ||
                          in_.launch->follow_all ||
                          ChildCountsOf(in_.page)->traced.load() > 0;
  const uint64_t start_ns = in_.page->start.monotonic_ns;
  if (!has_family && (read_alone_ || now_ns < start_ns + kAloneNs)) return;
  read_alone_ = true;
  const ProportionalSet set = pss_.ReadMoved(now_ns);
  if (set.pss_bytes == 0 || !WasOfProgram(*in_.page, &stats_)) return;
  Record record;
  ProcessSample* const sample = record.mutable_process();
  *sample = sample_;
  set.PutInto(sample);
  sample->set_time_us(in_.clock->MicrosOfMonotonic(MonotonicNs()));
  in_.writer->Write(record);
}

void ProcessSampler::WriteFinalizeRss() {
  const uint64_t time_ns =
      in_.page->finalize_ns.load(std::memory_order_acquire);
  if (saw_finalize_ || time_ns == 0) return;
  saw_finalize_ = true;
  WriteToldRss(time_ns);
}

void ProcessSampler::WriteExecRss(uint64_t time_ns) {
  if (!saw_finalize_) WriteToldRss(time_ns);
}

// Writes RSS as the program read it itself. Page events know it better.
void ProcessSampler::WriteToldRss(uint64_t time_ns) {
  if (has_pages() || in_.page->finalize_rss_pages == 0) return;
  sample_.set_rss_bytes(uint64_t{in_.page->finalize_rss_pages} *
                        in_.page_bytes);
  sample_.set_hwm_bytes(in_.page->finalize_hwm_pages * in_.page_bytes);
  Write(time_ns);
}

void ProcessSampler::WriteLastLook() {
  if (looked_ns_ != 0) Write(looked_ns_);
}

// A sample may be of another time than the events in the current batches, so it
// does not end them.
void ProcessSampler::Write(uint64_t time_ns) {
  Record record;
  sample_.set_time_us(in_.clock->MicrosOfMonotonic(time_ns));
  *record.mutable_process() = sample_;
  in_.writer->Write(record);
}

// Ends the batches first: a sample has its place between events. A reading that
// may be of another program keeps the previous values.
bool ProcessSampler::Sample(uint64_t latest_ns, bool with_counters) {
  // During an exec the values may be those of the next program.
  if (in_.page->exec_pending.load(std::memory_order_acquire) != 0) return true;
  const uint64_t number = in_.page->next_number.load(std::memory_order_relaxed);
  const ProcessSample before = sample_;
  uint64_t time_ns = 0;
  bool has_rss = ReadMemory(&time_ns);
  const bool of_program = WasOfProgram(*in_.page, &stats_);
  if (!of_program) sample_ = before;
  has_rss &= of_program;
  if (!has_rss) sample_.set_rss_bytes(before.rss_bytes());
  stats_.ReadTimes(&sample_);
  const bool counts = with_counters && of_program;
  // A sleeping program must not make its file grow.
  if (!counts && number == sampled_number_ && !Differ(sample_, before)) {
    return has_rss;
  }
  sampled_number_ = number;
  in_.encoder->EndBatches();
  Record record;
  sample_.set_next_number(number);
  sample_.set_time_us(
      in_.clock->MicrosOfMonotonic(std::min(time_ns, latest_ns)));
  *record.mutable_process() = sample_;
  // An old RSS must not look like a current one.
  if (!has_rss) record.mutable_process()->clear_rss_bytes();
  if (counts) counters_.Read(MonotonicNs(), record.mutable_process());
  in_.writer->Write(record);
  return has_rss || !of_program;
}

// Returns whether RSS is valid for `*time_ns`: no call was releasing memory,
// and the collector was not delayed.
bool ProcessSampler::ReadMemory(uint64_t* time_ns) {
  for (int tries = 0; tries < kSampleTries; ++tries) {
    QuietSpan span(has_pages() ? in_.side : nullptr);
    *time_ns = span.begin_ns();
    stats_.ReadMemory(&sample_);
    if (span.Held(kPromptNs)) return true;
  }
  // Without page events nothing is computed from RSS and its time.
  return !has_pages();
}

void ProcessSampler::WriteCounterPlan() {
  if (!counters_.is_on()) return;
  Record record;
  CounterPlan* const plan = record.mutable_counter_plan();
  plan->set_time_us(in_.clock->MicrosOfMonotonic(MonotonicNs()));
  plan->set_every_us(in_.launch->counters_every_ms * 1000);
  plan->set_gc_runs(in_.page->start.hears_gc_runs != 0);
  plan->set_refused(in_.encoder->refused_counters());
  in_.writer->Write(record);
}

uint32_t ProcessSampler::UsUntilDue(uint32_t otherwise_us) const {
  if (!counters_.is_on()) return otherwise_us;
  const uint64_t wait_us = counters_.NsUntilDue(MonotonicNs()) / 1000 + 1;
  return static_cast<uint32_t>(std::min<uint64_t>(wait_us, otherwise_us));
}

}  // namespace pymemrun
