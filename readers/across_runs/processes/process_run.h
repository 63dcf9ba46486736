// A process, from its run file.
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
  uint64_t bytes = 0;  // see SteadyGrowth(); 0: it did not grow
  // The line that grew most; empty: unknown.
  std::string line;
  uint64_t line_bytes = 0;
  uint64_t span_us = 0;  // the time of that growth, up to the process's end
};

// `curves` are by kWorkLine at these moments; `rss` are the readings. A process
// that loads what it needs grows without a leak. So the time starts when half
// of the highest bytes of imports were there, or nine tenths. It is enough if a
// single line grew all the time: its blocks may use memory that RSS had before.
ProcessGrowth FindGrowth(const PlaceCurves& curves, const EvenSteps& steps,
                         const std::vector<MemoryStep>& rss);

// Times are CLOCK_REALTIME in microseconds, so that files can be compared.
struct ProcessRun {
  std::string file;  // the run file's name, for people
  std::string host, command, end;
  std::string program;  // the command, without the interpreter
  uint32_t pid = 0, parent_pid = 0;
  // Start times of the process and its parent, in ticks of the host; 0:
  // unknown.
  uint64_t start_ticks = 0, parent_start_ticks = 0;
  bool forked = false;
  uint32_t untraced_children = 0;
  uint64_t begin_us = 0, end_us = 0;
  uint64_t peak_bytes = 0;      // of RSS
  uint64_t pss_peak_bytes = 0;  // the highest of `steps`; 0: PSS is unknown
  std::vector<MemoryStep> steps;
  ProcessGrowth growth;
  // The own line that holds most at the peak. Empty: unknown.
  std::string top_line;
};

// Returns nothing if the file could not be read, and has printed why.
std::optional<ProcessRun> ReadProcess(RereadFile* file);
// The same for a file that was already read for the answer.
std::optional<ProcessRun> ReadProcess(RereadFile* file, const Answer& answer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_PROCESS_RUN_H_
