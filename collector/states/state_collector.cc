#include "collector/states/state_collector.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "collector/definitions/native_thread.h"
#include "collector/process/proc_file.h"
#include "collector/states/sleep_look.h"

namespace pymemrun {
namespace {

// Samples younger than this may be missing, as with page events.
constexpr uint64_t kSettleNs = 2000000;
// Before the start is seen, events older than this are taken to be older than
// the run.
constexpr uint64_t kEarlyNs = 1000000000;
constexpr uint32_t kLongestNapUs = 10000;
constexpr uint32_t kLongestNapWithoutRingsUs = 40000;
// A sleep of this length is looked at, once.
constexpr uint64_t kLookAfterNs = 3000000;
constexpr int kMostLooks = 64;  // at a time
constexpr size_t kMostSleepers = size_t{1} << 16;
// Without switches the counts are all that is known, so they are read more
// often.
constexpr uint64_t kSamplePeriodNs = 100000000;
constexpr uint64_t kSamplePeriodWithRingsNs = 1000000000;
// Threads that are remembered. Definitions of others are repeated.
constexpr size_t kMostThreads = size_t{1} << 16;

int OpenTasks(pid_t pid) {
  return open(ProcPath(pid, "task").c_str(),
              O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// nullptr: no switches can be recorded, and `options` has the reason.
std::unique_ptr<SwitchRings> MapRings(StateCollector::Options* options) {
  if (options->events == 0) return nullptr;
  auto rings =
      SwitchRings::Map(options->first_fd, options->events, options->pid);
  if (rings.ok()) return *std::move(rings);
  options->reason = std::string(rings.status().message());
  return nullptr;
}

}  // namespace

StateCollector::StateCollector(Options options)
    : options_(std::move(options)),
      rings_(MapRings(&options_)),
      task_fd_(OpenTasks(options_.pid)),
      sampler_(task_fd_, /*counts_switches=*/rings_ == nullptr) {}

StateCollector::~StateCollector() {
  if (task_fd_ >= 0) close(task_fd_);
}

uint32_t StateCollector::longest_nap_us() const {
  return rings_ == nullptr ? kLongestNapWithoutRingsUs : kLongestNapUs;
}

void StateCollector::WriteRecording() {
  Record record;
  StateRecording* const recording = record.mutable_state_recording();
  recording->set_switches(rings_ != nullptr);
  recording->set_reason(options_.reason);
  recording->set_cannot_look(cannot_look_);
  options_.out->Write(record);
}

// The first record of counts has zeros, as later ones count from here.
void StateCollector::Describe(uint64_t start_ns) {
  started_ = true;
  start_ns_ = start_ns;
  WriteRecording();
  Record record;
  SchedBatch* const batch = record.mutable_sched();
  sampler_.Start(
      [this](uint32_t thread, bool is_new) { return IdOf(thread, 0, is_new); },
      batch);
  options_.out->Write(record);
  if (rings_ == nullptr) return;
  // The main thread runs when the run begins.
  Take({start_ns, static_cast<uint32_t>(options_.pid), STATE_RUNS});
}

size_t StateCollector::Drain(uint64_t now_ns) {
  if (rings_ != nullptr) {
    const uint64_t age_ns = started_ ? kSettleNs : kEarlyNs;
    rings_->Drain(now_ns - std::min(now_ns, age_ns), &steps_);
  }
  const size_t taken = steps_.size();
  if (started_) {
    for (const ThreadStep& step : steps_) Take(step);
    LookAtSleepers(now_ns);
    if (now_ns >= next_sample_ns_) SampleSched(now_ns);
  }
  steps_.clear();
  return taken;
}

// The kernel reuses the number of a thread that has ended. `is_new`: the number
// belongs to a new thread.
uint32_t StateCollector::IdOf(uint32_t thread, uint64_t time_ns, bool is_new) {
  const auto id = [&] {
    return NativeThreadId(options_.pid, thread, time_ns / 1000,
                          options_.definitions);
  };
  if (!is_new) return id();
  const auto ended = ended_.find(thread);
  if (ended == ended_.end()) return id();
  // Only if the event ring has not defined the new thread yet.
  if (id() == ended->second) options_.definitions->ForgetNative(thread);
  ended_.erase(ended);
  return id();
}

// Turns a step into an event of the file, and keeps what the thread does, for
// LookAtSleepers().
void StateCollector::Take(const ThreadStep& step) {
  if (step.time_ns < start_ns_) return;
  StateEvent event;
  event.time_ns = options_.clock->NanosOfMonotonic(step.time_ns);
  event.action = step.action;
  if (threads_.size() >= kMostThreads && !threads_.contains(step.thread)) {
    threads_.clear();
  }
  Doing& doing = threads_[step.thread];
  if (doing.id == 0 || step.action == STATE_BORN) {
    doing = {IdOf(step.thread, event.time_ns, step.action == STATE_BORN)};
  }
  event.thread = doing.id;
  std::string name;
  if (step.action == STATE_SEEN) {
    event.reason = step.reason;
    if (step.reason == SLEEP_OTHER) name = NameOfCall(step.call);
    event.other = name;
  } else {
    doing.is_asleep = step.action == STATE_SLEEPS;
  }
  if (step.action == STATE_SLEEPS) {
    sleepers_.push_back({step.time_ns, step.thread, ++doing.sleeps});
    if (sleepers_.size() > kMostSleepers) sleepers_.pop_front();
  } else if (step.action == STATE_ENDED) {
    if (ended_.size() >= kMostThreads) ended_.clear();
    ended_[step.thread] = doing.id;
    threads_.erase(step.thread);
    if (rings_ != nullptr) sampler_.Ended(step.thread);
  }
  encoder_.Append(event);
  if (encoder_.entries() >= StateBatchEncoder::kMaxEntries) WriteBatch();
}

// sleepers_ is in the order of time. An entry is skipped if its thread has
// woken since.
void StateCollector::LookAtSleepers(uint64_t now_ns) {
  if (cannot_look_ || now_ns < next_look_ns_) return;
  const uint64_t cpu_ns = ThreadCpuNs();
  int looks = 0;
  while (!sleepers_.empty() && looks < kMostLooks && !cannot_look_) {
    const Sleeper sleeper = sleepers_.front();
    if (sleeper.since_ns + kLookAfterNs > now_ns) break;
    sleepers_.pop_front();
    const auto doing = threads_.find(sleeper.thread);
    if (doing == threads_.end() || !doing->second.is_asleep ||
        doing->second.sleeps != sleeper.sleeps) {
      continue;  // it is over
    }
    LookAt(sleeper.thread);
    ++looks;
  }
  if (looks == 0) return;
  next_look_ns_ = now_ns + kLookCostFactor * (ThreadCpuNs() - cpu_ns);
}

// The thread may have woken a moment ago and sleep for another reason. So the
// look is an event with its own time, and falls into the right sleep.
void StateCollector::LookAt(uint32_t thread) {
  const uint64_t time_ns = MonotonicNs();
  const SleepLook look = LookAtSleep(task_fd_, thread);
  if (look.answer == SleepLook::kRefused) {
    cannot_look_ = true;
    WriteRecording();
  } else if (look.answer == SleepLook::kSleeps) {
    rings_->Add({time_ns, thread, STATE_SEEN, look.reason, look.call});
  }
}

// Without switches these counts also show which threads begin and end.
void StateCollector::SampleSched(uint64_t now_ns) {
  const uint64_t cpu_ns = ThreadCpuNs();
  Record record;
  SchedBatch* const batch = record.mutable_sched();
  batch->set_time_us(options_.clock->MicrosOfMonotonic(now_ns));
  const std::vector<uint32_t> gone = sampler_.Read(
      [&](uint32_t thread, bool is_new) {
        // With switches, those show which threads are new.
        if (rings_ != nullptr || !is_new) {
          return IdOf(thread, options_.clock->NanosOfMonotonic(now_ns), false);
        }
        if (threads_.contains(thread)) Take({now_ns, thread, STATE_ENDED});
        Take({now_ns, thread, STATE_BORN});
        return threads_[thread].id;
      },
      batch);
  for (const uint32_t thread : gone) {
    if (rings_ == nullptr) Take({now_ns, thread, STATE_ENDED});
  }
  if (batch->thread_size() > 0) options_.out->Write(record);
  next_sample_ns_ =
      now_ns +
      std::max(rings_ == nullptr ? kSamplePeriodNs : kSamplePeriodWithRingsNs,
               kLookCostFactor * (ThreadCpuNs() - cpu_ns));
}

void StateCollector::WriteBatch() {
  if (encoder_.empty()) return;
  Record record;
  encoder_.Take(record.mutable_states());
  options_.out->Write(record);
}

void StateCollector::EndBatch(uint64_t) {
  const uint64_t lost = rings_ == nullptr ? 0 : rings_->lost();
  if (lost > written_lost_) encoder_.AddLost(lost - written_lost_);
  written_lost_ = lost;
  WriteBatch();
}

void StateCollector::Finish(uint64_t now_ns, bool) {
  if (!started_) return;
  if (rings_ != nullptr) {
    rings_->Drain(now_ns, &steps_);
    for (const ThreadStep& step : steps_) Take(step);
    steps_.clear();
  }
  // A process that was killed has no threads left to read.
  SampleSched(now_ns);
  EndBatch(now_ns);
}

}  // namespace pymemrun
