#include <Python.h>
// Python.h wants to be first.
#include "launcher/preloaded/limits.h"
#include "launcher/python/python_files.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/tasks/task_place.h"

namespace pymemrun {

#ifndef PYMEMRUN_TASKS
namespace {

// Coroutines of old versions, and of those that are not known, tell nothing.
void LeaveOutTasks(const std::string& why, Options* options, Limits* limits) {
  if (!options->traces.has(Trace::kTasks)) return;
  options->traces.Set(Trace::kTasks, false);
  limits->notice += limits->notice.empty() ? "--trace tasks: " + why : "";
  limits->notice += "; no steps of tasks";
}

}  // namespace
#endif

#ifdef PYMEMRUN_NO_CALLS
bool KeepWithinLimits(const std::string& version, Options* options,
                      Limits* limits, std::string* error) {
  const bool free_threaded =
      std::string_view(Py_GetVersion()).find("free-threading") !=
      std::string_view::npos;
  const std::string why =
      "CPython " + VersionNumbers(version, 2) +
      (free_threaded ? " is free-threaded"
                     : " is newer than this pymemrun knows");
  const bool only_calls =
      options->traces.has(Trace::kCalls) &&
      !options->traces.has_any(
          {Trace::kPages, Trace::kCounters, Trace::kStates, Trace::kGil});
  if (options->trace_given && only_calls) {
    *error = "--trace calls: " + why;
    return false;
  }
#ifdef PYMEMRUN_ANY_PYTHON
  options->heap.domains = 0;
  options->heap.native = options->heap.mode != HeapMode::kOff;
  limits->not_recorded = "Python's calls, stacks and heap: " + why;
  limits->notice = why + ": recording pages and native heap alone";
#else
  limits->not_recorded = "calls: " + why;
  if (options->traces.has(Trace::kCalls)) {
    limits->notice = why + ": recording pages and heap, no calls";
  }
#endif
  options->traces.Set(Trace::kCalls, false);
#ifdef PYMEMRUN_ANY_PYTHON
  if (options->traces.has(Trace::kGil)) {
    options->traces.Set(Trace::kGil, false);
    limits->notice += limits->notice.empty() ? "--trace gil: " + why : "";
    limits->notice +=
        free_threaded ? "; no waits for its locks" : "; no GIL events";
  }
#endif
  LeaveOutTasks(why, options, limits);
  return true;
}
#elif !defined(PYMEMRUN_TASKS)
bool KeepWithinLimits(const std::string& version, Options* options,
                      Limits* limits, std::string*) {
  LeaveOutTasks("CPython " + VersionNumbers(version, 2) + " is too old",
                options, limits);
  return true;
}
#else
bool KeepWithinLimits(const std::string&, Options*, Limits*, std::string*) {
  return true;
}
#endif

}  // namespace pymemrun
