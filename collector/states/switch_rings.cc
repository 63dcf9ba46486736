#include "collector/states/switch_rings.h"

#include <cstring>

namespace pymemrun {
namespace {

// Small, because page events take the rest of what a user may lock. A CPU with
// 200,000 switches a second fills the smallest ring in 10 ms.
constexpr PerfRings::Sizes kSizes = {size_t{256} << 10, size_t{64} << 10,
                                     size_t{8} << 20};

// The end of each record with sample_id_all, for TID, TIME and CPU; see
// perf_event_open(2).
struct SampleId {
  uint32_t process, thread;
  uint64_t time_ns;
  uint32_t cpu, reserved;
};
struct SwitchRecord {
  perf_event_header header;
  SampleId id;
};
static_assert(sizeof(SwitchRecord) == 32);

// PERF_RECORD_FORK and PERF_RECORD_EXIT, without their end.
struct TaskRecord {
  perf_event_header header;
  uint32_t process, parent_process;
  uint32_t thread, parent_thread;
  uint64_t time_ns;
};
static_assert(sizeof(TaskRecord) == 32);
static_assert(sizeof(TaskRecord) <= PerfRing::kMostBytes);

// A switch out without the flag for preemption means that the thread sleeps.
StateAction ActionOf(const perf_event_header& header) {
  if ((header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0) return STATE_RUNS;
  return (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0
             ? STATE_PREEMPTED
             : STATE_SLEEPS;
}

}  // namespace

// Records of other processes are skipped: a parent's rings also have the start
// and end of its forked children.
void SwitchRings::DrainSteps(PerfRing* ring, pid_t pid,
                             std::vector<ThreadStep>* out) {
  ring->Drain([=](const perf_event_header& header, const char* record,
                  size_t bytes) {
    if (header.type == PERF_RECORD_SWITCH && bytes >= sizeof(SwitchRecord)) {
      SwitchRecord found;
      std::memcpy(&found, record, sizeof(found));
      if (found.id.process != static_cast<uint32_t>(pid)) return;
      out->push_back({found.id.time_ns, found.id.thread, ActionOf(header)});
    } else if ((header.type == PERF_RECORD_FORK ||
                header.type == PERF_RECORD_EXIT) &&
               bytes >= sizeof(TaskRecord)) {
      TaskRecord found;
      std::memcpy(&found, record, sizeof(found));
      if (found.process != static_cast<uint32_t>(pid)) return;
      out->push_back(
          {found.time_ns, found.thread,
           header.type == PERF_RECORD_FORK ? STATE_BORN : STATE_ENDED});
    }
  });
}

absl::StatusOr<std::unique_ptr<SwitchRings>> SwitchRings::Map(int first_fd,
                                                              uint32_t count,
                                                              pid_t pid) {
  auto rings = PerfRings::Map(first_fd, count, kSizes, "context switches");
  if (!rings.ok()) return rings.status();
  return std::unique_ptr<SwitchRings>(new SwitchRings(*std::move(rings), pid));
}

void SwitchRings::Drain(uint64_t until_ns, std::vector<ThreadStep>* out) {
  for (PerfRing& ring : rings_->rings()) {
    held_.Add(
        [&](std::vector<ThreadStep>* held) { DrainSteps(&ring, pid_, held); });
  }
  held_.Give(until_ns, out);
}

}  // namespace pymemrun
