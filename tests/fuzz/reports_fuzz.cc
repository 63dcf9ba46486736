// Lets the readers' programs print arbitrary bytes as a run file: no crash, no
// hang, bounded memory, in every form. See record_mutator.h.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/stream/byte_io.h"
#include "readers/cat/pymemcat.h"
#include "readers/commands/objects/pymemobj.h"
#include "readers/options/command_line.h"
#include "readers/report/pymemreport.h"

namespace pymemrun {
namespace {

using Arguments = std::vector<std::string>;

// The file's name is put behind the first.
const Arguments kReports[] = {
    {"top", "--limit", "0"},
    {"summary", "--json"},
    {"summary", "--thread", "M*"},
    {"resident", "--limit", "0"},
    {"resident", "--by", "mapping", "--csv"},
    {"resident", "--stacks", "--by", "thread"},
    {"resident", "--by", "mapping", "--thread", "*"},
    {"resident", "--owner", "heap"},
    {"threads", "--json"},
    {"counters"},
    {"counters", "--json"},
    {"counters", "--gc", "--csv"},
    {"gil"},
    {"states"},
    {"states", "--csv"},
    {"tasks"},
    {"tasks", "--by", "function", "--sort", "grown", "--csv"},
    {"heap", "--by", "task"},
    {"gil", "--rows", "waits", "--csv"},
    {"gil", "--rows", "gils"},
    {"offgil", "--by", "both"},
    {"offgil", "--by", "holder", "--inverted", "--collapsed"},
    {"offgil", "--svg"},
    {"processes", "--json"},
    {"unshared", "--csv"},
    {"timeline"},
    {"timeline", "--by", "heap", "--format", "csv"},
    {"heap", "--limit", "0"},
    {"heap", "--leaks"},
    {"heap", "--sort", "blocks", "--file", "*.py", "--thread", "M*"},
    {"resident", "--sort", "file", "--exclude", "a*", "--limit", "1"},
    {"tree"},
    {"tree", "--inverted", "--limit", "0"},
    {"diff", "--json"},
    {"diff", "--stacks"},
    {"diff", "--at", "50%", "--by", "function"},
    {"heap", "--temporary"},
    {"heap", "--by", "stack", "--at", "0.01", "--to", "exit"},
    {"history", "--csv"},
    {"history", "--thread", "M*", "--sort", "growth"},
    {"history", "--svg", "--by", "stack"},
    {"snapshot", "--json"},
    {"snapshot", "--at", "heap-peak"},
    {"resident", "--at", "heap-peak"},
    {"snapshot", "--collapsed"},
    {"stats"},
    {"flame", "--inverted", "--at", "50%"},
    {"flame", "--by-thread", "--at", "a mark"},
    {"export"},
    {"export", "--format", "speedscope"},
    {"export", "--format", "perfetto", "--min-duration", "0"},
    {"export", "--format", "chrome"},
    {"timeline", "--threads"},
    {"query", "SELECT * FROM events LEFT JOIN stacks ON id = stack", "--csv"},
    {"query", "SELECT * FROM heap_events", "--json"},
    {"query", "SELECT * FROM page_events ORDER BY address", "--csv"},
    {"query", "SELECT * FROM blocks", "--at", "heap-peak", "--csv"},
    {"query", "SELECT own_line, sum(weight) FROM blocks GROUP BY 1"},
    {"query", "SELECT * FROM places, event_sums LIMIT 1000", "--csv"},
    {"query", "SELECT * FROM gil_events, tasks LIMIT 1000", "--csv"},
    {"query", "SELECT * FROM task_steps, threads LIMIT 1000", "--csv"},
    {"query", "SELECT * FROM thread_states, samples LIMIT 1000", "--csv"},
    {"query", "SELECT * FROM thread_memory, state_sums LIMIT 1000", "--csv"},
    {"query", "SELECT * FROM gil_threads, gil_waits LIMIT 1000", "--csv"},
    {"query", "SELECT * FROM gil_places, gil_blockers LIMIT 1000"},
    {"query", "SELECT * FROM gc_runs, mappings LIMIT 1000", "--csv"},
    {"query", "SELECT * FROM counters, marks LIMIT 1000", "--csv"},
    {"tables"},
    {"query", "SELECT * FROM pages, processes LIMIT 1000", "--at", "exit"},
};
const Arguments kObjects[] = {
    {"summary", "--limit", "0"},
    {"suspects", "--min-share", "1"},
    {"list", "--where", "size>=0", "--limit", "0"},
    {"path", "#3"},
    {"show", "#2"},
    {"parents", "#1"},
    {"children", "#0", "--csv"},
    {"refs", "#1", "--json"},
    {"retained", "*"},
    {"dominators", "--min", "0", "--depth", "20"},
    {"duplicates"},
    {"cycles"},
    {"collapse"},
    {"diff", "--json"},
    {"export"},
};
const Arguments kCats[] = {
    {"--text"},
    {"--summary"},
    {"--csv", "--columns", "event,stack"},
    {"--jsonl", "--records", "calls,marks,pages,heap"},
};

Arguments WithFile(Arguments arguments, const std::string& path) {
  const size_t files = arguments[0] == "diff" ? 2 : 1;
  arguments.insert(arguments.begin() + 1, files, path);
  return arguments;
}

void PrintAll(const std::string& path, const Console& console) {
  static std::atomic<bool> never{false};
  for (const Arguments& report : kReports) {
    RunPymemreport(WithFile(report, path), console);
  }
  for (const Arguments& objects : kObjects) {
    RunPymemobj(WithFile(objects, path), console);
  }
  // A dump that is its own run.
  RunPymemobj({"list", path, "--where", "line=*", "--run", path, "--csv"},
              console);
  RunPymemobj({"what-if", path, "*", "--run", path}, console);
  RunPymemobj({"suspects", path, "--run", path, "--min-share", "1"}, console);
  RunPymemreport({"heap", path, absl::StrCat("--objects=", path)}, console);
  for (const Arguments& cat : kCats) {
    RunPymemcat(WithFile(cat, path), console, &never);
  }
}

}  // namespace
}  // namespace pymemrun

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int fd = memfd_create("run.pb", MFD_CLOEXEC);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  pymemrun::FdSink file(fd), out(null);
  file.Append({reinterpret_cast<const char*>(data), size}).IgnoreError();
  pymemrun::PrintAll(absl::StrCat("/proc/self/fd/", fd),
                     {"reports_fuzz", &out, null, null});
  close(fd);
  close(null);
  return 0;
}

#ifndef PYMEMRUN_FUZZER
#include "tests/fuzz/replay_main.h"
#endif
