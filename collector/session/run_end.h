// The end of a run: the footer, and the answer to the launcher.
#ifndef PYMEMRUN_COLLECTOR_SESSION_RUN_END_H_
#define PYMEMRUN_COLLECTOR_SESSION_RUN_END_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "collector/events/event_encoder.h"
#include "collector/output/run_writer.h"
#include "collector/process/clock_scale.h"
#include "collector/process/launch_text.h"
#include "collector/process/process_stats.h"
#include "collector/process/process_watch.h"
#include "collector/session/sources.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

struct EndReportInput;

// CollectorProcess makes one when there are no more events. Not thread-safe.
class RunEnd {
 public:
  // Sources of the footer; all must outlive it.
  struct Parts {
    const ControlPage* page;
    ReplyPage* reply;
    const LaunchText* launch;
    int output_fd;
    uint32_t page_bytes;
    const ClockScale* clock;
    EventEncoder* encoder;
    const SourceList* sources;
    RunWriter* writer;
    ProcessWatch* watch;
    ProcessStats* stats;
    const ProcessSample* sample;  // last sample
  };
  explicit RunEnd(const Parts& parts) : in_(parts) {}

  // Writes the footer, and then releases the reply. `end`: the last state of
  // the process; `events`: a lower bound of their number.
  void Write(ProcessWatch::State end, uint64_t now_ns, uint64_t events);

 private:
  Footer MakeFooter(ProcessWatch::State end, uint64_t now_ns) const;
  void AddMemory(const EndFacts& facts, Footer* footer) const;
  void SetExit(ProcessWatch::State end, const EndFacts& facts,
               Footer* footer) const;
  std::string MadeAt() const;
  std::string AnswerText(const Footer& footer) const;
  // Adds the object dumps that are beside the run file.
  void AddDumps(EndReportInput* input) const;
  void Answer(const Footer& footer) const;

  const Parts in_;
};

// Larger files are not read for the end report: it would take too long.
inline constexpr uint64_t kMostAnsweredBytes = 4 << 20;

// Returns the output of `program report --brief`, the start of the end report,
// for the run file open as `file_fd`: whole lines of at most `columns` columns,
// safe for terminals. Empty if it failed, took too long, or was not run because
// the file is too large or not a regular file. Waits at most `most_ms`, and
// calls `beat` every 50 ms in this time. The program is the first to be killed
// when memory runs out.
std::string AskForAnswer(const std::string& program, int file_fd, int columns,
                         int most_ms, absl::FunctionRef<void()> beat);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_RUN_END_H_
