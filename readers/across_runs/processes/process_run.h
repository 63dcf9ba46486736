// What one run file tells of its process.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_RUN_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_RUN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "readers/across_runs/processes/memory_curve.h"
#include "readers/answer/memory/answer.h"
#include "readers/answer/memory/place_curves.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Whether a process grew all the time, and at which line.

struct ProcessGrowth {
  uint64_t bytes = 0;  // see SteadyGrowth(); 0: it did not
  // The line that grew most; empty: not known.
  std::string line;
  uint64_t line_bytes = 0;
  uint64_t span_us = 0;  // in which it did, until the process's end
};

// `curves`: by kWorkLine, at these moments. `rss`: as it was read. While a
// process loads what it needs it grows, and leaks nothing. So the time counts
// from when half of what imports have at most was there, or nine tenths. A line
// that grew all the time is enough: its blocks may lie in memory that RSS had
// before.
ProcessGrowth FindGrowth(const PlaceCurves& curves, const EvenSteps& steps,
                         const std::vector<MemoryStep>& rss);

// Times are CLOCK_REALTIME, in microseconds: those of several files compare.
struct ProcessRun {
  std::string file;  // the run file's name, for people
  std::string host, command, end;
  std::string program;  // the command without the interpreter
  uint32_t pid = 0, parent_pid = 0;
  // When it and its parent began, in ticks of the host; 0: not known.
  uint64_t start_ticks = 0, parent_start_ticks = 0;
  bool forked = false;
  uint32_t untraced_children = 0;
  uint64_t begin_us = 0, end_us = 0;
  uint64_t peak_bytes = 0;      // of RSS
  uint64_t pss_peak_bytes = 0;  // the highest of `steps`; 0: PSS is not known
  std::vector<MemoryStep> steps;
  ProcessGrowth growth;
  // Of the user's own lines what holds most at its peak. Empty: not known.
  std::string top_line;
};

// Nothing: it could not be read, which has been said.
std::optional<ProcessRun> ReadProcess(RereadFile* file);
// The same, where the file was read for the answer before.
std::optional<ProcessRun> ReadProcess(RereadFile* file, const Answer& answer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_RUN_H_
