// Calls that fork: the numbers of the children are told.
#include <pty.h>
#include <unistd.h>

#include "tracer/base/interposed_state.h"
#include "tracer/interpose/interposed.h"
#include "tracer/pages/page_events.h"

namespace pymemrun {
namespace {

constinit thread_local bool t_in_fork = false;

// Calls a function that forks, and records the pid of the child.
template <typename Call>
pid_t Forking(Call call) {
  if (TracedPage() == nullptr) return call();
  t_in_fork = true;
  const pid_t child = call();
  t_in_fork = false;
  if (child > 0) PageEvents::Forked(child);
  return child;
}

}  // namespace

bool Interposed::InFork() { return t_in_fork; }

}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE pid_t fork() noexcept {
  return Forking([] { return PYMEMRUN_NEXT(fork)(); });
}

PYMEMRUN_INTERPOSE int forkpty(int* terminal, char* name,
                               const struct termios* settings,
                               const struct winsize* size) noexcept {
  return Forking(
      [&] { return PYMEMRUN_NEXT(forkpty)(terminal, name, settings, size); });
}
