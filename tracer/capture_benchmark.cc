// What one event costs in the traced process without the interpreter: asking
// the gauge's signs, and putting a row into the ring.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "tracer/event_ring.h"
#include "tracer/hot_state.h"
#include "tracer/row_writer.h"
#include "tracer/rss_gauge.h"

namespace pymemrun {
namespace {

// A shared region with nobody at its other end, and signs that never move.
class Region {
 public:
  Region()
      : memory_(mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)),
        page_(new (memory_) ControlPage()) {
    page_->collector_pid = static_cast<uint32_t>(getpid());  // it lives
    HotState& hot = Hot();
    new (&hot) HotState{};
    hot.page = page_;
    hot.ring = reinterpret_cast<EventSlot*>(static_cast<char*>(memory_) +
                                            kControlBytes);
    hot.row_number = ~uint64_t{0};
    hot.deadline = ~uint64_t{0};
    hot.heads[0] = &heads_[0];
    hot.heads[1] = &heads_[1];
    hot.head_count = 2;
    hot.brk_word = &brk_;
  }
  ~Region() {
    new (&Hot()) HotState{};
    munmap(memory_, kRegionBytes);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // What the collector does, now and then: all that is there is taken.
  void TakeAll() {
    page_->tail.store(page_->head.load(std::memory_order_relaxed),
                      std::memory_order_release);
  }

 private:
  void* const memory_;
  ControlPage* const page_;
  volatile uint64_t heads_[2] = {};
  void* const brk_ = nullptr;
};

constexpr uint64_t kTakeEach = kRingSlots / 4;

void BM_GaugeCheck(benchmark::State& state) {
  Region region;
  uint64_t stamp = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(RssMayHaveMoved(Hot(), ++stamp));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_GaugeCheck);

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
    PutRow(hot, event, false, 0);
    if (++rows % kTakeEach == 0) region.TakeAll();
  }
}
BENCHMARK(BM_PutRow)->Arg(1)->Arg(100);

}  // namespace
}  // namespace pymemrun

BENCHMARK_MAIN();
