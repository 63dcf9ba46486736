#include "collector/session/collector_process.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "collector/process/detach.h"
#include "collector/process/monotonic_clock.h"
#include "collector/session/run_end.h"
#include "format/lock/writer_lock.h"

namespace pymemrun {
namespace {

// If the collector dies with the program, at most 250 ms are missing: the
// flush's own period, a nap, and the time to write.
constexpr uint64_t kFlushPeriodNs = 150000000;
constexpr uint64_t kSamplePeriodNs = 250000000;
constexpr uint64_t kSampleAgainNs = 10000000;
// While events flow the ring is left to fill for so long, then emptied at once.
// A producer in a hurry wakes us when a quarter is full.
constexpr uint32_t kShortestNapUs = 2000;
constexpr uint32_t kLongestNapUs = 40000;
constexpr uint32_t kLongestSideNapUs = 10000;  // the side ring is small
constexpr uint32_t kStartNapUs = 2000;         // or until the program wakes us
constexpr size_t kBusySlots = 4096;
// Of source files, each time that the process is sampled.
constexpr size_t kSourceBytes = size_t{2} << 20;
constexpr uint64_t kLastSourcesNs = 1000000000;

// From long before is better: the shorter the interval since, the longer the
// clock measures before it knows a time stamp's rate.
ClockScale::Pair EarlierClocks(const LaunchText& launch) {
  if (launch.earlier_tsc == 0) return ClockScale::Measure();
  return {launch.earlier_tsc, launch.earlier_monotonic_ns};
}

}  // namespace

absl::StatusOr<std::unique_ptr<CollectorProcess>> CollectorProcess::Create(
    const CollectorFds& fds) {
  auto memory = SharedMemory::Map(fds.region, fds.reply);
  if (!memory.ok()) return memory.status();
  std::unique_ptr<CollectorProcess> collector(
      new CollectorProcess(*std::move(memory), fds, ReadLaunchText(fds.text)));
  // First: it takes little of what a user may lock, and pages take the rest.
  collector->OpenStates(fds.first_page);
  const absl::Status opened = collector->OpenPageEvents(fds.first_page);
  if (!opened.ok()) return opened;
  collector->OpenHeapEvents();
  collector->OpenPageScan();
  collector->OpenSampler();
  collector->OpenGilEvents();
  collector->OpenTasks();
  return collector;
}

void CollectorProcess::OpenSideRing() {
  if (side_ != nullptr) return;
  side_ = std::make_unique<SideItems>(page_, reply_, pid_,
                                      &encoder_.definitions(), &writer_);
  AskToWakePromptly();
}

void CollectorProcess::OpenHeapEvents() {
  if (launch_.header.heap() == HEAP_OFF) return;
  OpenSideRing();
  heap_ = std::make_unique<HeapCollector>(
      HeapCollector::Options{page_, pid_, side_.get(), &merger_, &clock_,
                             &encoder_.definitions(), &writer_});
  merger_.set_events(side_.get(), heap_.get(),
                     /*merges=*/launch_.header.heap() == HEAP_ALL);
  side_->set_heap(heap_.get());
  encoder_.set_heap(heap_.get());
}

// Behind all that it knows of.
void CollectorProcess::OpenSampler() {
  sampler_ = std::make_unique<ProcessSampler>(
      ProcessSampler::Parts{.page = page_,
                            .pid = pid_,
                            .page_bytes = page_bytes_,
                            .launch = &launch_,
                            .clock = &clock_,
                            .encoder = &encoder_,
                            .writer = &writer_,
                            .heap = heap_.get(),
                            .side = side_.get(),
                            .has_pages = pages_ != nullptr});
}

void CollectorProcess::OpenPageScan() {
  if (!launch_.header.page_scan() || pages_ != nullptr) return;
  OpenSideRing();
  scanner_ = std::make_unique<PageScanner>(
      PageScanner::Options{.page = page_,
                           .pid = pid_,
                           .page_bytes = page_bytes_,
                           .clock = &clock_,
                           .side = side_.get(),
                           .out = &writer_});
  side_->set_files(scanner_.get());
}

void CollectorProcess::OpenGilEvents() {
  if (launch_.gil_min_wait_ns == 0) return;
  OpenSideRing();
  gil_ = std::make_unique<GilCollector>(
      GilCollector::Options{page_, pid_, launch_.gil_min_wait_ns, side_.get(),
                            &clock_, &encoder_.definitions(), &writer_});
}

void CollectorProcess::OpenTasks() {
  if (!launch_.has_tasks) return;
  OpenSideRing();
  tasks_ = std::make_unique<TaskCollector>(TaskCollector::Options{
      page_, pid_, side_.get(), &clock_, &encoder_.definitions(), &writer_});
}

// Their events are behind those of pages.
void CollectorProcess::OpenStates(int first_fd) {
  if (!launch_.has_states) return;
  const uint32_t others = launch_.page_counters + launch_.page_signals;
  states_ = std::make_unique<StateCollector>(
      StateCollector::Options{.pid = pid_,
                              .first_fd = first_fd + static_cast<int>(others),
                              .events = first_fd < 0 ? 0 : launch_.state_events,
                              .reason = launch_.states_reason,
                              .clock = &clock_,
                              .definitions = &encoder_.definitions(),
                              .out = &writer_});
}

absl::Status CollectorProcess::OpenPageEvents(int first_fd) {
  if (!launch_.has_pages || first_fd < 0) return absl::OkStatus();
  OpenSideRing();
  auto pages = PageCollector::Create(
      {.page = page_,
       .pid = pid_,
       .page_bytes = page_bytes_,
       .first_fd = first_fd,
       .counters = launch_.page_counters,
       .signals = launch_.page_signals,
       .weight = std::max(launch_.header.page_weight(), 1u),
       .forked = launch_.header.forked(),
       .seed = PageSampler::RandomSeed(),
       .clock = &clock_,
       .definitions = &encoder_.definitions(),
       .side = side_.get(),
       .out = &writer_});
  if (!pages.ok()) return pages.status();
  pages_ = *std::move(pages);
  side_->set_pages(pages_.get());
  side_->set_files(pages_.get());
  return absl::OkStatus();
}

CollectorProcess::CollectorProcess(std::unique_ptr<SharedMemory> memory,
                                   const CollectorFds& fds, LaunchText launch)
    : memory_(std::move(memory)),
      page_(memory_->page()),
      reply_(memory_->reply()),
      launch_(std::move(launch)),
      output_fd_(fds.output),
      pid_(static_cast<pid_t>(launch_.header.pid())),
      page_bytes_(static_cast<uint32_t>(sysconf(_SC_PAGESIZE))),
      earlier_(EarlierClocks(launch_)),
      writer_(
          fds.output, launch_.compress_level, [this] { Beat(); },
          [reply = reply_](uint64_t rows) {
            // Read by the launcher when this process is gone.
            reply->rows_in_file.store(rows, std::memory_order_release);
          }),
      encoder_(page_bytes_, &clock_, &writer_),
      ring_(page_, memory_->slots(), reply_),
      merger_(&ring_, &encoder_),
      watch_(page_, pid_, fds.region, fds.pid),
      dumps_(launch_.dumps, {page_, reply_, fds.pid, &clock_, &writer_}) {}

void CollectorProcess::Run() {
  Beat();
  memory_->ShowLife();
  // A forked child makes them itself, at the same time.
  if (!launch_.header.forked()) memory_->MakePages();
  ProcessWatch::State end = WaitForStart();
  if (end == ProcessWatch::State::kRunning) end = CollectUntilEnd();
  Finish(end, MonotonicNs());
}

void CollectorProcess::Beat() {
  reply_->heartbeat.fetch_add(1, std::memory_order_relaxed);
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
    if (side_ != nullptr) side_->Drain(MonotonicNs(), false);
    if (pages_ != nullptr) pages_->Drain(MonotonicNs());
    if (states_ != nullptr) states_->Drain(MonotonicNs());
    // What is resident at the start is asked when it is seen.
    if (pages_ != nullptr || scanner_ != nullptr) nap_us = kStartNapUs;
    ring_.Wait(nap_us, 0);
    Beat();
  }
  BeginFile(started);
  return state;
}

