// The signal by which the collector asks for a dump (tracer/wire/reply_page.h):
// taken without libc, and handed on to CPython as one of the signals that it
// handles. There is one of it, as of the signal.
#ifndef PYMEMRUN_TRACER_REQUESTS_REQUEST_SIGNAL_H_
#define PYMEMRUN_TRACER_REQUESTS_REQUEST_SIGNAL_H_

#include <signal.h>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

extern constinit thread_local bool t_request_muted;

class RequestSignal {
 public:
  // Between these two CPython is to set its handler for the signal, by
  // sigaction. `is_initialized` is Py_IsInitialized, which reads a word.
  // REQUIRES: the main thread.
  static void Open(int (*is_initialized)());
  static void Close();
  // Whether CPython did so, here or in the process that this was forked from.
  static bool IsTaken();

  // Called where a program calls sigaction: whether this was CPython's call
  // after Open. If not, libc refuses it.
  static bool Sets(int number, const struct sigaction* action) {
    return __builtin_expect(number == kDumpSignal, 0) && SetsSlow(action);
  }

  // Whether what this thread writes is CPython's word of our signal to a
  // descriptor that the program has for signals: it gets none.
  static bool IsMuted() { return __builtin_expect(t_request_muted, 0); }

  // Around an exec of the traced process, once `exec_pending` is set. No
  // request may come to the new program, which would die of it. Afterwards,
  // where the exec has failed, requests are heard again.
  static void BeforeExec(const ControlPage* page);
  static void AfterExec();

 private:
  static bool SetsSlow(const struct sigaction* action);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_REQUESTS_REQUEST_SIGNAL_H_
