// The collector: drains the ring into the run file until the traced process
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

// Has the program make dumps of its objects: at the moments of the run, and
// when somebody asks this process. Not thread safe.
class DumpAsker {
 public:
  // All must outlive this; `pid_fd` is the program's.
  struct Parts {
    const ControlPage* page;
    ReplyPage* reply;
    int pid_fd;
    const ClockScale* clock;
    RecordSink* out;
  };
  DumpAsker(const DumpWishes& wishes, const Parts& parts);

  // To be called often, with RSS as it is (0: not known). Who asked a program
  // that cannot make dumps reads that in the run file.
  void Ask(uint64_t now_ns, uint64_t rss_bytes);

 private:
  const Parts in_;
  DumpMoments moments_;
  DumpOrders orders_;
};

// As collector_start.h numbers them. They stay the caller's.
struct CollectorFds {
  int region;
  int reply;
  int output;
  int pid;
  int text;
  // The first of the launch text's perf events; the collector closes those that
  // it maps.
  int first_page = -1;
};

// Not thread safe.
class CollectorProcess {
 public:
  // Maps what is shared and reads the launch text. Fails when the region is not
  // what ring_layout.h says. From then on nobody else can map the reply to
  // write.
  static absl::StatusOr<std::unique_ptr<CollectorProcess>> Create(
      const CollectorFds& fds);
  CollectorProcess(const CollectorProcess&) = delete;
  CollectorProcess& operator=(const CollectorProcess&) = delete;

  // Returns when the run file is complete, or as complete as it can be, and
  // done_state has been released.
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
  const ControlPage* const page_;  // in memory_, as the next
  ReplyPage* const reply_;
  LaunchText launch_;
  const int output_fd_;
  const pid_t pid_;
  const uint32_t page_bytes_;
  ClockScale clock_{MonotonicNs};
  ClockScale::Pair earlier_;  // measured before the run began
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
