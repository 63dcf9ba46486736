#include "tracer/pages/page_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "tracer/sigtrap/trap_signal.h"

namespace pymemrun {
namespace {

// The address whose fault the trial waits for; null once it was signalled.
std::atomic<const void*> g_awaited;

// A kind of perf event. Kernels before 5.13 refuse these with E2BIG or EINVAL.
struct Kind {
  bool samples;
  uint32_t signal_period;  // 0: it sends none
  // Not 0: the kernel adapts the period at each signal to the time since the
  // last one, for at most this many signals a second.
  uint32_t signals_per_second = 0;
};

// Divided by the period, which is 7 where each page is recorded: 10,000 signals
// a second. These take 3.4 % of a CPU.
constexpr uint32_t kSignalsPerSecond = 70000;

// See perf_event_open(2). The event is of the calling thread and its later
// threads, on one CPU: an inherited event of all CPUs cannot be mapped.
int OpenOne(const Kind& kind, int cpu, bool user_only) {
  perf_event_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_period = kind.samples ? 1 : kind.signal_period;
  if (kind.signals_per_second != 0) {
    attr.freq = 1;
    attr.sample_freq = kind.signals_per_second;
  }
  attr.sample_type = PERF_SAMPLE_ADDR;
  if (kind.samples) {
    attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  }
  attr.disabled = 1;
  attr.inherit = 1;
  attr.inherit_thread = 1;  // threads, not forked children
  attr.remove_on_exec = 1;
  attr.sigtrap = kind.signal_period != 0;
  attr.sig_data = kPagePerfData;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.exclude_kernel = user_only;
  attr.exclude_hv = user_only;
  // The collector reads by itself; these events are not polled.
  attr.watermark = 1;
  attr.wakeup_watermark = 1u << 30;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

bool Refused(int error) { return error == EACCES || error == EPERM; }

bool OpenAll(const Kind& kind, int cpus, PageCounters* counters) {
  for (int cpu = 0; cpu < cpus; ++cpu) {
    int fd = OpenOne(kind, cpu, counters->user_only);
    if (fd < 0 && Refused(errno) && !counters->user_only &&
        counters->count == 0) {
      counters->user_only = true;
      fd = OpenOne(kind, cpu, true);
    }
    if (fd < 0 && errno == ENODEV) continue;  // it is offline
    if (fd < 0) return false;
    counters->fds[counters->count++] = fd;
  }
  return counters->count > 0;
}

// Signals some faults. The kernel chooses them by the time since the last
// signal, so no loop of the program stays in step. If
// kernel.perf_event_max_sample_rate allows too few, each `period`th fault is
// signalled.
bool OpenRandom(uint32_t period, int cpus, PageCounters* counters) {
  uint32_t a_second = kSignalsPerSecond / period;
  for (int i = 0; i < 4 && a_second > 0; ++i, a_second /= 2) {
    if (OpenAll({false, period, a_second}, cpus, counters)) return true;
  }
  return OpenAll({false, period}, cpus, counters);
}

// The samplers first, then those that signal each fault, then those with the
// period.
bool OpenKinds(const PagePeriod& period, int cpus, PageCounters* counters) {
  const bool samplers_signal = period.faults == 1;
  if (!OpenAll({true, samplers_signal ? 1u : 0u}, cpus, counters)) return false;
  counters->samplers = counters->count;
  if (samplers_signal) return true;
  if (!period.is_least) return OpenAll({false, period.faults}, cpus, counters);
  return OpenAll({false, 1}, cpus, counters) &&
         OpenRandom(period.faults, cpus, counters);
}

// A page that faults repeatedly.
class TrialPage {
 public:
  TrialPage()
      : bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~TrialPage() {
    if (ok()) munmap(memory_, bytes_);
  }
  TrialPage(const TrialPage&) = delete;
  TrialPage& operator=(const TrialPage&) = delete;

  bool ok() const { return memory_ != MAP_FAILED; }
  void Fault() {
    madvise(memory_, bytes_, MADV_DONTNEED);
    *static_cast<volatile char*>(memory_) = 1;
  }
  const void* address() const { return memory_; }

 private:
  const size_t bytes_;
  void* const memory_;
};

// The result of a trial.
struct Trial {
  bool signalled;
  const char* refused;  // the call that was refused, with errno; or null
};

// Whether a fault is signalled before the next instruction. One fault in
// `period` is. The thread may move to another CPU in between, so twice as many
// are tried.
Trial TrySignal(uint32_t period) {
  TrialPage page;
  if (!page.ok()) return {false, "mmap"};
  if (!TrapSignal::EnableEvents()) return {false, "prctl"};
  g_awaited.store(page.address(), std::memory_order_relaxed);
  bool came = false;
  for (uint32_t i = 0; !came && i < 2 * period; ++i) {
    page.Fault();
    came = g_awaited.load(std::memory_order_relaxed) == nullptr;
  }
  DisablePageCounters();
  g_awaited.store(nullptr, std::memory_order_relaxed);
  return {came, nullptr};
}

// The kernel signals each `period`th fault of a thread on a CPU. Faults here
// move the first signal of this thread to a random place.
void BeginAnywhere(uint32_t period) {
  uint32_t random = 0;
  TrialPage page;
  if (period == 1 || !page.ok() ||
      getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0) {
    return;
  }
  EnablePageCounters();
  for (uint32_t i = 0; i <= random % period; ++i) page.Fault();
  DisablePageCounters();
}

const char* WayOut(int error) {
  if (Refused(error)) {
    return "; it needs kernel.perf_event_paranoid <= 2 and, in a container, a "
           "seccomp profile that allows it";
  }
  if (error == EINVAL || error == E2BIG) return "; they need Linux 6.1";
  return "";
}

}  // namespace

bool OpenPageCounters(const PagePeriod& period, PageCounters* counters,
                      char* reason, size_t size) {
  *counters = PageCounters{};
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (cpus > static_cast<long>(PageCounters::kMostCpus)) {
    snprintf(reason, size, "page events: %ld CPUs, at most %u are supported",
             cpus, PageCounters::kMostCpus);
    return false;
  }
  Trial trial = {false, "perf_event_open"};
  const bool open = OpenKinds(period, static_cast<int>(cpus), counters);
  if (open) trial = TrySignal(period.faults);
  if (trial.signalled) {
    BeginAnywhere(period.faults);
    return true;
  }
  const int error = errno;
  ClosePageCounters(counters);
  if (trial.refused != nullptr) {
    snprintf(reason, size, "page events: %s: %s%s", trial.refused,
             strerror(error), open ? "" : WayOut(error));
  } else {
    snprintf(
        reason, size,
        "page events: a page fault was not signalled; they need Linux 6.1");
  }
  return false;
}

void ClosePageCounters(PageCounters* counters) {
  for (uint32_t i = 0; i < counters->count; ++i) close(counters->fds[i]);
  counters->count = 0;
}

void EnablePageSamplers(const PageCounters& counters) {
  if (counters.samplers == counters.count) return EnablePageCounters();
  for (uint32_t i = 0; i < counters.samplers; ++i) {
    ioctl(counters.fds[i], PERF_EVENT_IOC_ENABLE, 0);
  }
}
void EnablePageCounters() { TrapSignal::EnableEvents(); }
void DisablePageCounters() { TrapSignal::DisableEvents(); }

void PageCountersSaw(const void* address) {
  const void* awaited = address;
  g_awaited.compare_exchange_strong(awaited, nullptr,
                                    std::memory_order_relaxed);
}

}  // namespace pymemrun
