#include <Python.h>
// Python.h wants to be first.
#include "launcher/preloaded/limits.h"
#include "launcher/python/python_files.h"
#include "tracer/cpython/abilities.h"

namespace pymemrun {

namespace {

// Coroutines of old versions, and of those that are not known, tell nothing.
void LeaveOutTasks(const std::string& why, Options* options, Limits* limits) {
  if (!options->traces.has(Trace::kTasks)) return;
  options->traces.Set(Trace::kTasks, false);
  limits->notice += limits->notice.empty() ? "--trace tasks: " + why : "";
  limits->notice += "; no steps of tasks";
}

void LeaveOutGil(const std::string& why, bool free_threaded, Options* options,
                 Limits* limits) {
  if (!options->traces.has(Trace::kGil)) return;
  options->traces.Set(Trace::kGil, false);
  limits->notice += limits->notice.empty() ? "--trace gil: " + why : "";
  limits->notice +=
      free_threaded ? "; no waits for its locks" : "; no GIL events";
}

// Calls cannot be traced, and of an interpreter that nothing is known of no
// heap but C code's. `free_threaded`: that is why.
bool LeaveOutCalls(const std::string& why, bool free_threaded, Options* options,
                   Limits* limits, std::string* error) {
  const bool only_calls =
      options->traces.has(Trace::kCalls) &&
      !options->traces.has_any(
          {Trace::kPages, Trace::kCounters, Trace::kStates, Trace::kGil});
  if (options->trace_given && only_calls) {
    *error = "--trace calls: " + why;
    return false;
  }
  if (kAnyPython) {
    options->heap.domains = 0;
    options->heap.native = options->heap.mode != HeapMode::kOff;
    limits->not_recorded = "Python's calls, stacks and heap: " + why;
    limits->notice = why + ": recording pages and native heap alone";
  } else {
    limits->not_recorded = "calls: " + why;
    if (options->traces.has(Trace::kCalls)) {
      limits->notice = why + ": recording pages and heap, no calls";
    }
  }
  options->traces.Set(Trace::kCalls, false);
  if (kAnyPython) LeaveOutGil(why, free_threaded, options, limits);
  LeaveOutTasks(why, options, limits);
  return true;
}

}  // namespace

bool KeepWithinLimits(const std::string& version, Options* options,
                      Limits* limits, std::string* error) {
  const std::string name = "CPython " + VersionNumbers(version, 2);
  if (!kTracesCalls) {
    const bool free_threaded =
        std::string_view(Py_GetVersion()).find("free-threading") !=
        std::string_view::npos;
    const char* const is = free_threaded ? " is free-threaded"
                                         : " is newer than this pymemrun knows";
    return LeaveOutCalls(name + is, free_threaded, options, limits, error);
  }
  if (!kTracesTasks) LeaveOutTasks(name + " is too old", options, limits);
  return true;
}

}  // namespace pymemrun
