#include "tracer/page_events.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tracer/clock.h"
#include "tracer/known_codes.h"
#include "tracer/own_stack.h"
#include "tracer/trap_signal.h"

namespace pymemrun {
namespace {

constinit thread_local uint32_t t_native_id = 0;

uint32_t NativeId() {
  if (t_native_id == 0) {
    t_native_id = static_cast<uint32_t>(syscall(SYS_gettid));
  }
  return t_native_id;
}

// An item's head, as far as its maker knows it.
struct Facts {
  SideKind kind;
  uint16_t flags;
  RangeAction action;  // kRange
  uint64_t time_ns;
  uint64_t address;
  uint64_t more;
  uint64_t extra;
};

// Sends the item with the calling thread's stack.
void Put(const Facts& facts) {
  const int saved_errno = errno;
  const OwnStack stack;
  SideItem item(stack.payload_bytes());
  if (item.ok()) {
    SideHead& head = item.head();
    head.kind = facts.kind;
    head.flags = static_cast<uint16_t>(facts.flags | stack.flags());
    head.thread = NativeId();
    head.detail = stack.frames() | static_cast<uint32_t>(facts.action) << 16;
    head.time_ns = facts.time_ns;
    head.address = facts.address;
    head.more = facts.more;
    head.extra = facts.extra;
    stack.PutInto(&item);
    item.Commit();
  }
  errno = saved_errno;
}

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

void OnFault(const siginfo_t* info, void* context) {
  PageCountersSaw(info->si_addr);
  if (SideRing::page() == nullptr) return;
  const uint16_t flags = TrapSignal::CameLate(info) ? kSideLate : 0;
  Put({SideKind::kTouch, flags, RangeAction{}, MonotonicNs(),
       reinterpret_cast<uint64_t>(info->si_addr), InstructionOf(context), 0});
}

}  // namespace

bool PageEvents::wants_input_ = false;

bool PageEvents::Open(const PagePeriod& period, PageCounters* counters,
                      char* reason, size_t size) {
  if (!TrapSignal::Own(OnFault)) {
    snprintf(reason, size, "page events: SIGTRAP: %s", strerror(errno));
    return false;
  }
  if (OpenPageCounters(period, counters, reason, size)) {
    wants_input_ = counters->user_only;
    return true;
  }
  TrapSignal::Release();
  return false;
}

bool PageEvents::Start(ControlPage* page) {
  if (!KnownCodes::Create() || !SideRing::Open(page)) return false;
  EnablePageCounters();
  return true;
}

void PageEvents::Stop() {
  if (SideRing::page() == nullptr) return;
  DisablePageCounters();
  SideRing::Close();
}

uint64_t PageEvents::Now() { return MonotonicNs(); }

void PageEvents::Range(RangeAction action, uint64_t time_ns,
                       const void* address, size_t bytes, const void* to) {
  const ControlPage* page = SideRing::page();
  if (page == nullptr) return;
  const uint64_t mask = page->page_bytes - 1;
  uint64_t begin = reinterpret_cast<uint64_t>(address);
  uint64_t end = begin + bytes;
  if (action == RangeAction::kPopulated) {
    begin &= ~mask;
    end = (end + mask) & ~mask;
  } else {
    begin = (begin + mask) & ~mask;
    end &= ~mask;
  }
  if (begin >= end) return;
  Put({SideKind::kRange, 0, action, time_ns, begin, end - begin,
       reinterpret_cast<uint64_t>(to)});
}

void PageEvents::Forked() {
  if (SideRing::page() == nullptr) return;
  Put({SideKind::kFork, 0, RangeAction{}, MonotonicNs(), 0, 0, 0});
}

}  // namespace pymemrun
