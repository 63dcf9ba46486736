#include "tracer/pages/page_events.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tracer/base/clock.h"
#include "tracer/base/interposed_state.h"
#include "tracer/code/side_event.h"
#include "tracer/pages/heap_end_watch.h"
#include "tracer/sigtrap/trap_signal.h"

namespace pymemrun {
namespace {

// The instruction that faulted, from the context that the kernel gives to a
// handler.
uint64_t InstructionOf(const void* context) {
  const auto* user = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<uint64_t>(user->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return user->uc_mcontext.pc;
#else
  return 0;
#endif
}

// Whether free() is libc's. A preloaded allocator's blocks have another layout.
bool FreesAreLibcs() {
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return false;
  const void* const free_function = dlsym(libc, "free");
  dlclose(libc);
  return free_function != nullptr && free_function == dlsym(RTLD_NEXT, "free");
}

// The tunable glibc.malloc.hugetlb: '0' off, '1' glibc asks for huge pages by
// madvise. Other values make heaps of another size.
char HugeHeaps() {
  constexpr char kName[] = "glibc.malloc.hugetlb=";
  const char* const tunables = getenv("GLIBC_TUNABLES");
  const char* const at =
      tunables != nullptr ? strstr(tunables, kName) : nullptr;
  if (at == nullptr) return '0';
  const char* const value = at + sizeof(kName) - 1;
  const bool is_digit = value[0] == '0' || value[0] == '1';
  return is_digit && (value[1] == 0 || value[1] == ':') ? value[0] : '2';
}

// Whether `word` is chosen in the setting. `if_unknown`: the answer if the file
// cannot be read, as without /sys or on an older kernel.
bool Chooses(const char* setting, const char* word, bool if_unknown) {
  const int fd = open(setting, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return if_unknown;
  char text[64] = {};
  const ssize_t got = read(fd, text, sizeof(text) - 1);
  close(fd);
  return got > 0 ? strstr(text, word) != nullptr : if_unknown;
}

// Whether programs get huge pages without asking. From Linux 6.8 on each size
// has its own setting, which usually inherits the general one.
bool HugePagesForAll() {
#define PYMEMRUN_HUGE_PAGES "/sys/kernel/mm/transparent_hugepage/"
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  char own_setting[96];
  snprintf(own_setting, sizeof(own_setting),
           PYMEMRUN_HUGE_PAGES "hugepages-%llukB/enabled",
           static_cast<unsigned long long>(HugePageBytes(page_bytes) >> 10));
  return Chooses(PYMEMRUN_HUGE_PAGES "enabled", "[always]", true) ||
         Chooses(own_setting, "[always]", false);
#undef PYMEMRUN_HUGE_PAGES
}

}  // namespace

std::atomic<bool> PageEvents::started_;
bool PageEvents::wants_input_ = false;
std::atomic<bool> PageEvents::may_be_huge_;

// Whether the page half a huge page away is resident. After the first fault in
// that memory this shows that it was a huge page.
bool PageEvents::IsFarThere(const void* address) {
  if (!may_be_huge_.load(std::memory_order_relaxed)) return false;
  const uintptr_t page_bytes = SideRing::page()->page_bytes;
  const uintptr_t half = HugePageBytes(page_bytes) / 2;
  const uintptr_t page =
      reinterpret_cast<uintptr_t>(address) & ~(page_bytes - 1);
  unsigned char there = 0;
  return mincore(reinterpret_cast<void*>(page ^ half), 1, &there) == 0 &&
         (there & 1) != 0;
}

// The handler of page signals, on the thread that faulted. Async-signal-safe.
void PageEvents::OnFault(const siginfo_t* info, void* context) {
  PageCountersSaw(info->si_addr);
  if (SideRing::page() == nullptr) return;
  const uint64_t time_ns = MonotonicNs();
  uint16_t flags = 0;
  if (TrapSignal::CameLate(info)) flags |= kSideLate;
  if (IsFarThere(info->si_addr)) flags |= kSideFarToo;
  PutWithStack(
      SideTouch{{.kind = SideKind::kTouch, .flags = flags, .time_ns = time_ns},
                reinterpret_cast<uint64_t>(info->si_addr),
                InstructionOf(context)});
}

void PageEvents::AskedForHuge(const void* address) {
  MayBeHuge();
  if (!on() || TracedPage() == nullptr) return;
  // Late: it says nothing of the page itself.
  PutWithStack(SideTouch{
      {.kind = SideKind::kTouch, .flags = kSideLate, .time_ns = MonotonicNs()},
      reinterpret_cast<uint64_t>(address),
      0});
}

bool PageEvents::Open(const PagePeriod& period, PageCounters* counters,
                      char* reason, size_t size) {
  started_ = false;  // it was in the parent of a forked child
  if (!TrapSignal::Own(OnFault)) {
    snprintf(reason, size, "page events: SIGTRAP: %s", strerror(errno));
    return false;
  }
  if (OpenPageCounters(period, counters, reason, size)) {
    wants_input_ = counters->user_only;
    if (HugePagesForAll() || HugeHeaps() != '0') MayBeHuge();
    return true;
  }
  TrapSignal::Release();
  return false;
}

void PageEvents::Start(const PageCounters& counters) {
  // A forked child's heaps are its parent's.
  if (g_heap_ends.begin == nullptr && FreesAreLibcs()) {
    g_heap_ends.begin = static_cast<const char*>(sbrk(0));
    // Threads' heaps may be as large as ThreadHeap says: a setting changes it.
    if (HugeHeaps() <= '1') g_heap_ends.thread_heaps.Start();
  }
  started_ = true;
  EnablePageSamplers(counters);
}

void PageEvents::StartStacks() {
  if (on()) EnablePageCounters();
}

void PageEvents::Stop() {
  if (on()) DisablePageCounters();
  started_ = false;
}

uint64_t PageEvents::Now() { return MonotonicNs(); }

// A released range begins with its first whole page. Its end is rounded up, as
// the kernel does.
void PageEvents::Range(RangeAction action, uint64_t time_ns,
                       const void* address, size_t bytes, const void* to) {
  const ControlPage* page = SideRing::page();
  if (page == nullptr || !on()) return;
  const uint64_t mask = page->page_bytes - 1;
  const auto first = reinterpret_cast<uint64_t>(address);
  const uint64_t begin =
      (action == RangeAction::kPopulated ? first : first + mask) & ~mask;
  const uint64_t end = (first + bytes + mask) & ~mask;
  if (begin >= end) return;
  PutWithStack(SideRange{{.kind = SideKind::kRange,
                          .detail = SideHead::Detail(0, action),
                          .time_ns = time_ns},
                         begin,
                         end - begin,
                         reinterpret_cast<uint64_t>(to)});
}

void PageEvents::Forked(pid_t child) {
  if (SideRing::page() == nullptr) return;
  PutWithStack(SideFork{{.kind = SideKind::kFork, .time_ns = MonotonicNs()},
                        static_cast<uint64_t>(child)});
}

}  // namespace pymemrun