void CollectorProcess::BeginFile(bool started) {
  StartFacts facts = {};
  if (started) std::memcpy(&facts, &page_->start, sizeof(facts));
  AddStartToHeader(started ? &facts : nullptr, page_bytes_, &launch_.header);
  const ClockScale::Pair start = {facts.tsc,
                                  launch_.header.start_monotonic_ns()};
  const bool time_is_tsc = facts.time_is_tsc != 0;
  clock_.Start(time_is_tsc, start, earlier_);
  encoder_.Start(time_is_tsc ? start.tsc : start.monotonic_ns);
  Record record;
  *record.mutable_header() = launch_.header;
  writer_.Write(record);
  encoder_.definitions().sources().Start(launch_.header.cwd(),
                                         launch_.store_source, pid_);
  if (heap_ != nullptr) heap_->Start(launch_.heap_rates);
  if (gil_ != nullptr) gil_->Start();
  if (tasks_ != nullptr) tasks_->Start();
  if (side_ != nullptr) side_->Start();
  if (states_ != nullptr) states_->Start(launch_.header.start_monotonic_ns());
  if (pages_ != nullptr) pages_->Start(MonotonicNs());
  if (scanner_ != nullptr) scanner_->Ask();
  sampler_->WriteCounterPlan();
  writer_.Flush();
  next_flush_ns_ = MonotonicNs() + kFlushPeriodNs;
}

