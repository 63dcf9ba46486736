// For tests of SIGTRAP: runs a scenario as it is, and again in a process whose
// SIGTRAP is ours, with page faults signalled by real perf events; what it says
// and how it ends are to be the same.
#ifndef PYMEMRUN_TRACER_SIGTRAP_TRAP_TEST_SUPPORT_H_
#define PYMEMRUN_TRACER_SIGTRAP_TRAP_TEST_SUPPORT_H_

#include <signal.h>
#include <sys/types.h>

#include <ostream>
#include <string>

#include "gtest/gtest.h"
#include "tracer/sigtrap/trap_signal.h"

namespace pymemrun {

extern bool g_owned;  // SIGTRAP is ours in this process
extern int g_said;    // descriptor that Say writes to

// Adds to what the scenario is compared by.
void Say(const char* format, ...);

// Touches fresh pages: as many page signals.
void Touch(int pages = 8);

// Takes a fault whose handler takes one itself, as does the one of that, eight
// times. Says so where page signals do not come.
void TouchInHandler();

// Says so where page signals of this thread do not come, or come late.
void ExpectPageSignals();

// Returns when that thread sleeps in that system call.
void AwaitCall(pid_t thread, int number);

struct Ended {
  int status;
  std::string said;
  bool operator==(const Ended& other) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Ended& ended) {
  return out << "status " << ended.status << ":\n" << ended.said;
}

using Scenario = void();

Ended RunScenario(Scenario* scenario, bool owned);

// REQUIRES: the scenario says nothing that differs from run to run.
void ExpectTheSame(Scenario* scenario);

// What the calling thread's mask and pending signals say of SIGTRAP, and what
// its action is.
void SayState();

// pthread_sigmask of SIGTRAP, or of all signals.
void Mask(int how, bool all = false);

// sigaction with SA_SIGINFO.
void Handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags = 0,
            int also_masked = 0);
// A handler that says what it finds.
void SayHandled(int number, siginfo_t* info, void* context);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SIGTRAP_TRAP_TEST_SUPPORT_H_
