#include "launcher/session/exit_report.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "format/batches/heap_size_table.h"
#include "launcher/session/message.h"
#include "tracer/session/session.h"
#include "tracer/session/size_run.h"

namespace pymemrun {
namespace {

bool interrupt_held = false;

// A collector that is stuck must not keep the program from ending.
constexpr int kPatienceMs = 5000;

struct Report {
  ControlPage* page;
  std::string output;
  bool quiet;
};

void SayIncomplete(const Report& report) {
  std::string line =
      Session::still_writing()
          ? "the collector is still writing " + report.output
          : "the collector ended early or is stuck: " + report.output +
                " may be incomplete";
  const uint64_t lost = Session::LostRows();
  if (lost > 0) line += "; " + std::to_string(lost) + " rows lost";
  Say(line);
}

// Never freed: exit handlers run when destructors may have run already.
Report* installed = nullptr;

// Ends the session, waits for the file and prints the report that the collector
// has put into the shared memory.
void Tell(EndReason reason, int status) {
  const Report& report = *installed;
  if (!Session::InTracedProcess()) return;  // a child of the program
  if (!Session::Finish(reason, status, kPatienceMs)) {
    // Said even when quiet: the run file is not what it should be.
    if (!Session::untraced()) SayIncomplete(report);
    return;
  }
  if (report.quiet) return;
  const ReplyPage& reply = ReplyOf(report.page);
  size_t size = std::min<size_t>(reply.report_bytes, sizeof reply.report);
  WriteToStandardError({reply.report, size});
}

// on_exit(3) hands over the status, atexit(3) does not.
void AtExit(int status, void*) {
  if (installed != nullptr) Tell(EndReason::kExit, status);
}

pid_t g_sizes_pid = 0;

void PrintSizes() {
  HeapSizeBins bins;
  for (uint32_t k = 0; k < bins.size(); ++k) {
    const SizeRun::Count size = SizeRun::CountOf(k);
    bins[k] = {size.count, size.bytes};
  }
  WriteToStandardError(HeapSizeReport(bins));
}

}  // namespace

void InstallSizesReport() {
  g_sizes_pid = getpid();
  SizeRun::PrintBy(PrintSizes);
  atexit([] {
    if (getpid() == g_sizes_pid) SizeRun::Finish();  // no child's
  });
}

void InstallExitReport(ControlPage* page, const std::string& output,
                       bool quiet) {
  // A forked child has the handler already.
  if (installed == nullptr) on_exit(AtExit, nullptr);
  installed = new Report{page, output, quiet};
}

void ReportBeforeSignal(int signal) {
  if (installed == nullptr) return;
  Tell(EndReason::kSignal, signal);
  installed = nullptr;  // said, should the process live on
}

void HoldInterrupt() {
  if (!Session::EndsByInterrupt()) return;
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  interrupt_held = sigismember(&before, SIGINT) == 0;
}

// The unblocked signal ends the process before pthread_sigmask() returns.
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