ProcessWatch::State CollectorProcess::CollectUntilEnd() {
  uint32_t nap_us = kShortestNapUs;
  while (true) {
    Beat();
    const uint64_t looked_ns = MonotonicNs();
    size_t drained = merger_.Drain(/*last=*/false);
    if (pages_ != nullptr) drained += pages_->Drain(MonotonicNs());
    if (gil_ != nullptr) {
      const bool drains = heap_ == nullptr && pages_ == nullptr;
      drained += gil_->Round(looked_ns, drains);
    }
    if (tasks_ != nullptr) {
      const bool drains =
          heap_ == nullptr && pages_ == nullptr && gil_ == nullptr;
      drained += tasks_->Round(looked_ns, drains);
    }
    if (states_ != nullptr) drained += states_->Drain(MonotonicNs());
    AnswerFinalize();
    if (scanner_ != nullptr) scanner_->AskIfDue(MonotonicNs());
    Housekeep(MonotonicNs());
    const ProcessWatch::State state = watch_.Check();
    if (state != ProcessWatch::State::kRunning) return state;
    Nap(drained, &nap_us);
  }
}

// The program's own code has ended, and waits.
void CollectorProcess::AnswerFinalize() {
  const uint64_t time_ns = page_->finalize_ns.load(std::memory_order_acquire);
  if (answered_finalize_ || time_ns == 0) return;
  answered_finalize_ = true;
  if (pages_ != nullptr) pages_->AskAsOf(time_ns);
  if (scanner_ != nullptr) scanner_->AskAsOf(time_ns);
  LetGo();
}

// What is resident at the end is known.
void CollectorProcess::LetGo() {
  reply_->end_scans.store(1, std::memory_order_release);
  WakeProducers(reply_);
}

void CollectorProcess::Nap(size_t drained, uint32_t* nap_us) {
  *nap_us = drained >= kBusySlots ? kShortestNapUs
                                  : std::min(2 * *nap_us, kLongestNapUs);
  // Nobody wakes us when the kernel's rings fill.
  if (pages_ != nullptr) *nap_us = std::min(*nap_us, pages_->longest_nap_us());
  if (states_ != nullptr) {
    *nap_us = std::min(*nap_us, states_->longest_nap_us());
  }
  if (side_ != nullptr) *nap_us = std::min(*nap_us, kLongestSideNapUs);
  const uint64_t head = ring_.Look();  // which may move the tail
  const uint64_t quarter = ring_.size() / 4;
  if (head - ring_.tail() < quarter) {
    ring_.Wait(sampler_->UsUntilDue(*nap_us), quarter);
  }
}

