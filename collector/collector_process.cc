#include "collector/collector_process.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/end_report.h"
#include "collector/monotonic_clock.h"

namespace pymemrun {
namespace {

// If the collector dies with the program, at most 250 ms are missing: the
// flush's own period, a nap, and the time to write.
constexpr uint64_t kFlushPeriodNs = 150000000;
constexpr uint64_t kSamplePeriodNs = 250000000;
// While events flow the ring is left to fill for so long, then emptied at once.
// A producer in a hurry wakes us when a quarter is full.
constexpr uint32_t kShortestNapUs = 2000;
constexpr uint32_t kLongestNapUs = 40000;
constexpr uint32_t kStartNapUs = 500;
constexpr uint64_t kQuarter = kRingSlots / 4;
// Given back in pieces, so that a waiting producer goes on early.
constexpr size_t kPieceSlots = 16384;
constexpr int kWaitForStatusMs = 500;
constexpr int kSampleTries = 5;
constexpr uint64_t kPromptNs = 300000;

// What the gauge did, and what --verify-rss found of it.
void AddGaugeToFooter(const ControlPage& page, Footer* footer) {
  footer->set_rss_reads(page.rss_reads.load(std::memory_order_relaxed));
  const uint64_t events = page.verified_events.load(std::memory_order_relaxed);
  if (events == 0) return;
  RssVerification* found = footer->mutable_rss_verification();
  found->set_events(events);
  found->set_agreeing(page.agreeing_events.load(std::memory_order_relaxed));
  found->set_changing(page.changing_events.load(std::memory_order_relaxed));
  found->set_worst_staleness_ns(
      page.worst_staleness_ns.load(std::memory_order_relaxed));
  found->set_worst_error_bytes(
      page.worst_error_pages.load(std::memory_order_relaxed) * page.page_bytes);
}

EndReportPlace ReportPlace(const Place& place) {
  return {static_cast<What>(place.what),
          place.file,
          place.line,
          place.function,
          place.thread_name,
          place.native_thread_id};
}

// What the traced process knows better.
void AddTracerFacts(const ControlPage& page, Footer* footer) {
  footer->set_stalls(page.stalls.load(std::memory_order_relaxed));
  footer->set_untraced_children(
      page.untraced_children.load(std::memory_order_relaxed));
  footer->set_tables_emptied(
      page.tables_emptied.load(std::memory_order_relaxed));
  footer->set_line_array_bytes(page.line_array_bytes);
  footer->set_frame_object_bytes(page.frame_object_bytes);
  footer->set_bound_object_bytes(page.bound_object_bytes);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CollectorProcess>> CollectorProcess::Create(
    const CollectorFds& fds) {
  void* region = mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                      fds.region, 0);
  if (region == MAP_FAILED) {
    return absl::InternalError(
        absl::StrCat("cannot map the shared region: ", strerror(errno)));
  }
  auto* page = static_cast<ControlPage*>(region);
  if (page->magic != kRingMagic || page->version != 1 ||
      page->page_bytes == 0) {
    munmap(region, kRegionBytes);
    return absl::FailedPreconditionError(
        "the shared region is not one of this version");
  }
  std::unique_ptr<CollectorProcess> collector(
      new CollectorProcess(page, fds, ReadLaunchText(fds.text)));
  const absl::Status opened = collector->OpenPageEvents(fds.first_page);
  if (!opened.ok()) return opened;
  return collector;
}

absl::Status CollectorProcess::OpenPageEvents(int first_fd) {
  if (!launch_.has_pages || first_fd < 0) return absl::OkStatus();
  auto pages = PageCollector::Create({.page = page_,
                                      .first_fd = first_fd,
                                      .counters = launch_.page_counters,
                                      .signals = launch_.page_signals,
                                      .clock = &clock_,
                                      .definitions = &encoder_.definitions(),
                                      .out = &writer_});
  if (!pages.ok()) return pages.status();
  pages_ = *std::move(pages);
  AskToWakePromptly();
  return absl::OkStatus();
}

CollectorProcess::CollectorProcess(ControlPage* page, const CollectorFds& fds,
                                   LaunchText launch)
    : page_(page),
      launch_(std::move(launch)),
      earlier_(ClockScale::Measure()),
      writer_(
          fds.output, page->compress_level, [this] { Beat(); },
          [page](uint64_t rows) {
            // Read by the launcher when this process is gone.
            page->rows_in_file.store(rows, std::memory_order_release);
          }),
      encoder_(page->page_bytes, &clock_, &writer_),
      ring_(page, reinterpret_cast<const EventSlot*>(
                      reinterpret_cast<const char*>(page) + kControlBytes)),
      watch_(page, fds.region, fds.pid),
      stats_(static_cast<pid_t>(page->traced_pid)) {}

CollectorProcess::~CollectorProcess() {
  pthread_mutex_unlock(&page_->collector_alive);
  munmap(page_, kRegionBytes);
}

void CollectorProcess::Run() {
  Beat();
  pthread_mutex_lock(&page_->collector_alive);
  page_->collector_pid.store(getpid(), std::memory_order_release);
  ProcessWatch::State end = WaitForStart();
  if (end == ProcessWatch::State::kRunning) end = CollectUntilEnd();
  Finish(end, MonotonicNs());
}

void CollectorProcess::Beat() {
  page_->heartbeat.fetch_add(1, std::memory_order_relaxed);
}

ProcessWatch::State CollectorProcess::WaitForStart() {
  auto state = ProcessWatch::State::kRunning;
  bool started = false;
  while (true) {
    // In this order: a process that starts and ends at once has started.
    state = watch_.Check();
    started = page_->start_state.load(std::memory_order_acquire) != 0;
    if (started || state != ProcessWatch::State::kRunning) break;
    uint32_t nap_us = kLongestNapUs / 4;
    if (pages_ != nullptr) {
      pages_->Drain(MonotonicNs());
      // What is resident at the start is asked when it is seen.
      nap_us = kStartNapUs;
    }
    ring_.Wait(nap_us, 0);
    Beat();
  }
  BeginFile(started);
  return state;
}

void CollectorProcess::BeginFile(bool started) {
  AddPageToHeader(*page_, started, &launch_.header);
  const ClockScale::Pair start = {page_->start_tsc,
                                  launch_.header.start_monotonic_ns()};
  clock_.Start(started && page_->time_is_tsc != 0, start, earlier_);
  encoder_.Start(page_->time_is_tsc != 0 ? start.tsc : start.monotonic_ns);
  Record record;
  *record.mutable_header() = launch_.header;
  writer_.Write(record);
  if (pages_ != nullptr) pages_->Start(MonotonicNs());
  writer_.Flush();
}

ProcessWatch::State CollectorProcess::CollectUntilEnd() {
  uint32_t nap_us = kShortestNapUs;
  while (true) {
    Beat();
    size_t drained = Drain();
    if (pages_ != nullptr) drained += pages_->Drain(MonotonicNs());
    Housekeep(MonotonicNs());
    const ProcessWatch::State state = watch_.Check();
    if (state != ProcessWatch::State::kRunning) return state;
    Nap(drained, &nap_us);
  }
}

void CollectorProcess::Nap(size_t drained, uint32_t* nap_us) {
  *nap_us = drained >= kPieceSlots / 4 ? kShortestNapUs
                                       : std::min(2 * *nap_us, kLongestNapUs);
  // Nobody wakes us when the kernel's rings fill.
  if (pages_ != nullptr) *nap_us = std::min(*nap_us, pages_->longest_nap_us());
  if (ring_.backlog() < kQuarter) ring_.Wait(*nap_us, kQuarter);
}

size_t CollectorProcess::Drain() {
  size_t drained = 0;
  // At most a ring's worth, so that the rest of the loop gets its turn.
  while (drained < kRingSlots) {
    RingReader::Span span = ring_.Peek();
    if (span.count == 0) break;
    span.count = std::min(span.count, kPieceSlots);
    encoder_.Consume(span.slots, span.count);
    ring_.Release(span.count);
    drained += span.count;
  }
  return drained;
}

void CollectorProcess::Housekeep(uint64_t now_ns) {
  if (now_ns >= next_sample_ns_) {
    next_sample_ns_ = now_ns + kSamplePeriodNs;
    clock_.Recalibrate();
    encoder_.ClockChanged();
    SampleProcess(UINT64_MAX);
  }
  const bool wanted =
      (page_->wanted.load(std::memory_order_relaxed) & kWantedFlush) != 0;
  if (wanted) page_->wanted.fetch_and(~kWantedFlush, std::memory_order_relaxed);
  if (wanted || now_ns >= next_flush_ns_) FlushFile(now_ns);
}

void CollectorProcess::FlushFile(uint64_t now_ns) {
  next_flush_ns_ = now_ns + kFlushPeriodNs;
  encoder_.EndBatch();
  if (pages_ != nullptr) pages_->EndBatch(now_ns);
  writer_.Flush();
}

void CollectorProcess::SampleProcess(uint64_t latest_ns) {
  // What can be read may be the next program's.
  if (page_->exec_pending.load(std::memory_order_acquire) != 0) return;
  const uint64_t number = page_->next_number.load(std::memory_order_relaxed);
  // RSS and its time must belong together: again, where we were held up.
  bool changed = false;
  uint64_t now_ns = MonotonicNs();
  for (int tries = 0; tries < kSampleTries; ++tries) {
    const uint64_t before_ns = now_ns;
    changed |= stats_.Read(&sample_);
    now_ns = MonotonicNs();
    if (now_ns - before_ns < kPromptNs) break;
  }
  // A program that sleeps does not make its file grow.
  if (!changed && number == sampled_number_) return;
  sampled_number_ = number;
  encoder_.EndBatch();
  Record record;
  sample_.set_next_number(number);
  sample_.set_time_us(clock_.MicrosOfMonotonic(std::min(now_ns, latest_ns)));
  *record.mutable_process() = sample_;
  writer_.Write(record);
}

void CollectorProcess::Finish(ProcessWatch::State end, uint64_t now_ns) {
  clock_.Recalibrate();
  encoder_.ClockChanged();
  // What was published until now; threads that still run add nothing that
  // counts, so the number of events is taken before the rows. Two rings' worth
  // is more than all that can be there.
  const uint64_t events = page_->next_number.load(std::memory_order_acquire);
  for (int i = 0; i < 2 && Drain() > 0; ++i) Beat();
  encoder_.EndBatch();
  // While the program waits for us, it can still be asked about.
  if (pages_ != nullptr) pages_->Finish(now_ns);
  SampleProcess(now_ns);
  Record record;
  *record.mutable_footer() = MakeFooter(end, now_ns);
  record.mutable_footer()->set_events(
      std::max(events, encoder_.totals().next_number));
  writer_.WriteFooter(record);
  Answer(record.footer());
}

Footer CollectorProcess::MakeFooter(ProcessWatch::State end, uint64_t now_ns) {
  const RowTotals& totals = encoder_.totals();
  Footer footer;
  SetExit(end, &footer);
  const bool said = end == ProcessWatch::State::kSaidEnd;
  footer.set_end_us(
      clock_.MicrosOfMonotonic(said ? page_->end_monotonic_ns : now_ns));
  // All rows are safe before a footer follows them, or lost for good.
  writer_.Settle();
  footer.set_rows(writer_.rows_written());
  footer.set_lost_on_write(writer_.rows_lost());
  footer.set_dropped(page_->dropped.load(std::memory_order_acquire));
  footer.set_context_rows(writer_.context_rows_written());
  footer.set_own_bytes(said ? page_->own_bytes_end : 0);
  footer.set_last_rss_bytes(said ? page_->last_rss_bytes : 0);
  footer.set_max_rss_bytes(totals.max_rss_bytes);
  footer.set_max_rss_number(totals.max_rss_number);
  // Definitions may have been lost with their frame: then unknown.
  const bool whole = writer_.write_errno() == 0;
  footer.set_max_rss_site(whole ? totals.max_rss_site : 0);
  footer.set_max_rss_thread(whole ? totals.max_rss_thread : 0);
  footer.set_max_rss_us(totals.max_rss_us);
  footer.set_seen_max_rss_bytes(
      std::max<uint64_t>(totals.max_rss_bytes, page_->max_rss_bytes));
  // The kernel's high-water mark may lag behind what statm has shown.
  footer.set_hwm_bytes(
      std::max<uint64_t>({sample_.hwm_bytes(), said ? page_->end_hwm_bytes : 0,
                          footer.seen_max_rss_bytes()}));
  footer.set_clock_steps_back(totals.clock_steps_back);
  footer.set_worst_clock_step_back_ns(
      clock_.Nanos(totals.worst_clock_step_back));
  AddTracerFacts(*page_, &footer);
  if (pages_ != nullptr) pages_->AddToFooter(&footer);
  AddGaugeToFooter(*page_, &footer);
  if (totals.gauge_changes > 0) {
    *footer.mutable_gauge_change() = totals.gauge_change;
    footer.set_gauge_changes(totals.gauge_changes);
  }
  if (totals.peak.hwm_bytes() > footer.seen_max_rss_bytes()) {
    *footer.mutable_peak() = totals.peak;
  }
  footer.set_user_us(sample_.user_us());
  footer.set_system_us(sample_.system_us());
  return footer;
}

void CollectorProcess::SetExit(ProcessWatch::State end, Footer* footer) {
  if (end == ProcessWatch::State::kExec ||
      (end == ProcessWatch::State::kSaidEnd &&
       page_->end_reason == EndReason::kExec)) {
    footer->set_end(Footer::EXEC);
    return;
  }
  if (end == ProcessWatch::State::kSaidEnd) {
    footer->set_end(page_->end_reason == EndReason::kSignal ? Footer::SIGNAL
                                                            : Footer::EXIT);
    footer->set_exit_status(page_->exit_status);
    return;
  }
  footer->set_end(Footer::KILLED_OR_EXITED);
  // A zombie may still say it, whatever the kernel's age; 0 could also mean
  // that we may not know.
  int status = stats_.ZombieWaitStatus();
  if (status == 0) {
    const absl::optional<int> told = watch_.WaitStatus(kWaitForStatusMs);
    if (!told.has_value()) return;
    status = *told;
  }
  footer->set_end(WIFSIGNALED(status) ? Footer::SIGNAL : Footer::EXIT);
  footer->set_exit_status(WIFSIGNALED(status) ? WTERMSIG(status)
                                              : WEXITSTATUS(status));
}

void CollectorProcess::Answer(const Footer& footer) {
  EndReportInput input;
  input.header = launch_.header;
  input.footer = footer;
  input.file_name = launch_.output;
  input.file_bytes = writer_.file_bytes();
  DefinitionTable& names = encoder_.definitions();
  if (const Place* place = names.Kept(DefinitionTable::kHighestRss)) {
    input.highest = ReportPlace(*place);
  }
  const Place* peak = names.Kept(DefinitionTable::kPeak);
  if (peak != nullptr && footer.has_peak()) input.peak = ReportPlace(*peak);
  static_assert(sizeof(page_->report) >= kMaxEndReportBytes);
  const std::string text = EndReportText(input);
  const size_t bytes = std::min(text.size(), sizeof(page_->report));
  std::memcpy(page_->report, text.data(), bytes);
  page_->report_bytes = static_cast<uint32_t>(bytes);
  page_->write_errno = writer_.write_errno();
  page_->file_bytes = writer_.file_bytes();
  page_->rows_written = writer_.rows_written();
  page_->rows_lost_on_write = writer_.rows_lost();
  // Releases all of the above to the launcher, which acquires it.
  page_->done_state.store(1, std::memory_order_release);
  WakeSharedFutex(&page_->done_state);
}

}  // namespace pymemrun
