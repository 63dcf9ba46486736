#include "launcher/session/pending_interrupt.h"

#include <pthread.h>
#include <signal.h>

#include "launcher/session/exit_report.h"
#include "tracer/session/session.h"

namespace pymemrun {
namespace {

bool interrupt_held = false;

}  // namespace

void HoldInterrupt() {
  if (!Session::EndsByInterrupt()) return;
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  interrupt_held = sigismember(&before, SIGINT) == 0;
}

void LetInterruptGo() {
  if (!interrupt_held) return;
  sigset_t pending;
  sigpending(&pending);
  if (sigismember(&pending, SIGINT) == 1) ReportBeforeSignal(SIGINT);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
}

}  // namespace pymemrun