void CollectorProcess::Housekeep(uint64_t now_ns) {
  if (pages_ != nullptr && pages_->TakeRssHasMoved())
    sampler_->Sample(UINT64_MAX);
  sampler_->WriteFinalizeRss();
  if (now_ns >= next_sample_ns_) {
    clock_.Recalibrate();
    encoder_.ClockChanged();
    ReadSources();
    const bool has_rss = sampler_->Sample(UINT64_MAX);
    next_sample_ns_ = now_ns + (has_rss ? kSamplePeriodNs : kSampleAgainNs);
  }
  sampler_->Follow(now_ns);
  dumps_.Ask(now_ns, sampler_->last().rss_bytes());
  if (now_ns >= next_flush_ns_) FlushFile(now_ns);
}

bool CollectorProcess::ReadSources() {
  return encoder_.definitions().sources().Read(
      clock_.MicrosOfMonotonic(MonotonicNs()), kSourceBytes);
}

void CollectorProcess::FlushFile(uint64_t now_ns) {
  next_flush_ns_ = now_ns + kFlushPeriodNs;
  encoder_.EndBatch();
  if (pages_ != nullptr) pages_->EndBatch(now_ns);
  if (heap_ != nullptr) heap_->EndBatch(now_ns);
  if (gil_ != nullptr) gil_->EndBatch(now_ns);
  if (tasks_ != nullptr) tasks_->EndBatch(now_ns);
  if (states_ != nullptr) states_->EndBatch(now_ns);
  writer_.Flush();
}

void CollectorProcess::Finish(ProcessWatch::State end, uint64_t now_ns) {
  SetWriting(output_fd_, Writing::kFinishing);
  clock_.Recalibrate();
  encoder_.ClockChanged();
  // What was published until now; threads that still run add nothing that
  // counts, so the number of events is taken before the rows. Two rings' worth
  // is more than all that can be there.
  const uint64_t events = page_->next_number.load(std::memory_order_acquire);
  for (int i = 0; i < 2 && merger_.Drain(/*last=*/true) > 0; ++i) Beat();
  encoder_.EndBatch();
  // While the program waits for us, it can still be asked about.
  if (pages_ != nullptr) pages_->Finish(now_ns);
  if (scanner_ != nullptr) scanner_->Ask();
  if (heap_ != nullptr) heap_->Finish(now_ns);
  if (gil_ != nullptr) {
    gil_->Finish(now_ns, end == ProcessWatch::State::kSaidEnd);
  }
  if (tasks_ != nullptr) {
    tasks_->Finish(now_ns, end == ProcessWatch::State::kSaidEnd);
  }
  if (states_ != nullptr) states_->Finish(now_ns);
  sampler_->WriteFinalizeRss();
  if (end != ProcessWatch::State::kSaidEnd) sampler_->WriteLastLook();
  if (end == ProcessWatch::State::kExec) sampler_->WriteExecRss(now_ns);
  sampler_->Sample(now_ns, sampler_->has_counters());
  LetGo();
  // The program waits, so files on a slow disk may be left out.
  const uint64_t last_ns = MonotonicNs() + kLastSourcesNs;
  while (ReadSources() && MonotonicNs() < last_ns) Beat();
  encoder_.definitions().sources().Write(&writer_);
  if (encoder_.refused_counters() != 0) sampler_->WriteCounterPlan();
  RunEnd({.page = page_,
          .reply = reply_,
          .launch = &launch_,
          .output_fd = output_fd_,
          .page_bytes = page_bytes_,
          .clock = &clock_,
          .encoder = &encoder_,
          .pages = pages_.get(),
          .heap = heap_.get(),
          .writer = &writer_,
          .watch = &watch_,
          .stats = sampler_->stats(),
          .sample = &sampler_->last()})
      .Write(end, now_ns, events);
}

}  // namespace pymemrun
