#include "launcher/session/launch_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cinttypes>
#include <climits>
#include <cstdio>

#include "tracer/session/session.h"

namespace pymemrun {
namespace {

std::string ScriptText(const CommandLine& command_line) {
  switch (command_line.form) {
    case ProgramForm::kScript:
      return command_line.target;
    case ProgramForm::kModule:
      return "-m " + command_line.target;
    case ProgramForm::kCode:
      return "-c";
    default:
      return "-";
  }
}

void AddFilters(const Options& options, LaunchFacts* facts) {
  auto add = [facts](const char* key, const std::string& value) {
    facts->push_back({key, value});
  };
  add("min_drss_bytes", std::to_string(options.min_drss_bytes));
  add("min_call_drss_bytes", std::to_string(options.min_call_drss_bytes));
  add("context", std::to_string(options.context));
  add("drss_since_logged", options.drss_since_logged ? "1" : "0");
  add("stacks", options.stacks ? "1" : "0");
  add("paused", options.paused ? "1" : "0");
  add("kinds", std::to_string(options.kinds));
  for (const std::string& glob : options.include) add("include", glob);
  for (const std::string& glob : options.exclude) add("exclude", glob);
  for (const std::string& glob : options.function) add("function", glob);
  for (const std::string& glob : options.thread) add("thread", glob);
}

void AddHeap(const HeapConfig& heap, LaunchFacts* facts) {
  if (!RecordsHeap(heap)) return;
  facts->push_back({"heap", std::to_string(static_cast<int>(heap.mode))});
  facts->push_back({"heap_native", heap.native ? "1" : "0"});
  if (heap.mode != HeapMode::kSampled) return;
  if (heap.rates.mean_bytes > 0) {
    facts->push_back(
        {"heap_mean_bytes", std::to_string(heap.rates.mean_bytes)});
  }
  for (size_t i = 0; i < heap.rates.class_count; ++i) {
    char text[64];
    // 17 digits give a double back exactly.
    snprintf(text, sizeof text, "%" PRIu64 ":%.17g",
             heap.rates.classes[i].below_bytes,
             heap.rates.classes[i].probability);
    facts->push_back({"heap_class", text});
  }
}

void AddPages(const Options& options, const OpenedPages& pages,
              LaunchFacts* facts) {
  facts->push_back(
      {"calls_off", options.traces.has(Trace::kCalls) ? "0" : "1"});
  AddHeap(options.heap, facts);
  if (options.traces.has(Trace::kGil)) {
    facts->push_back({"gil_min_wait_ns", std::to_string(options.gil_min_ns)});
  }
  if (options.traces.has(Trace::kTasks)) facts->push_back({"tasks", "1"});
  if (pages.by_scan) facts->push_back({"page_scan", "1"});
  if (pages.fds.empty()) return;
  facts->push_back({"page_counters", std::to_string(pages.samplers)});
  facts->push_back(
      {"page_signals", std::to_string(pages.fds.size() - pages.samplers)});
  facts->push_back({"page_period", std::to_string(options.page_period.faults)});
  facts->push_back({"page_weight", std::to_string(options.page_weight)});
  facts->push_back({"pages_user_only", pages.user_only ? "1" : "0"});
}

void AddStates(const OpenedStates& states, LaunchFacts* facts) {
  if (!states.any) return;
  facts->push_back({"state_events", std::to_string(states.fds.size())});
  facts->push_back({"states_reason", states.reason});
}

// A forked child's end is not reported, and its collector is told what the
// clocks showed long before.
void AddOfFirstOrForked(const Options& options, bool forked,
                        LaunchFacts* facts) {
  if (!forked) {
    if (!options.quiet) facts->push_back({"reporter", FindReporter()});
    return;
  }
  const ClockPair earlier = Session::EarlierClocks();
  facts->push_back({"earlier_tsc", std::to_string(earlier.stamp)});
  facts->push_back(
      {"earlier_monotonic_ns", std::to_string(earlier.monotonic_ns)});
}

void AddFollow(const TraceRequest& request, LaunchFacts* facts) {
  const bool all = request.options->follow == Follow::kAll;
  facts->push_back({"follow_all", all ? "1" : "0"});
  facts->push_back({"traces_started", request.unasked ? "1" : "0"});
}

// What the collector does by itself, when it is time for it.
void AddByCollector(const Options& options, const OpenedStates& states,
                    LaunchFacts* facts) {
  AddStates(states, facts);
  if (options.traces.has(Trace::kCounters)) {
    facts->push_back(
        {"counters_every_ms", std::to_string(options.counters_every_ms)});
  }
  const ObjectsConfig& objects = options.objects;
  if (!objects.by_collector()) return;
  facts->push_back({"objects_every_ms", std::to_string(objects.every_ms)});
  facts->push_back(
      {"objects_rss_above", std::to_string(objects.rss_above_bytes)});
  facts->push_back({"objects_at_peak", objects.at_peak ? "1" : "0"});
}

}  // namespace

// Keys may come several times, such as argv; then their order counts. Values
// are numbers in decimal or text as it is. --no-argv also leaves out the
// script.
LaunchFacts FactsOf(const TraceRequest& request, const RunFacts& run,
                    const OpenedPages& pages, const OpenedStates& states) {
  const Lineage& lineage = run.lineage;
  struct utsname system = {};
  uname(&system);
  char folder[PATH_MAX] = "";
  if (getcwd(folder, sizeof folder) == nullptr) folder[0] = '\0';
  LaunchFacts facts = {
      {"tool_version", PYMEMRUN_VERSION},
      {"pid", std::to_string(run.identity.pid)},
      {"start_ticks", std::to_string(lineage.self.start_ticks)},
      {"parent_pid", std::to_string(lineage.parent.pid)},
      {"parent_start_ticks", std::to_string(lineage.parent.start_ticks)},
      {"forked", lineage.forked ? "1" : "0"},
      {"python", request.python},
      {"python_version", request.python_version},
      {"host", run.identity.host},
      {"cwd", folder},
      {"kernel", std::string(system.sysname) + " " + system.release},
      {"output", run.path},
      {"children", run.children},
      {"compress_level", std::to_string(request.options->compress_level)},
      {"store_source", request.options->store_source ? "1" : "0"},
      {"preloaded", request.preloaded ? "1" : "0"}};
  if (!request.not_recorded.empty()) {
    facts.push_back({"not_recorded", request.not_recorded});
  }
  AddOfFirstOrForked(*request.options, lineage.forked, &facts);
  AddFollow(request, &facts);
  AddFilters(*request.options, &facts);
  AddPages(*request.options, pages, &facts);
  AddByCollector(*request.options, states, &facts);
  if (request.options->no_argv) return facts;
  facts.push_back({"script", ScriptText(*request.command_line)});
  facts.push_back({"argv", request.python});
  for (const std::string& argument : request.command_line->python) {
    facts.push_back({"argv", argument});
  }
  return facts;
}

}  // namespace pymemrun
