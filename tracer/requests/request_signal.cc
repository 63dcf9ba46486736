#include "tracer/requests/request_signal.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "tracer/base/interposed_state.h"

namespace pymemrun {
namespace {

// struct kernel_sigaction of 64-bit machines. libc refuses this signal, so its
// own struct is of no use.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};
static_assert(sizeof(KernelAction) == 32);
constexpr unsigned long kSaRestorer = 0x04000000;

#ifdef __x86_64__
// The return from the handler: the system call rt_sigreturn. libc keeps its own
// version to itself. Unwinders recognise these very instructions.
extern "C" void pymemrun_return_from_request();
asm(".text\n"
    ".p2align 4\n"
    "nop\n"  // unwinders look up the address before
    ".globl pymemrun_return_from_request\n"
    ".hidden pymemrun_return_from_request\n"
    ".type pymemrun_return_from_request, @function\n"
    "pymemrun_return_from_request:\n"
    "  movq $15, %rax\n"
    "  syscall\n"
    ".size pymemrun_return_from_request, . - pymemrun_return_from_request\n");
#endif

using Handler = void(int);
using InfoHandler = void(int, siginfo_t*, void*);

// Used in the handler.
struct State {
  int (*is_initialized)();
  KernelAction before;            // libc's
  std::atomic<Handler*> handler;  // CPython's; null: it has none
  bool opening;
};
constinit State g_state = {};

bool SetAction(const KernelAction& action, KernelAction* before) {
  return syscall(SYS_rt_sigaction, kDumpSignal, &action, before,
                 sizeof(action.mask)) == 0;
}

void SetSpecial(void (*special)(int)) {
  KernelAction action = {};
  action.handler = reinterpret_cast<void*>(special);
  SetAction(action, nullptr);
}

// A signal that a thread sent to a thread is libc's own, see kDumpSignal.
void PassOn(int number, siginfo_t* info, void* context) {
  void* const handler = g_state.before.handler;
  if (handler == reinterpret_cast<void*>(SIG_DFL) ||
      handler == reinterpret_cast<void*>(SIG_IGN)) {
    return;
  }
  if ((g_state.before.flags & SA_SIGINFO) != 0) {
    reinterpret_cast<InfoHandler*>(handler)(number, info, context);
  } else {
    reinterpret_cast<Handler*>(handler)(number);
  }
}

// Confirms the order, then calls the handler of CPython, which makes the main
// thread run the Python-level handler. Muted: the byte for signal.set_wakeup_fd
// is left out.
void Announce(int number) {
  ControlPage* const page = TracedPage();
  Handler* const handler = g_state.handler.load(std::memory_order_acquire);
  if (page == nullptr || handler == nullptr) return;
  const uint32_t order =
      ReplyOf(page).dump_order.load(std::memory_order_acquire);
  page->dumps.heard.store(order, std::memory_order_release);
  if (order == page->dumps.taken.load(std::memory_order_relaxed) ||
      g_state.is_initialized() == 0) {
    return;
  }
  t_request_muted = true;
  handler(number);
  t_request_muted = false;
}

void OnSignal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  if (info->si_code == SI_TKILL) {
    PassOn(number, info, context);
  } else {
    Announce(number);
  }
  errno = saved;
}

bool Install(KernelAction* before) {
  KernelAction action = {};
  action.handler = reinterpret_cast<void*>(&OnSignal);
  // As for CPython's own handlers: a wait of the main thread returns, handles
  // the signal, and continues.
  action.flags = SA_SIGINFO | SA_ONSTACK;
#ifdef __x86_64__
  action.flags |= kSaRestorer;
  action.restorer = pymemrun_return_from_request;
#endif
  action.mask = ~uint64_t{0};  // while this thread is muted
  return SetAction(action, before);
}

}  // namespace

constinit thread_local bool t_request_muted = false;

void RequestSignal::Open(int (*is_initialized)()) {
  g_state.is_initialized = is_initialized;
  g_state.opening = true;
}

void RequestSignal::Close() { g_state.opening = false; }

bool RequestSignal::IsTaken() {
  return g_state.handler.load(std::memory_order_relaxed) != nullptr;
}

bool RequestSignal::SetsSlow(const struct sigaction* action) {
  if (!g_state.opening || action == nullptr) return false;
  if (!Install(&g_state.before)) return false;
  g_state.handler.store(action->sa_handler, std::memory_order_release);
  return true;
}

void RequestSignal::BeforeExec(const ControlPage* page) {
  if (g_state.handler.load(std::memory_order_relaxed) == nullptr) return;
  const int saved = errno;
  // Ignoring also drops a pending one. Pairs with DumpOrders::Send: either the
  // collector sees that an exec is under way, or this sees that it sends.
  SetSpecial(SIG_IGN);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  bool sends = true;
  for (int i = 0; i < 100 && sends; ++i) {
    sends = ReplyOf(page).sends_order.load(std::memory_order_seq_cst) != 0;
    const timespec nap = {0, 1000000};
    if (sends) nanosleep(&nap, nullptr);
  }
  // A stopped collector may send the signal at any later time. Then it stays
  // ignored, also in the new program.
  if (!sends) SetSpecial(SIG_DFL);
  errno = saved;
}

void RequestSignal::AfterExec() {
  if (g_state.handler.load(std::memory_order_relaxed) == nullptr) return;
  const int saved = errno;
  Install(nullptr);
  errno = saved;
}

}  // namespace pymemrun
