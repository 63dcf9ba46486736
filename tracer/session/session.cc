#include "tracer/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "tracer/base/clock.h"
#include "tracer/base/heap_inside.h"
#include "tracer/base/hot_state.h"
#include "tracer/base/own_memory.h"
#include "tracer/base/statm.h"
#include "tracer/code/own_stack.h"
#include "tracer/cpython/abilities.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/lifetime.h"
#include "tracer/gil/gil_hooks.h"
#include "tracer/heap/heap_hooks.h"
#include "tracer/heap/heap_parts.h"
#include "tracer/interpose/interposed.h"
#include "tracer/pages/page_events.h"
#include "tracer/ring/event_ring.h"
#include "tracer/ring/row_writer.h"
#include "tracer/ring/shared_region.h"
#include "tracer/ring/side_ring.h"
#include "tracer/session/begin_gil.h"
#include "tracer/session/collector_wait.h"
#include "tracer/session/counters.h"
#include "tracer/session/finalization.h"
#include "tracer/session/forks.h"
#include "tracer/session/parts.h"
#include "tracer/session/python_module.h"
#include "tracer/tasks/task_hooks.h"

namespace pymemrun {
namespace {

// A forked child keeps it: a pid that is not its own shows that it is one.
struct SessionState {
  ControlPage* page;
  pid_t pid;
  pid_t collector;        // 0: not known
  ClockPair first_start;  // likewise, of the process that pymemrun started
  uint64_t prepare_stamp;
  uint64_t prepare_ns;
  SayFunction say;
  const char* notice;           // see TraceConfig
  bool (*follow)(bool paused);  // likewise
  bool time_is_tsc;
  TraceSet traces;     // what is traced...
  bool paused;         // ...but not from the beginning
  bool sizes;          // of allocations are counted
  bool untraced;       // the collector did not start, and that was said
  bool begun;          // once, here or in the process that this was forked from
  bool shares_counts;  // with its children
  ChildCounts* firsts_counts;  // of the process that pymemrun started
  bool still_writing;
  std::atomic<bool> says_end;  // the one thread that does has begun
  PageCounters pages;          // open until the collector has them
  char line[512];
};
SessionState g_session = {};

// 50 us in time stamp units, by the rate since Prepare.
uint64_t StalenessInUnits(uint64_t stamp, uint64_t now_ns) {
  const uint64_t ns = now_ns - g_session.prepare_ns;
  if (ns == 0) return kStalenessNs;
  const double rate = static_cast<double>(stamp - g_session.prepare_stamp) /
                      static_cast<double>(ns);
  return static_cast<uint64_t>(rate * static_cast<double>(kStalenessNs));
}

void SayLine(const char* line) {
  if (g_session.say != nullptr) g_session.say(line, strlen(line));
}

// Tells the collector the facts of the start. start_state is stored last.
void TellStart(ControlPage* page, HotState& hot) {
  page->start.hears_gc_runs = Counters::hears_gc_runs() ? 1 : 0;
  page->start.free_threaded = IsFreeThreaded() ? 1 : 0;
  const ClockPair start = BothClocks(hot.time_is_tsc);
  page->start.tsc = start.stamp;
  page->start.monotonic_ns = start.monotonic_ns;
  page->start.realtime_ns = RealtimeNs();
  if (g_session.first_start.stamp == 0) g_session.first_start = start;
  hot.staleness = StalenessInUnits(page->start.tsc, page->start.monotonic_ns);
  hot.row_tsc = page->start.tsc;
  hot.row_number = ~uint64_t{0};
  hot.current_thread = ~0u;  // no thread has had an event
  // Last: in a forked child the tracer's code causes faults, too. Each of them
  // brings up to 16 pages.
  page->start.own_bytes = OwnMemory::ResidentBytes();
  page->start.since_fork_bytes = Forks::GrownPages() * page->page_bytes;
  page->start.first_rss_bytes = uint64_t{Statm::ReadAnew()} * page->page_bytes;
  PageEvents::StartStacks();
  page->start_state.store(1, std::memory_order_release);
  page->wake_collector.fetch_add(1, std::memory_order_release);
  WakeFutex(&page->wake_collector);
}

bool BeginInChild();

// What forked children inherit: the heap's hooks, and watches.
void InstallOnce() {
  if (g_session.begun) return g_heap.control.TellNow();
  g_session.begun = true;
  PymemrunPlaceFinalizeWatch();
  HeapHooks::Install();
  if (g_session.follow != nullptr) Forks::Follow(BeginInChild);
  g_parts.objects.WatchMoments();
  Counters::Start();
}

// Begins recording, right before the user's code. GIL held. Returns whether
// events are recorded now.
bool Begin() {
  ControlPage* page = g_session.page;
  HotState& hot = Hot();
  g_parts.codes.WatchDeaths();
  Interposed::WatchGil(PymemrunGilSwitchCond(), ProfileSlot::OnGilTaken);
  g_parts.threads.MakeKeys();
  // The collector of a child was started just now, so the child makes the
  // pages.
  if (g_session.begun) SharedRegion::TouchEventRing(page);
  if (!CollectorWait(page, g_session.collector).UntilReady()) {
    SayLine(
        "pymemrun: the collector did not start; the program runs untraced\n");
    g_session.untraced = true;
    return false;
  }
  if (g_session.notice != nullptr) SayLine(g_session.notice);
  if (!g_session.begun) SharedRegion::MapEventRing(page);
  TellStart(page, hot);
  hot.page = page;
  OwnStack::Allow();
  BeginGil(SayLine);
  // The sampler of a child may be at rest since its allocations after the fork.
  HeapSampler::DrawAnew();
  g_heap.samples.Record(!g_session.paused);
  if (g_session.sizes && !g_session.paused) g_parts.heap.GatherSizes();
  InstallOnce();
  g_parts.objects.TellCollector();
  const bool calls = g_session.traces.has(Trace::kCalls);
  if (!calls) g_parts.slot.NameThreads(!g_session.traces.has(Trace::kHeap));
  if (calls && !g_session.paused) return true;
  hot.rss_pages =
      static_cast<uint32_t>(page->start.first_rss_bytes / page->page_bytes);
  if (g_session.paused) g_parts.pauses.Begin(hot, calls);
  return false;
}

// Counts this child for its parent and the first process.
void CountInParents(ChildCounts* parents) {
  if (!g_session.shares_counts) return;  // as in the parent
  parents->traced.fetch_add(1, std::memory_order_relaxed);
  g_session.firsts_counts->all.fetch_add(1, std::memory_order_relaxed);
}

// Begins a session in a forked child. Until then its hooks only forward. GIL
// held. These allocations are the tracer's.
bool BeginInChild() {
  const HeapInside inside;
  ControlPage* const parents = g_session.page;
  if (parents == nullptr) return false;  // its session had ended
  const bool paused = g_parts.pauses.is_on();
  g_session.page = nullptr;
  g_heap.samples.Record(false);
  OwnStack::Forget();
  OwnMemory::ForgetTables(g_sampled_blocks.table(), &ReplyOf(parents));
  g_parts.Renew();
  if (!g_session.follow(paused)) {
    g_session.page = nullptr;
    return false;
  }
  CountInParents(ChildCountsOf(parents));
  return Begin();
}

// madvise on memory of the executable's own .bss: an anonymous mapping.
bool WipeHotPageOnFork() {
  return madvise(&g_hot_page, sizeof(g_hot_page), MADV_WIPEONFORK) == 0;
}

// Sends the end once: the first caller's reason counts.
void SendEnd(ControlPage* page, EndReason reason, int status) {
  if (g_session.says_end.exchange(true)) return;
  EndFacts& end = page->end;
  end.own_bytes = OwnMemory::ResidentBytes();
  end.hwm_bytes = Statm::ReadHwmPages() * page->page_bytes;
  end.max_rss_bytes = g_parts.gauge.max_rss_pages() * page->page_bytes;
  end.last_rss_bytes =
      static_cast<uint64_t>(RssPages(Hot().rss_pages)) * page->page_bytes;
  end.line_array_bytes = g_parts.cost.peak_line_array_bytes();
  end.frame_object_bytes = g_parts.cost.peak_frame_bytes();
  end.bound_object_bytes = g_parts.cost.peak_bound_bytes();
  end.reason = reason;
  end.exit_status = status;
  end.monotonic_ns = MonotonicNs();
  page->end_state.store(1, std::memory_order_release);
  page->wake_collector.fetch_add(1, std::memory_order_release);
  WakeFutex(&page->wake_collector);
}

// The program ends without exit handlers, so only the last scan is waited for.
// Async-signal-safe.
void TellExit(int status) {
  ControlPage* const page = Interposed::page();
  if (page->start_state.load(std::memory_order_relaxed) == 0) return;
  SendEnd(page, EndReason::kUnknown, status & 0xff);
  AwaitEndScan(page);
}

// Whether only this thread can write to the ring: it holds the GIL, or there is
// no interpreter any more.
bool NoOtherProducer() {
  return Py_IsInitialized() == 0 || (!kFreeThreaded && PyGILState_Check() == 1);
}

void ShareCounts(ControlPage* page) {
  g_session.shares_counts =
      g_session.follow != nullptr && SharedRegion::ShareChildCounts(page);
  if (g_session.firsts_counts == nullptr) {
    g_session.firsts_counts = ChildCountsOf(page);
  }
}

// Stores the configuration. `forked`: a parent has called Prepare() before.
void Remember(ControlPage* page, const TraceConfig* config, bool forked) {
  g_session.page = page;
  g_session.pid = getpid();
  g_session.collector = config->collector;
  g_session.say = config->say;
  g_session.notice = config->notice;
  g_session.follow = config->follow;
  g_session.untraced = g_session.still_writing = false;
  g_session.says_end = false;
  g_session.traces = config->traces;
  g_session.paused = config->paused;
  g_session.sizes = config->heap.mode == HeapMode::kStats;
  HotState& hot = Hot();
  hot.stall.say = config->say;
  hot.page_bytes = page->page_bytes;
  UseKernelsClock();
  if (!forked) g_session.time_is_tsc = TscIsInvariant();
  hot.time_is_tsc = g_session.time_is_tsc;
  page->traced_pid = static_cast<uint32_t>(g_session.pid);
  page->start.time_is_tsc = hot.time_is_tsc;
  page->tells_finalize = Finalization::Watch();
  g_session.prepare_stamp = TimeStamp(hot.time_is_tsc);
  g_session.prepare_ns = MonotonicNs();
}

// Opens the side ring if anything traced uses it.
bool StartSideRing(ControlPage* page, const TraceConfig& config) {
  const TraceSet traces = config.traces;
  GilHooks::Ask(traces.has(Trace::kGil) ? config.gil_min_wait_ns : 0);
  TaskHooks::Ask(traces.has(Trace::kTasks), traces.has(Trace::kCalls));
  return !traces.has_any(kSideTraces) ||
         (OwnStack::Create() && SideRing::Open(page));
}

// A forked child inherits the heap's hooks and the table of sampled blocks.
bool MakeTables(ControlPage* page, const TraceConfig* config, bool forked) {
  HotState& hot = Hot();
  g_parts.filters = Filters(config);
  hot.parts = g_parts.ForHooks();
  return g_parts.codes.Create(hot) && g_parts.log.Create(hot, config) &&
         WipeHotPageOnFork() && StartSideRing(page, *config) &&
         (forked || HeapHooks::Create(&config->heap, config->follow));
}

bool OpenGauge(ControlPage* page, const TraceConfig* config) {
  // Without call events RSS is not needed at each event.
  const GaugeSource source = !config->traces.has(Trace::kCalls) &&
                                     config->rss_source == GaugeSource::kAuto
                                 ? GaugeSource::kHints
                                 : config->rss_source;
  if (!g_parts.gauge.Open(Hot(), source)) return false;
  page->start.rss_source = g_parts.gauge.source();
  page->start.statm_step_pages = g_parts.gauge.statm_step_pages();
  memcpy(page->start.rss_source_reason, g_parts.gauge.reason(),
         strlen(g_parts.gauge.reason()) + 1);
  return true;
}

const char* Refused(const char* what, const char* why) {
  snprintf(g_session.line, sizeof(g_session.line), "%s: %s", what, why);
  return g_session.line;
}

}  // namespace

const PageCounters* Session::OpenPages(const PagePeriod& period,
                                       const char** why_not) {
  *why_not = g_session.line;
  const bool open = PageEvents::Open(period, &g_session.pages, g_session.line,
                                     sizeof(g_session.line));
  return open ? &g_session.pages : nullptr;
}

const char* Session::Prepare(ControlPage* page, const TraceConfig* config) {
  const bool forked = g_session.pid != 0;
  Remember(page, config, forked);
  if (!SharedRegion::KeepToOurselves(page)) {
    return "the shared region cannot be kept from children";
  }
  ShareCounts(page);
  pthread_mutex_lock(&page->alive);  // for the process's whole life
  if (!MakeTables(page, config, forked)) {
    return Refused("tables", strerror(errno));
  }
  if (config->traces.has(Trace::kPages)) PageEvents::Start(g_session.pages);
  if (!OpenGauge(page, config)) {
    return Refused("RSS source", g_parts.gauge.reason());
  }
  HotState& hot = Hot();
  hot.ring = reinterpret_cast<EventSlot*>(reinterpret_cast<char*>(page) +
                                          kControlBytes);
  hot.ring_mask = RingSlots(*page) - 1;
  OwnMemory::Add(&ReplyOf(page), SharedRegion::mapped_bytes());
  if (!Interposed::Enable(g_session.pid, page)) {
    return "the tracer's state cannot be kept from children";
  }
  Interposed::NoticeExec(config->say, config->exec_notice);
  Interposed::NoticeExit(TellExit);
  g_parts.file.Set(config->output);
  g_parts.objects.Set(*config);
  if (!config->paused) g_parts.file.Begin();
  if (forked) {
    g_parts.startup.Resume(hot);
    return nullptr;
  }
  Forks::Watch();
  PythonModule::Register(config);
  g_parts.startup.Watch(config, Begin);
  return nullptr;
}

ClockPair Session::EarlierClocks() {
  return g_session.time_is_tsc ? g_session.first_start : ClockPair{};
}

void Session::PrepareUntraced() { PythonModule::Register(nullptr); }

bool Session::Finish(EndReason reason, int status, int timeout_ms) {
  ControlPage* page = g_session.page;
  if (page == nullptr || !InTracedProcess()) return false;
  g_session.page = nullptr;
  HotState& hot = Hot();
  if (NoOtherProducer()) {
    if (hot.page != nullptr) {
      g_parts.objects.Settle();
      g_parts.gaps.Flush(hot);
      g_parts.pauses.Flush(hot);
      FlushLoss(hot);
    }
    hot.page = nullptr;
  } else {
    // exit() by C code while other threads run Python: one may be inside a hook
    // and continues until the process ends. From now on no thread waits for
    // room.
    page->on_full = OnFull::kDrop;
  }
  Interposed::Disable();
  PageEvents::Stop();
  SideRing::Close();
  SendEnd(page, reason, status);
  return CollectorWait(page, g_session.collector)
      .UntilComplete(hot.stall, static_cast<uint64_t>(timeout_ms) * 1000000,
                     &g_session.still_writing);
}

bool Session::InTracedProcess() {
  // Wiped in forked children, shared with vfork children.
  return Interposed::page() != nullptr && getpid() == g_session.pid;
}

bool Session::EndsByInterrupt() {
  return InTracedProcess() && PymemrunInterruptIsUnhandled() != 0;
}

bool Session::still_writing() { return g_session.still_writing; }

bool Session::untraced() { return g_session.untraced; }

uint64_t Session::LostRows() {
  ControlPage* page = Interposed::page();
  if (page == nullptr) return 0;
  if (!RingCollectorIsGone(page)) {
    return page->dropped.load(std::memory_order_relaxed);
  }
  return g_parts.log.RowsMade(Hot(), *page) -
         ReplyOf(page).rows_in_file.load(std::memory_order_acquire);
}

}  // namespace pymemrun
