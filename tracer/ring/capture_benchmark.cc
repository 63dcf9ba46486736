// What one event costs in the traced process without the interpreter: asking
// the gauge's signs, and putting a row into the ring.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "tracer/base/hot_state.h"
#include "tracer/gauge/rss_signs.h"
#include "tracer/ring/event_ring.h"
#include "tracer/ring/row_writer.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

// A shared region with no reader at its other end, and signs that never move.
class Region {
 public:
  Region() {
    std::memset(region_.slots(), 0, kRingBytes);  // it is there
    region_.reply()->collector_pid = static_cast<uint32_t>(getpid());
    HotState& hot = Hot();
    new (&hot) HotState{};
    hot.page = region_.page();
    hot.ring = region_.slots();
    hot.ring_mask = kRingSlots - 1;
    hot.row_number = ~uint64_t{0};
    hot.deadline = ~uint64_t{0};
    hot.heads[0] = hot.heads[1] = &head_;
    hot.brk_word = &brk_;
  }
  ~Region() { new (&Hot()) HotState{}; }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // What the collector does, now and then: all that is there is taken.
  void TakeAll() {
    region_.reply()->tail.store(
        region_.page()->head.load(std::memory_order_relaxed),
        std::memory_order_release);
  }

 private:
  TestRegion region_;
  const volatile uint64_t head_ = 0;
  void* const brk_ = nullptr;
};

constexpr uint64_t kTakeEach = kRingSlots / 4;

// Heads as the kernel maps them: each at the same place of a page of its own,
// two pages apart.
class MappedHeads {
 public:
  explicit MappedHeads(uint32_t count)
      : bytes_(count * 8192),
        memory_(static_cast<char*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0))) {
    HotState& hot = Hot();
    hot.head_count = count;
    for (uint32_t i = 0; i < count; ++i) {
      hot.heads[i] =
          reinterpret_cast<const volatile uint64_t*>(memory_ + i * 8192 + 1024);
    }
  }
  ~MappedHeads() { munmap(memory_, bytes_); }

 private:
  const size_t bytes_;
  char* const memory_;
};

// Arguments: CPUs, each with a counter; whether all are read.
void BM_GaugeCheck(benchmark::State& state) {
  Region region;
  MappedHeads heads(static_cast<uint32_t>(state.range(0)));
  static thread_local uint32_t t_cpu[1] = {1};
  HotState& hot = Hot();
  if (state.range(1) == 0) {
    hot.cpu_offset = reinterpret_cast<char*>(t_cpu) -
                     static_cast<char*>(__builtin_thread_pointer());
    hot.seen_cpu = t_cpu[0];
    hot.own_head = hot.heads[1];
  }
  uint64_t stamp = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(RssMayHaveMoved(hot, stamp += 100));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_GaugeCheck)
    ->ArgNames({"cpus", "all"})
    ->ArgsProduct({{2, 4, 8, 16, 32, 64}, {1}})
    ->ArgsProduct({{16, 32, 64}, {0}});

// As the hook that logs everything does where the row before is the event
// before.
void BM_PushSlot(benchmark::State& state) {
  Region region;
  HotState& hot = Hot();
  uint32_t stamp = 0;
  for (auto _ : state) {
    if (hot.head >= hot.limit) {
      region.TakeAll();
      if (!ReserveSlots(hot, 1)) state.SkipWithError("the ring is full");
    }
    SlotAt(hot, hot.head) = EventSlot{1, 2, 0, ++stamp};
    Publish(hot, hot.head + 1);
  }
}
BENCHMARK(BM_PushSlot);

// Argument: event numbers between two rows; above 1 each row needs a state slot
// of its own.
void BM_PutRow(benchmark::State& state) {
  Region region;
  HotState& hot = Hot();
  const uint64_t step = static_cast<uint64_t>(state.range(0));
  RawEvent event = {0, 0, 1, 2, 0, 1, 100, 0};
  uint64_t rows = 0;
  for (auto _ : state) {
    event.number += step;
    event.stamp += 100;
    PutRow(hot, event, {});
    if (++rows % kTakeEach == 0) region.TakeAll();
  }
}
BENCHMARK(BM_PutRow)->Arg(1)->Arg(100);

}  // namespace
}  // namespace pymemrun

BENCHMARK_MAIN();
