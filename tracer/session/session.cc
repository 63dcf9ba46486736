#include "tracer/session/session.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/base/own_memory.h"
#include "tracer/base/statm.h"
#include "tracer/code/own_stack.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/lifetime.h"
#include "tracer/heap/heap_hooks.h"
#include "tracer/heap/heap_parts.h"
#include "tracer/interpose/interposed.h"
#include "tracer/pages/page_events.h"
#include "tracer/ring/event_ring.h"
#include "tracer/ring/row_writer.h"
#include "tracer/ring/shared_region.h"
#include "tracer/ring/side_ring.h"
#include "tracer/session/finalization.h"
#include "tracer/session/parts.h"
#include "tracer/session/python_module.h"

namespace pymemrun {
namespace {

// The collector has had the interpreter's whole start-up to get ready; past
// this it is taken for dead.
constexpr uint64_t kCollectorReadyNs = 2'000'000'000;
// A collector whose heart does not beat for so long is stuck: the program's end
// waits no longer than a full ring does.
constexpr uint64_t kSilenceNs = 2'000'000'000;

// Survives in a forked child on purpose: it is how the child is told apart.
struct SessionState {
  ControlPage* page;
  pid_t pid;
  pid_t collector;  // 0: not known
  uint64_t prepare_stamp;
  uint64_t prepare_ns;
  SayFunction say;
  const char* notice;  // see TraceConfig
  bool calls;          // are traced...
  bool paused;         // ...but not from the beginning
  bool sizes;          // of allocations are counted
  bool untraced;       // the collector did not start, and that was said
  bool still_writing;
  PageCounters pages;  // open until the collector has them
  char line[512];
};
SessionState g_session = {};

void FutexWake(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void FutexWait(const std::atomic<uint32_t>* word, uint32_t seen, uint64_t ns) {
  const timespec timeout = {static_cast<time_t>(ns / 1000000000),
                            static_cast<long>(ns % 1000000000)};
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

// Whether a process that is no child of ours is over; also when nobody reaps
// it.
bool HasEnded(pid_t pid) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd end = {.fd = fd, .events = POLLIN, .revents = 0};
  const bool has_ended = poll(&end, 1, 0) > 0;
  syscall(SYS_close, fd);
  return has_ended;
}

// Also one that ended before it was ready, for lack of memory for instance.
bool CollectorIsGone(const ControlPage* page) {
  if (ReplyOf(page).collector_pid.load(std::memory_order_acquire) != 0) {
    return RingCollectorIsGone(page);
  }
  return g_session.collector != 0 && HasEnded(g_session.collector);
}

bool WaitForCollector(const ControlPage* page) {
  const ReplyPage& reply = ReplyOf(page);
  const uint64_t give_up = MonotonicNs() + kCollectorReadyNs;
  while (reply.collector_pid.load(std::memory_order_acquire) == 0) {
    if (MonotonicNs() >= give_up || CollectorIsGone(page)) return false;
    const timespec nap = {0, 200'000};
    nanosleep(&nap, nullptr);
  }
  return true;
}

// Time stamp units in 50 us, from the time since Prepare.
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

// The moment before the user's code. GIL.
bool Begin() {
  ControlPage* page = g_session.page;
  HotState& hot = Hot();
  g_parts.codes.WatchDeaths();
  PymemrunPlaceFinalizeWatch();
  Interposed::WatchGil(PymemrunGilSwitchCond(), ProfileSlot::OnGilTaken);
  g_parts.threads.MakeKeys();
  if (!WaitForCollector(page)) {
    SayLine(
        "pymemrun: the collector did not start; the program runs untraced\n");
    g_session.untraced = true;
    return false;
  }
  if (g_session.notice != nullptr) SayLine(g_session.notice);
  SharedRegion::TouchEventRing(page);
  page->start.own_bytes = OwnMemory::ResidentBytes();
  page->start.first_rss_bytes = uint64_t{Statm::ReadAnew()} * page->page_bytes;
  const ClockPair start = BothClocks(hot.time_is_tsc);
  page->start.tsc = start.stamp;
  page->start.monotonic_ns = start.monotonic_ns;
  page->start.realtime_ns = RealtimeNs();
  hot.staleness = StalenessInUnits(page->start.tsc, page->start.monotonic_ns);
  hot.row_tsc = page->start.tsc;
  hot.row_number = ~uint64_t{0};
  hot.current_thread = ~0u;  // no thread has had an event
  PageEvents::StartStacks();
  page->start_state.store(1, std::memory_order_release);
  FutexWake(&page->start_state);
  hot.page = page;
  OwnStack::Allow();
  g_heap.samples.Record(!g_session.paused);
  if (g_session.sizes && !g_session.paused) g_parts.heap.GatherSizes();
  HeapHooks::Install();
  if (!g_session.calls) g_parts.slot.NameThreads();
  if (g_session.calls && !g_session.paused) return true;
  hot.rss_pages =
      static_cast<uint32_t>(page->start.first_rss_bytes / page->page_bytes);
  if (g_session.paused) g_parts.pauses.Begin(hot, g_session.calls);
  return false;
}

// Children are not traced; the end report says how many there were.
void CountFork() {
  HotState& hot = Hot();
  if (hot.page != nullptr) {
    hot.page->untraced_children.fetch_add(1, std::memory_order_relaxed);
  }
  PageEvents::Forked();
}

// madvise on memory of the executable's own .bss: an anonymous mapping.
bool WipeHotPageOnFork() {
  return madvise(&g_hot_page, sizeof(g_hot_page), MADV_WIPEONFORK) == 0;
}

void SendEnd(ControlPage* page, EndReason reason, int status) {
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
  FutexWake(&page->wake_collector);
}

// Whether the ring has no producer but the calling thread: it holds the GIL, or
// the interpreter is gone.
bool NoOtherProducer() {
#ifdef Py_GIL_DISABLED
  return Py_IsInitialized() == 0;
#endif
  return Py_IsInitialized() == 0 || PyGILState_Check() == 1;
}

// Whether the collector said within `timeout_ns` that the file is complete.
// Does not wait for one that is gone or stuck.
bool WaitForFooter(const ControlPage* page, uint64_t timeout_ns) {
  const ReplyPage& reply = ReplyOf(page);
  uint64_t now = MonotonicNs();
  const uint64_t give_up = now + timeout_ns;
  // After a stall that timed out the program has waited enough.
  uint64_t beat_ns = RingGaveUp(Hot().stall, page) ? now - kSilenceNs : now;
  uint32_t beat = reply.heartbeat.load(std::memory_order_relaxed);
  while (reply.done_state.load(std::memory_order_acquire) == 0) {
    now = MonotonicNs();
    const uint32_t seen = reply.heartbeat.load(std::memory_order_relaxed);
    if (seen != beat) beat_ns = now;
    beat = seen;
    if (now - beat_ns >= kSilenceNs || CollectorIsGone(page)) break;
    if (now >= give_up) {
      g_session.still_writing = true;
      break;
    }
    FutexWait(&reply.done_state, 0, 20'000'000);
  }
  return reply.done_state.load(std::memory_order_acquire) != 0;
}

// Where page or heap events want it.
bool StartSideRing(ControlPage* page, const TraceConfig& config) {
  if (!config.pages && !RecordsHeap(config.heap)) return true;
  return OwnStack::Create() && SideRing::Open(page);
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
  HotState& hot = Hot();
  g_session.page = page;
  g_session.pid = getpid();
  page->traced_pid = static_cast<uint32_t>(g_session.pid);
  g_session.collector = config->collector;
  g_session.say = config->say;
  g_session.notice = config->notice;
  g_session.calls = config->calls;
  g_session.paused = config->paused;
  g_session.sizes = config->heap.mode == HeapMode::kStats;
  hot.stall.say = config->say;
  hot.page_bytes = page->page_bytes;
  UseKernelsClock();
  hot.time_is_tsc = TscIsInvariant();
  page->start.time_is_tsc = hot.time_is_tsc;
  page->tells_finalize = Finalization::Watch();
  g_session.prepare_stamp = TimeStamp(hot.time_is_tsc);
  g_session.prepare_ns = MonotonicNs();
  if (!SharedRegion::KeepToOurselves(page)) {
    return "the shared region cannot be kept from children";
  }
  pthread_mutex_lock(&page->alive);  // for the process's whole life
  g_parts.filters = Filters(config);
  hot.parts = g_parts.ForHooks();
  if (!g_parts.codes.Create(hot) || !g_parts.log.Create(hot, config) ||
      !WipeHotPageOnFork() || !StartSideRing(page, *config) ||
      !HeapHooks::Create(&config->heap)) {
    snprintf(g_session.line, sizeof(g_session.line), "tables: %s",
             strerror(errno));
    return g_session.line;
  }
  if (config->pages) PageEvents::Start(g_session.pages);
  // Without events of calls nobody asks for RSS at each event.
  const GaugeSource source =
      !config->calls && config->rss_source == GaugeSource::kAuto
          ? GaugeSource::kHints
          : config->rss_source;
  if (!g_parts.gauge.Open(hot, source)) {
    snprintf(g_session.line, sizeof(g_session.line), "RSS source: %s",
             g_parts.gauge.reason());
    return g_session.line;
  }
  page->start.rss_source = g_parts.gauge.source();
  page->start.statm_step_pages = g_parts.gauge.statm_step_pages();
  memcpy(page->start.rss_source_reason, g_parts.gauge.reason(),
         strlen(g_parts.gauge.reason()) + 1);
  hot.ring = reinterpret_cast<EventSlot*>(reinterpret_cast<char*>(page) +
                                          kControlBytes);
  OwnMemory::Add(&ReplyOf(page), SharedRegion::mapped_bytes());
  if (!Interposed::Enable(g_session.pid, page)) {
    return "the tracer's state cannot be kept from children";
  }
  pthread_atfork(nullptr, CountFork, Statm::CloseInChild);
  g_parts.file.Set(config->output);
  if (!config->paused) g_parts.file.Begin();
  PythonModule::Register(config);
  g_parts.startup.Watch(config, Begin);
  return nullptr;
}

void Session::PrepareUntraced() { PythonModule::Register(nullptr); }

bool Session::Finish(EndReason reason, int status, int timeout_ms) {
  ControlPage* page = g_session.page;
  if (page == nullptr || !InTracedProcess()) return false;
  g_session.page = nullptr;
  HotState& hot = Hot();
  if (NoOtherProducer()) {
    if (hot.page != nullptr) {
      g_parts.gaps.Flush(hot);
      g_parts.pauses.Flush(hot);
      FlushLoss(hot);
    }
    hot.page = nullptr;
  } else {
    // exit() by C code while other threads run Python: one may be inside a hook
    // and goes on until the process ends. Nobody waits for room any more.
    page->on_full = OnFull::kDrop;
  }
  Interposed::Disable();
  PageEvents::Stop();
  SideRing::Close();
  SendEnd(page, reason, status);
  return WaitForFooter(page, static_cast<uint64_t>(timeout_ms) * 1000000);
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
