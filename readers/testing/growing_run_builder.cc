#include "readers/testing/growing_run_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "format/timed/task_batch.h"
#include "readers/testing/hostile_run.h"

namespace pymemrun {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kFirstPage = 1 << 20;

// RSS as it is read 100 times a second.
class Readings {
 public:
  explicit Readings(HostileRun* run) : run_(*run) {}
  void Look(uint64_t rss_bytes) {
    if (run_.now_us() < next_us_) return;
    next_us_ = run_.now_us() + 10000;
    run_.builder().AddProcess(run_.now_us(), rss_bytes, rss_bytes);
  }

 private:
  HostileRun& run_;
  uint64_t next_us_ = 0;
};

// A heap that grows fast, and every page of it is touched.
void FastHeap(uint64_t count, HostileRun* run) {
  constexpr uint64_t kBlockPages = 8;
  Readings readings(run);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t page = kFirstPage + i * kBlockPages;
    run->Alloc(page * kPageBytes, kBlockPages * kPageBytes - 64, 1 + i % 2);
    for (uint64_t k = 0; k < kBlockPages; k += 4) {
      run->Page(PAGE_CAME, page + k, 1, 0, 1 + i % 2);
      run->Page(PAGES_POPULATED, page + k + 1, 3, 0, 1 + i % 2);
    }
    run->Pass(50);
    readings.Look((i + 1) * kBlockPages * kPageBytes);
  }
}

// Most blocks go at once, and the heap goes up and down.
void Churn(uint64_t count, HostileRun* run) {
  constexpr uint64_t kKept = 2048;
  Readings readings(run);
  HeapEvent free;
  free.is_free = true;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t address = (kFirstPage + i % kKept) * kPageBytes;
    if (i >= kKept) {
      free.address = address;
      run->Heap(free);
      if (i % 4 == 0) run->Page(PAGES_UNMAPPED, kFirstPage + i % kKept, 1);
    }
    run->Alloc(address, 64 + i % 4000, 1 + i % 2);
    if (i % 4 == 0) run->Page(PAGE_CAME, kFirstPage + i % kKept, 1);
    for (uint64_t k = 1; k <= 4; ++k) {
      run->Alloc(k * 64, 48, 1);
      free.address = k * 64;
      run->Heap(free);
    }
    run->Pass(20);
    readings.Look((kKept + i % 512) * kPageBytes);
  }
}

// One after the other, each with a name of its own; some leave something.
void ManyThreads(uint64_t count, HostileRun* run) {
  Readings readings(run);
  HeapEvent free;
  free.is_free = true;
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t thread =
        run->builder().AddThread(absl::StrCat("request-", i), i + 2);
    const uint64_t address = (kFirstPage + i) * kPageBytes;
    run->Alloc(address, 2000, 1 + i % 2, thread);
    run->Page(PAGE_CAME, kFirstPage + i, 1, 0, 1 + i % 2);
    run->Alloc(64, 48, 2, thread);
    free.address = i % 3 == 0 ? 64 : address;
    run->Heap(free);
    run->Pass(100);
    readings.Look(i * kPageBytes);
  }
}

void Write(TaskBatchEncoder* steps, HostileRun* run) {
  Record record;
  steps->Take(record.mutable_tasks());
  run->builder().AddRecord(record);
}

// Short ones, each with a name of its own; some leave something.
void ManyTasks(uint64_t count, HostileRun* run) {
  Readings readings(run);
  Record recording;
  recording.mutable_task_recording();
  run->builder().AddRecord(recording);
  TaskBatchEncoder steps;
  HeapEvent free;
  free.is_free = true;
  for (uint64_t i = 0; i < count; ++i) {
    TaskEvent step;
    step.task = static_cast<uint32_t>(i + 1);
    step.thread = 1;
    step.stack = 1;
    Record record;
    record.mutable_task()->set_task(step.task);
    record.mutable_task()->set_name(absl::StrCat("Task-", i));
    record.mutable_task()->set_stack(1);
    run->builder().AddRecord(record);
    for (const TaskAction action : {TASK_WAITS, TASK_DONE}) {
      const uint64_t begin_ns = run->now_us() * 1000;
      const uint64_t address = (kFirstPage + i) * kPageBytes;
      if (action == TASK_WAITS) {
        run->Alloc(address, 700, 1 + i % 2);
        if (i % 8 == 0) run->Page(PAGE_CAME, kFirstPage + i, 1);
      } else if (i % 8 != 0) {
        free.address = address;
        run->Heap(free);
      }
      run->Pass(30);
      step.time_ns = run->now_us() * 1000;
      step.lasted_ns = step.time_ns - begin_ns;
      step.action = action;
      steps.Append(step);
      if (steps.entries() >= TaskBatchEncoder::kMaxEntries) Write(&steps, run);
      run->Pass(5);
    }
    readings.Look(i * kPageBytes / 8);
  }
  Write(&steps, run);
}

// Generated code: each block is of a line of its own, deep in calls.
void ManyLines(uint64_t count, HostileRun* run) {
  constexpr uint32_t kDeep = 60;
  Readings readings(run);
  const uint32_t chain = run->AddChain(kDeep);
  for (uint64_t i = 0; i < count; ++i) {
    const auto line = static_cast<uint32_t>(i + 100);
    const uint32_t stack = run->AddStack(chain - i % kDeep, line);
    run->Alloc((kFirstPage + i) * kPageBytes, 3000, stack);
    run->Page(PAGE_CAME, kFirstPage + i, 1, 0, stack);
    run->Pass(50);
    readings.Look(i * kPageBytes);
  }
}

// As by a hostile program: each event is far behind the one before.
void FarTimes(uint64_t count, HostileRun* run) {
  const uint64_t step = (uint64_t{1} << 50) / count;
  for (uint64_t i = 0; i < count; ++i) {
    run->Alloc((kFirstPage + i) * kPageBytes, 3000, 1 + i % 2);
    run->Page(PAGE_CAME, kFirstPage + i, 1);
    run->Pass(step);
  }
}

struct GrowingKind {
  absl::string_view name;
  void (*build)(uint64_t count, HostileRun* run);
};
constexpr GrowingKind kKinds[] = {
    {"fast_heap", FastHeap},       {"churn", Churn},
    {"many_threads", ManyThreads}, {"many_tasks", ManyTasks},
    {"many_lines", ManyLines},     {"far_times", FarTimes},
};

}  // namespace

std::vector<std::string> GrowingRunNames() {
  std::vector<std::string> names;
  for (const GrowingKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

bool BuildGrowingRun(absl::string_view name, uint64_t count, ByteSink* sink) {
  for (const GrowingKind& kind : kKinds) {
    if (kind.name != name) continue;
    HostileRun run(sink, /*logs_all=*/false, /*forked=*/false);
    kind.build(count, &run);
    return true;
  }
  return false;
}

}  // namespace pymemrun
