#include "tracer/finalization.h"

#include <unistd.h>

#include "tracer/clock.h"
#include "tracer/cpython_compat.h"
#include "tracer/interposed.h"
#include "tracer/side_ring.h"

#if defined(PYMEMRUN_STATIC_PYTHON) && PY_VERSION_HEX >= 0x030B0000
namespace pymemrun {
namespace {

// GIL held; no other thread that is left will get it again.
void TellBegin() {
  ControlPage* page = Interposed::page();
  if (page == nullptr || getpid() != static_cast<pid_t>(page->traced_pid)) {
    return;
  }
  const uint64_t now_ns = MonotonicNs();
  const uint64_t position = page->head.load(std::memory_order_relaxed);
  page->finalize_ns.store(now_ns, std::memory_order_release);
  SideItem item(SideKind::kFinalize, 0);
  if (!item.ok()) return;
  SideHead& head = item.head();
  head.flags = 0;
  head.detail = 0;
  head.time_ns = now_ns;
  head.extra = position;
  item.Commit();
}

}  // namespace

bool Finalization::IsSeen() { return true; }

}  // namespace pymemrun

extern "C" {

// The original, renamed (tracer/CMakeLists.txt).
void pymemrun_real__PyAtExit_Call(PyInterpreterState* interp);

// The last of the program's code: what the interpreter calls when it has waited
// for threads, before it takes itself down.
void _PyAtExit_Call(PyInterpreterState* interp) {
  pymemrun_real__PyAtExit_Call(interp);
  if (interp == PyInterpreterState_Main()) pymemrun::TellBegin();
}

}  // extern "C"
#else
namespace pymemrun {

bool Finalization::IsSeen() { return false; }

}  // namespace pymemrun
#endif
