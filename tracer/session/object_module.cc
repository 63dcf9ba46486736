#include "tracer/session/object_module.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/base/clock.h"
#include "tracer/base/container_memory.h"
#include "tracer/base/hot_state.h"
#include "tracer/base/statm.h"
#include "tracer/heap/heap_log.h"
#include "tracer/objects/child_process.h"
#include "tracer/requests/request_signal.h"
#include "tracer/ring/event_ring.h"
#include "tracer/ring/ring_wait.h"
#include "tracer/session/forks.h"
#include "tracer/session/parts.h"
#include "tracer/session/ring_lock.h"

namespace pymemrun {
namespace {

// How long one wait for a dump's processes takes at most, and the highest
// number in a dump's name.
constexpr int kStepMs = 50;
constexpr uint32_t kMostNumbered = 100000;
// The process of the copy, or that of its collector.
constexpr char kStopped[] =
    "cut off: its process was killed, as happens when memory runs out";

const char* BaseName(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// Creates a new file that only the user may read. Returns -1 with errno set on
// failure.
int CreateFile(const char* path) {
  const int fd = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, path,
              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd >= 0) fchmod(fd, 0600);
  return fd;
}

// A dump that was cut off is kept as far as it goes; an empty file tells
// nothing.
void RemoveIfEmpty(const char* path) {
  struct stat info;
  if (lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0) {
    unlink(path);
  }
}

PayloadText TextOf(const char* text) {
  return {static_cast<uint32_t>(strlen(text)), text};
}

}  // namespace

void ObjectModule::Set(const TraceConfig& config) { config_ = &config; }

void ObjectModule::Say(const char* what, const char* why) const {
  if (config_ == nullptr || config_->say == nullptr) return;
  char line[512];
  const int bytes =
      snprintf(line, sizeof(line), "pymemrun: %s: %s\n", what, why);
  if (bytes > 0) config_->say(line, strlen(line));
}

int ObjectModule::OpenFile(const char* path) {
  if (path != nullptr) {
    snprintf(file_, sizeof(file_), "%s", path);
    return CreateFile(file_);
  }
  // A name is used once in a run.
  while (next_number_ < kMostNumbered) {
    const uint32_t number = next_number_++;
    if (!DumpName(g_parts.file.path(), number, file_, sizeof(file_))) break;
    const int fd = CreateFile(file_);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  errno = ENAMETOOLONG;
  return -1;
}

// Everything that can refuse a dump comes before the fork, which is the part
// that stops the program. Where it fails, problem_ says why.
bool ObjectModule::Start(DumpReason reason, const char* path,
                         uint64_t since_ns) {
  problem_[0] = '\0';
  is_lost_ = false;
  reason_ = reason;
  if (const char* why_not = ObjectDump::WhyNot(); why_not != nullptr) {
    snprintf(problem_, sizeof(problem_), "%s", why_not);
    return false;
  }
  if (!ContainerMemory::HasRoomForCopy(problem_, sizeof(problem_))) {
    return false;
  }
  const int fd = OpenFile(path);
  if (fd < 0) {
    snprintf(problem_, sizeof(problem_), "%s", strerror(errno));
    return false;
  }
  const StartFacts& start = Hot().page->start;
  const DumpOrder order = {
      config_->collector_path,
      config_->launch_text.data(),
      config_->launch_text.size(),
      fd,
      file_,
      reason == DumpReason::kAtPeak ? TakenPlace() : nullptr,
      Forks::AdoptsOrphans() || ChildProcess::AdoptsOrphans(),
      {0, uint64_t{Statm::ReadAnew()} * Hot().page_bytes, start.monotonic_ns,
       start.realtime_ns, static_cast<uint32_t>(reason), start.time_is_tsc}};
  const int error = dump_.Start(order, since_ns);
  // Readers use the time to decide what was allocated before the fork.
  HeapLog::StateClock(Hot());
  syscall(SYS_close, fd);
  if (error == 0) return true;
  unlink(file_);
  snprintf(problem_, sizeof(problem_), "fork: %s", strerror(error));
  return false;
}

void ObjectModule::TellRun(const ObjectDump::Result& result) {
  HotState& hot = Hot();
  if (hot.page == nullptr) return;
  const ObjectsPayload payload = {dump_.forked_ns(),
                                  dump_.pause_us(),
                                  result.duration_us,
                                  result.file_bytes,
                                  result.objects,
                                  result.references,
                                  static_cast<uint32_t>(reason_),
                                  0};
  const RingLock lock;
  PutStruct(hot, ControlKind::kObjects, 0, payload,
            {TextOf(BaseName(file_)), TextOf(problem_)});
}

// Keeps the highest peak, which is the last one. Its collector has given it the
// name of the previous one, so the next dump gets its number.
void ObjectModule::KeepPeak() {
  if (TakenPlace() != nullptr && access(file_, F_OK) != 0) {
    memcpy(file_, peak_file_, sizeof(file_));
    --next_number_;
    return;
  }
  if (peak_file_[0] != '\0') unlink(peak_file_);
  memcpy(peak_file_, file_, sizeof(peak_file_));
}

// Takes the result of a dump that has ended, in whichever way: names the
// problem, tidies the file up and tells the run file.
void ObjectModule::Take(ObjectDump::State state) {
  const ObjectDump::Result result = dump_.Take();
  is_lost_ = state == ObjectDump::State::kGone || result.start_errno != 0 ||
             result.write_errno != 0;
  if (state == ObjectDump::State::kGone) {
    RemoveIfEmpty(file_);
    snprintf(problem_, sizeof(problem_), "%s", kStopped);
  } else if (result.start_errno != 0) {
    unlink(file_);
    snprintf(problem_, sizeof(problem_), "the collector did not start: %s",
             strerror(static_cast<int>(result.start_errno)));
  } else if (result.write_errno != 0) {
    RemoveIfEmpty(file_);
    snprintf(problem_, sizeof(problem_), "cut off: %s",
             strerror(result.write_errno));
  } else if (result.outcome == 1) {
    snprintf(problem_, sizeof(problem_),
             "cut off: signal %u while the references of an object were read",
             result.signal);
  } else if (result.outcome == 2) {
    snprintf(problem_, sizeof(problem_), "cut off: no memory");
  } else if (!result.whole) {
    snprintf(problem_, sizeof(problem_), "%s", kStopped);
  }
  if (problem_[0] != '\0') Say(BaseName(file_), problem_);
  if (reason_ == DumpReason::kAtPeak && problem_[0] == '\0') KeepPeak();
  TellRun(result);
}

// Waits for the dump under way, with the GIL. For the end of the process.
void ObjectModule::Settle() {
  while (dump_.under_way()) {
    const ObjectDump::State state = dump_.Wait(kStepMs);
    if (state != ObjectDump::State::kRunning) Take(state);
  }
}

// Another thread may take the result in between.
void ObjectModule::WaitWithoutGil() {
  while (dump_.under_way()) {
    const ObjectDump::State state = dump_.Wait(0);
    if (state != ObjectDump::State::kRunning) {
      Take(state);
      return;
    }
    Py_BEGIN_ALLOW_THREADS;
    usleep(2000);
    Py_END_ALLOW_THREADS;
  }
}

// pymemrun.dump_objects(). Only a path that the caller gave raises an error.
// All else is said on standard error: a program must not fail because it cannot
// be dumped.
PyObject* ObjectModule::Asked(PyObject* path, bool wait) {
  if (Hot().page == nullptr || config_ == nullptr ||
      config_->collector_path == nullptr) {
    Py_RETURN_NONE;
  }
  if (ObjectDump::WhyNot() != nullptr) {
    Say("dump_objects()", ObjectDump::WhyNot());
    Py_RETURN_NONE;
  }
  PyObject* bytes = nullptr;
  if (path != Py_None && PyUnicode_FSConverter(path, &bytes) == 0) {
    return nullptr;
  }
  WaitWithoutGil();
  const uint64_t since_ns = MonotonicNs();
  const char* const given =
      bytes != nullptr ? PyBytes_AsString(bytes) : nullptr;
  errno = 0;
  const bool started = Start(DumpReason::kAsked, given, since_ns);
  const int error = errno;
  if (!started && given != nullptr && error != 0) {
    errno = error;
    PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
  } else if (!started) {
    Say("dump_objects()", problem_);
    TellRun({});
  }
  Py_XDECREF(bytes);
  if (PyErr_Occurred() != nullptr) return nullptr;
  if (!started) Py_RETURN_NONE;
  PyObject* const result = PyUnicode_DecodeFSDefault(file_);
  if (!wait) return result;
  WaitWithoutGil();
  if (!is_lost_) return result;
  Py_XDECREF(result);
  Py_RETURN_NONE;
}

PyObject* ObjectModule::DumpObjects(PyObject*, PyObject* args,
                                    PyObject* kwargs) {
  static const char* const kNames[] = {"path", "wait", nullptr};
  PyObject* path = Py_None;
  int wait = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$p:dump_objects",
                                   const_cast<char**>(kNames), &path, &wait)) {
    return nullptr;
  }
  return g_parts.objects.Asked(path, wait != 0);
}

