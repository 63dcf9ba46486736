#include "collector/session/collector_process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "collector/process/monotonic_clock.h"
#include "collector/session/run_end.h"
#include "format/lock/writer_lock.h"
#include "format/trace.pb.h"

namespace pymemrun {
namespace {

// If the collector dies with the program, at most 250 ms are missing: the
// flush's own period, a nap, and the time to write.
constexpr uint64_t kFlushPeriodNs = 150000000;
constexpr uint64_t kSamplePeriodNs = 250000000;
constexpr uint64_t kSampleAgainNs = 10000000;
// While events flow, the ring is left to fill for this long, then emptied in
// one go. A producer wakes the collector when a quarter is full.
constexpr uint32_t kShortestNapUs = 2000;
constexpr uint32_t kLongestNapUs = 40000;
constexpr uint32_t kStartNapUs = 2000;  // or until the program wakes us
constexpr size_t kBusySlots = 4096;
// Bytes of source files read each time that the process is sampled.
constexpr size_t kSourceBytes = size_t{2} << 20;
constexpr uint64_t kLastSourcesNs = 1000000000;

// A pair from long before is better: with a short interval ClockScale::Start()
// has to wait before it can measure.
ClockScale::Pair EarlierClocks(const LaunchText& launch) {
  if (launch.earlier_tsc == 0) return ClockScale::Measure();
  return {launch.earlier_tsc, launch.earlier_monotonic_ns};
}

}  // namespace

DumpAsker::DumpAsker(const DumpWishes& wishes, const Parts& parts)
    : in_(parts),
      moments_(wishes),
      orders_(parts.page, parts.reply, [fd = parts.pid_fd] {
        syscall(SYS_pidfd_send_signal, fd, kDumpSignal, nullptr, 0);
      }) {}

void DumpAsker::Ask(uint64_t now_ns, uint64_t rss_bytes) {
  const absl::optional<DumpReason> due = moments_.Due(now_ns, rss_bytes);
  if (due.has_value()) orders_.Ask(*due, now_ns);
  if (DumpOrders::WasAsked()) orders_.Ask(DumpReason::kOutside, now_ns);
  orders_.Follow(now_ns);
  if (!orders_.IsRefused()) return;
  orders_.Drop();
  Record record;
  ObjectsUnderWay* const answer = record.mutable_objects_under_way();
  answer->set_time_us(in_.clock->MicrosOfMonotonic(MonotonicNs()));
  answer->set_problem("objects of this version of Python cannot be dumped");
  in_.out->Write(record);
}

absl::StatusOr<std::unique_ptr<CollectorProcess>> CollectorProcess::Create(
    const CollectorFds& fds) {
  auto memory = SharedMemory::Map(fds.region, fds.reply);
  if (!memory.ok()) return memory.status();
  std::unique_ptr<CollectorProcess> collector(
      new CollectorProcess(*std::move(memory), fds, ReadLaunchText(fds.text)));
  const absl::Status opened = collector->Open(fds.first_page);
  if (!opened.ok()) return opened;
  return collector;
}

absl::Status CollectorProcess::Open(int first_fd) {
  // Without descriptors of perf events there are no faults and no switches.
  if (first_fd < 0) {
    launch_.traces.Set(Trace::kPages, false);
    launch_.state_events = 0;
  }
  auto sources = OpenSources({{page_, pid_, page_bytes_, &clock_,
                               &encoder_.definitions(), &side_, &writer_},
                              &launch_,
                              first_fd,
                              &encoder_,
                              &merger_});
  if (sources.ok()) sources_ = *std::move(sources);
  return sources.status();
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
      side_(page_, reply_, pid_, &encoder_.definitions(), &writer_),
      watch_(page_, pid_, fds.region, fds.pid),
      sampler_({page_, pid_, page_bytes_, &launch_, &clock_, &encoder_,
                &writer_, &side_}),
      dumps_(launch_.dumps, {page_, reply_, fds.pid, &clock_, &writer_}) {}

// The sign of life says that the collector is ready. Every loop beats, because
// the program gives up after 2 s without a beat.
void CollectorProcess::Run() {
  Beat();
  memory_->ShowLife();
  // A forked child touches the pages itself at the same time.
  if (!launch_.header.forked()) memory_->MakePages();
  ProcessWatch::State end = WaitForStart();
  if (end == ProcessWatch::State::kRunning) end = CollectUntilEnd();
  Finish(end, MonotonicNs());
}

void CollectorProcess::Beat() {
  reply_->heartbeat.fetch_add(1, std::memory_order_relaxed);
}

// The file begins with the header, and the header needs facts of the start.
// Until then sources keep their events in memory.
ProcessWatch::State CollectorProcess::WaitForStart() {
  auto state = ProcessWatch::State::kRunning;
  bool started = false;
  while (true) {
    // In this order: a process that starts and ends at once has started.
    state = watch_.Check();
    started = page_->start_state.load(std::memory_order_acquire) != 0;
    if (started || state != ProcessWatch::State::kRunning) break;
    for (const auto& source : sources_) source->Keep(MonotonicNs());
    // Resident pages are scanned when the start is seen, so it must be seen
    // soon.
    const bool asks =
        launch_.traces.has(Trace::kPages) || launch_.header.page_scan();
    ring_.Wait(asks ? kStartNapUs : kLongestNapUs / 4, 0);
    Beat();
  }
  BeginFile(started);
  return state;
}

// Order in the file: header, then what describes each source, then events.
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
  for (const auto& source : sources_) {
    source->Describe(launch_.header.start_monotonic_ns());
  }
  side_.Start();
  for (const auto& source : sources_) source->Start();
  sampler_.WriteCounterPlan();
  writer_.Flush();
  next_flush_ns_ = MonotonicNs() + kFlushPeriodNs;
}

// One round: drain all rings, answer the program, do what is due, sleep.
ProcessWatch::State CollectorProcess::CollectUntilEnd() {
  uint32_t nap_us = kShortestNapUs;
  while (true) {
    Beat();
    const uint64_t looked_ns = MonotonicNs();
    size_t drained = merger_.Drain(/*last=*/false);
    for (const auto& source : sources_) drained += source->Round(looked_ns);
    AnswerFinalize();
    Housekeep(MonotonicNs());
    const ProcessWatch::State state = watch_.Check();
    if (state != ProcessWatch::State::kRunning) return state;
    Nap(drained, &nap_us);
  }
}

// The program's own code has ended, and the program waits for the last scan.
void CollectorProcess::AnswerFinalize() {
  const uint64_t time_ns = page_->finalize_ns.load(std::memory_order_acquire);
  if (answered_finalize_ || time_ns == 0) return;
  answered_finalize_ = true;
  for (const auto& source : sources_) source->ProgramEnded(time_ns);
  LetGo();
}

// Tells the program that the resident pages at the end are known.
void CollectorProcess::LetGo() {
  reply_->end_scans.store(1, std::memory_order_release);
  WakeProducers(reply_);
}

// The pause doubles while little comes. Event slots wake the collector, the
// kernel's rings do not.
void CollectorProcess::Nap(size_t drained, uint32_t* nap_us) {
  *nap_us = drained >= kBusySlots ? kShortestNapUs
                                  : std::min(2 * *nap_us, kLongestNapUs);
  // No wake comes when the rings of the kernel fill.
  for (const auto& source : sources_) {
    *nap_us = std::min(*nap_us, source->longest_nap_us());
  }
  const uint64_t head = ring_.Look();  // which may move the tail
  const uint64_t quarter = ring_.size() / 4;
  if (head - ring_.tail() < quarter) {
    ring_.Wait(sampler_.UsUntilDue(*nap_us), quarter);
  }
}

// Periodic work. A sample without a valid RSS is repeated sooner.
void CollectorProcess::Housekeep(uint64_t now_ns) {
  for (const auto& source : sources_) {
    if (source->TakeWantsSample()) sampler_.Sample(UINT64_MAX);
  }
  sampler_.WriteFinalizeRss();
  if (now_ns >= next_sample_ns_) {
    clock_.Recalibrate();
    encoder_.ClockChanged();
    ReadSources();
    const bool has_rss = sampler_.Sample(UINT64_MAX);
    next_sample_ns_ = now_ns + (has_rss ? kSamplePeriodNs : kSampleAgainNs);
  }
  sampler_.Follow(now_ns);
  dumps_.Ask(now_ns, sampler_.last().rss_bytes());
  if (now_ns >= next_flush_ns_) FlushFile(now_ns);
}

bool CollectorProcess::ReadSources() {
  return encoder_.definitions().sources().Read(
      clock_.MicrosOfMonotonic(MonotonicNs()), kSourceBytes);
}

void CollectorProcess::FlushFile(uint64_t now_ns) {
  next_flush_ns_ = now_ns + kFlushPeriodNs;
  encoder_.EndBatch();
  for (const auto& source : sources_) source->EndBatch(now_ns);
  writer_.Flush();
}

void CollectorProcess::Finish(ProcessWatch::State end, uint64_t now_ns) {
  SetWriting(output_fd_, Writing::kFinishing);
  clock_.Recalibrate();
  encoder_.ClockChanged();
  // The number is read before the rings, because threads that still run must
  // not add to it. Two rings' worth is more than can have been published by
  // now.
  const uint64_t events = page_->next_number.load(std::memory_order_acquire);
  for (int i = 0; i < 2 && merger_.Drain(/*last=*/true) > 0; ++i) Beat();
  encoder_.EndBatch();
  const bool lives = end == ProcessWatch::State::kSaidEnd;
  for (const auto& source : sources_) source->Finish(now_ns, lives);
  sampler_.WriteFinalizeRss();
  if (!lives) sampler_.WriteLastLook();
  if (end == ProcessWatch::State::kExec) sampler_.WriteExecRss(now_ns);
  sampler_.Sample(now_ns, sampler_.has_counters());
  LetGo();
  // The program waits for the footer, so source files on a slow disk may be
  // left out.
  const uint64_t last_ns = MonotonicNs() + kLastSourcesNs;
  while (ReadSources() && MonotonicNs() < last_ns) Beat();
  encoder_.definitions().sources().Write(&writer_);
  if (encoder_.refused_counters() != 0) sampler_.WriteCounterPlan();
  RunEnd({.page = page_,
          .reply = reply_,
          .launch = &launch_,
          .output_fd = output_fd_,
          .page_bytes = page_bytes_,
          .clock = &clock_,
          .encoder = &encoder_,
          .sources = &sources_,
          .writer = &writer_,
          .watch = &watch_,
          .stats = sampler_.stats(),
          .sample = &sampler_.last()})
      .Write(end, now_ns, events);
}

}  // namespace pymemrun
