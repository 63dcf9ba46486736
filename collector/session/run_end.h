// The end of a run: the footer, and what the launcher is told.
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

// CollectorProcess makes one when nothing more comes. Not thread safe.
class RunEnd {
 public:
  // What knows something of it; all must outlive it.
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
    const ProcessSample* sample;  // the last one
  };
  explicit RunEnd(const Parts& parts) : in_(parts) {}

  // Writes the footer, and then releases the reply. `end`: how the process was
  // seen last; `events`: how many there were, at least.
  void Write(ProcessWatch::State end, uint64_t now_ns, uint64_t events);

 private:
  Footer MakeFooter(ProcessWatch::State end, uint64_t now_ns) const;
  void AddMemory(const EndFacts& facts, Footer* footer) const;
  void SetExit(ProcessWatch::State end, const EndFacts& facts,
               Footer* footer) const;
  std::string MadeAt() const;
  std::string AnswerText(const Footer& footer) const;
  // Adds the dumps of objects, as far as they lie beside the run file.
  void AddDumps(EndReportInput* input) const;
  void Answer(const Footer& footer) const;

  const Parts in_;
};

// Asks pymemreport for the first lines of the answer, for the end report.

// A larger file takes too long to read.
inline constexpr uint64_t kMostAnsweredBytes = 4 << 20;

// What `program report --brief` prints of the run file that is open as
// `file_fd`, in so many columns: whole lines, harmless for terminals. Empty: it
// failed, took too long, or was not asked, as the file is large or no file.
// Waits `most_ms` at most, and calls `beat` meanwhile, each 50 ms. When memory
// runs out, the program is killed first.
std::string AskForAnswer(const std::string& program, int file_fd, int columns,
                         int most_ms, absl::FunctionRef<void()> beat);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_RUN_END_H_