void ObjectModule::AtExit() {
  if (config_ == nullptr || !config_->objects.at_exit ||
      Hot().page == nullptr) {
    return;
  }
  Settle();
  if (!Start(DumpReason::kAtExit, nullptr, MonotonicNs())) {
    Say("--objects exit", problem_);
    TellRun({});
  }
}

// Whether a dump can be started: none is under way any more.
bool ObjectModule::IsFree() {
  if (!dump_.under_way()) return true;
  const ObjectDump::State state = dump_.Wait(0);
  if (state == ObjectDump::State::kRunning) return false;
  Take(state);
  return true;
}

// A request during a dump is dropped.
void ObjectModule::DumpNow(DumpReason reason, const char* option) {
  if (Hot().page == nullptr || !IsFree()) return;
  if (!Start(reason, nullptr, MonotonicNs())) {
    Say(option, problem_);
    TellRun({});
  }
}

// Python-level handlers run between two instructions of the main thread.
PyObject* ObjectModule::OnSignal(PyObject*, PyObject*) {
  g_parts.objects.DumpNow(DumpReason::kSignal, "--objects signal");
  Py_RETURN_NONE;
}

// A request from outside wants a dump of a later moment than itself. So the
// order is confirmed before the fork: a later request gets a dump of its own.
void ObjectModule::Obey(ControlPage* page, uint32_t order) {
  const DumpReason reason = ReasonOfOrder(order);
  const bool outside = reason == DumpReason::kOutside;
  if (outside && !IsFree()) {
    page->dumps.waits.store(order, std::memory_order_release);
    return;
  }
  page->dumps.taken.store(order, std::memory_order_release);
  if (!outside) return DumpNow(reason, "--objects");
  const bool started = Start(reason, nullptr, MonotonicNs());
  TellUnderWay();
  if (!started) TellRun({});
}

