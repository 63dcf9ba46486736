// The collector: drains the rings into the run file until the traced process
// ends, then completes the file.
#ifndef PYMEMRUN_COLLECTOR_SESSION_COLLECTOR_PROCESS_H_
#define PYMEMRUN_COLLECTOR_SESSION_COLLECTOR_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "collector/events/event_encoder.h"
#include "collector/output/record_sink.h"
#include "collector/output/run_writer.h"
#include "collector/process/clock_scale.h"
#include "collector/process/dump_orders.h"
#include "collector/process/launch_text.h"
#include "collector/process/monotonic_clock.h"
#include "collector/process/process_watch.h"
#include "collector/ring/ring_reader.h"
#include "collector/session/process_sampler.h"
#include "collector/session/sources.h"
#include "collector/side/ring_merger.h"
#include "collector/side/side_items.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Orders object dumps from the program: at the moments of the run, and when
// another process asks the collector. Not thread-safe.
class DumpAsker {
 public:
  // All must outlive it; `pid_fd` is that of the program.
  struct Parts {
    const ControlPage* page;
    ReplyPage* reply;
    int pid_fd;
    const ClockScale* clock;
    RecordSink* out;
  };
  DumpAsker(const DumpWishes& wishes, const Parts& parts);

  // Call it often, with the current RSS (0: not known). If the program cannot
  // make dumps, the answer to a request is in the run file.
  void Ask(uint64_t now_ns, uint64_t rss_bytes);

 private:
  const Parts in_;
  DumpMoments moments_;
  DumpOrders orders_;
};

// Descriptors, numbered in collector_start.h. The caller owns them, except the
// perf events that the collector maps: it closes these.
struct CollectorFds {
  int region;
  int reply;
  int output;
  int pid;
  int text;
  // First perf event of the launch text.
  int first_page = -1;
};

// Not thread-safe.
class CollectorProcess {
 public:
  // Maps the shared memory and reads the launch text. Fails if the region is
  // not as ring_layout.h describes. Afterwards no other process can map the
  // reply for writing.
  static absl::StatusOr<std::unique_ptr<CollectorProcess>> Create(
      const CollectorFds& fds);
  CollectorProcess(const CollectorProcess&) = delete;
  CollectorProcess& operator=(const CollectorProcess&) = delete;

  // Runs until the run file is as complete as it can be and done_state was
  // released.
  void Run();

 private:
  CollectorProcess(std::unique_ptr<SharedMemory> memory,
                   const CollectorFds& fds, LaunchText launch);
  absl::Status Open(int first_fd);
  ProcessWatch::State WaitForStart();
  void BeginFile(bool started);
  ProcessWatch::State CollectUntilEnd();
  void AnswerFinalize();
  void LetGo();
  void Nap(size_t drained, uint32_t* nap_us);
  void Housekeep(uint64_t now_ns);
  bool ReadSources();
  void FlushFile(uint64_t now_ns);
  void Beat();

  void Finish(ProcessWatch::State end, uint64_t now_ns);

  const std::unique_ptr<SharedMemory> memory_;
  const ControlPage* const page_;  // these two are in memory_
  ReplyPage* const reply_;
  LaunchText launch_;
  const int output_fd_;
  const pid_t pid_;
  const uint32_t page_bytes_;
  ClockScale clock_{MonotonicNs};
  ClockScale::Pair earlier_;  // measured before the run started
  RunWriter writer_;
  EventEncoder encoder_;
  RingReader ring_;
  RingMerger merger_;
  SideItems side_;
  SourceList sources_;
  ProcessWatch watch_;
  ProcessSampler sampler_;
  DumpAsker dumps_;
  uint64_t next_flush_ns_ = 0;
  uint64_t next_sample_ns_ = 0;
  bool answered_finalize_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_COLLECTOR_PROCESS_H_