PyObject* ObjectModule::OnOrder(PyObject*, PyObject*) {
  ControlPage* const page = Hot().page;
  if (page == nullptr) Py_RETURN_NONE;
  // Acquire: pairs with the release in DumpOrders::Ask.
  const uint32_t order =
      ReplyOf(page).dump_order.load(std::memory_order_acquire);
  if (order != page->dumps.taken.load(std::memory_order_relaxed)) {
    g_parts.objects.Obey(page, order);
  }
  Py_RETURN_NONE;
}

// The one who asked waits for this in the run file.
void ObjectModule::TellUnderWay() {
  HotState& hot = Hot();
  const bool begun = problem_[0] == '\0';
  const ObjectsUnderWayPayload payload = {
      begun ? dump_.forked_ns() : MonotonicNs(), begun ? dump_.pause_us() : 0};
  const RingLock lock;
  PutStruct(hot, ControlKind::kObjectsUnderWay, 0, payload,
            {TextOf(file_), TextOf(problem_)});
  WakeCollector(hot.page);
}

PyMethodDef ObjectModule::signal_method_ = {"dump_objects", OnSignal,
                                            METH_VARARGS, nullptr};
PyMethodDef ObjectModule::order_method_ = {"dump_objects", OnOrder,
                                           METH_VARARGS, nullptr};

// Through Python's own signal module, so that the program can see and replace
// the handler, and CPython calls it at a safe point.
bool ObjectModule::Handle(int signal, PyMethodDef* method) {
  PyObject* handler = PyCFunction_New(method, nullptr);
  PyObject* module = PyImport_ImportModule("_signal");
  PyObject* result =
      module != nullptr && handler != nullptr
          ? PyObject_CallMethod(module, "signal", "iO", signal, handler)
          : nullptr;
  if (result == nullptr) PyErr_Clear();
  Py_XDECREF(result);
  Py_XDECREF(module);
  Py_XDECREF(handler);
  return result != nullptr;
}

void ObjectModule::TakeOrders() {
  if (config_->collector_path == nullptr || ObjectDump::WhyNot() != nullptr) {
    return;
  }
  RequestSignal::Open(Py_IsInitialized);
  Handle(kDumpSignal, &order_method_);
  RequestSignal::Close();
}

void ObjectModule::TellCollector() const {
  const TakesDumps takes =
      RequestSignal::IsTaken() ? TakesDumps::kYes : TakesDumps::kNo;
  Hot().page->dumps.takes.store(static_cast<uint32_t>(takes),
                                std::memory_order_release);
}

// Used where CPython does not tell when it finalises. The function is
// registered first, so atexit calls it last.
void ObjectModule::WatchExit() {
  PyObject* module = PyImport_ImportModule("atexit");
  PyObject* function = PyCFunction_New(&exit_method_, nullptr);
  PyObject* result =
      module != nullptr && function != nullptr
          ? PyObject_CallMethod(module, "register", "O", function)
          : nullptr;
  if (result == nullptr) PyErr_Clear();
  Py_XDECREF(result);
  Py_XDECREF(function);
  Py_XDECREF(module);
}

PyObject* ObjectModule::OnExit(PyObject*, PyObject*) {
  g_parts.objects.AtExit();
  Py_RETURN_NONE;
}

PyMethodDef ObjectModule::exit_method_ = {"dump_objects", OnExit, METH_VARARGS,
                                          nullptr};

void ObjectModule::WatchMoments() {
  if (config_ == nullptr) return;
  const ObjectsConfig& objects = config_->objects;
  if (objects.at_exit && Hot().page->tells_finalize == 0) WatchExit();
  if (objects.signal != 0 && !Handle(objects.signal, &signal_method_)) {
    Say("--objects", "the signal handler cannot be installed");
  }
  TakeOrders();
}

}  // namespace pymemrun
