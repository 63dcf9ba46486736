// Both rings as the tracer fills them, before a HeapCollector. For tests only.
#ifndef PYMEMRUN_COLLECTOR_HEAP_HEAP_COLLECTOR_FOR_TESTS_H_
#define PYMEMRUN_COLLECTOR_HEAP_HEAP_COLLECTOR_FOR_TESTS_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "collector/events/event_encoder.h"
#include "collector/heap/heap_collector.h"
#include "collector/heap/heap_output_for_tests.h"
#include "collector/process/monotonic_clock.h"
#include "collector/ring/ring_fixture.h"
#include "collector/ring/side_ring_fixture.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {

inline constexpr uint64_t kSecond = 1000000000;

class HeapCollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    page_->traced_pid = static_cast<uint32_t>(getpid());
    clock_.Start(false, {0, kSecond}, {});
    encoder_.Start(kSecond);
    Record header;
    header.mutable_header()->set_format_version(1);
    out_.Write(header);
    Make(/*merges=*/true);
    ring_.Code(1, "a.py", "outer");
    ring_.Code(2, "a.py", "inner");
    ring_.Stack(1, 0, 1, 0);
    ring_.Stack(2, 1, 2, 0);
    ring_.Thread(1, page_->traced_pid, "MainThread");
    ring_.State(ControlKind::kThread, 1);
    side_ring_.Code(1, "a.py", "sided", 1);
  }

  void Make(bool merges) {
    side_ = std::make_unique<SideItems>(page_, region_.reply(), getpid(),
                                        &encoder_.definitions(), &out_);
    heap_ = std::make_unique<HeapCollector>(
        HeapCollector::Options{{page_, getpid(), 4096, &clock_,
                                &encoder_.definitions(), side_.get(), &out_},
                               &merger_,
                               &rates_,
                               /*takes_forks=*/true});
    merger_.set_events(side_.get(), heap_.get(), merges);
    encoder_.set_heap(heap_.get());
  }
  void Start(uint64_t mean_bytes = 0) {
    rates_.set_mean_bytes(mean_bytes);
    heap_->Describe(/*start_ns=*/0);
    side_->Start();
  }
  // A round of what both rings hold now.
  void Round() {
    side_->Drain(MonotonicNs(), false);
    encoder_.Consume(ring_.slots().data(), ring_.slots().size());
    ring_.Clear();
    heap_->EndRound(encoder_.next_index(), MonotonicNs());
  }
  std::vector<std::string> Finish() {
    encoder_.EndBatch();
    side_->Drain(MonotonicNs(), true);
    heap_->Finish(MonotonicNs(), /*process_lives=*/false);
    return out_.lines;
  }
  void Clock(uint64_t stamp) { ring_.Wide(ControlKind::kClock, stamp); }
  // The event ring's head, as a thread without the GIL sees it now.
  uint64_t Head() const { return encoder_.next_index() + ring_.slots().size(); }
  void SideAlloc(uint64_t address, uint64_t size) {
    SideAllocAt(Head(), address, size);
  }
  void SideAllocAt(uint64_t index, uint64_t address, uint64_t size) {
    side_ring_.Alloc(AllocatorKind::kRaw, page_->traced_pid, kSecond + 500,
                     index, address, size, {{1, 0}});
  }
  void SideFree(uint64_t address) { SideFreeAt(Head(), address); }
  void SideFreeAt(uint64_t index, uint64_t address) {
    side_ring_.Free(page_->traced_pid, kSecond + 500, index, address);
  }

  TestRegion region_;
  ControlPage* const page_ = region_.page();
  SideProducer side_ring_{page_, region_.cells()};
  SlotStream ring_;
  ClockScale clock_;
  HeapOutput out_;
  EventEncoder encoder_{4096, &clock_, &out_};
  RingReader reader_{page_, region_.slots(), region_.reply()};
  RingMerger merger_{&reader_, &encoder_};
  HeapRates rates_;
  std::unique_ptr<SideItems> side_;
  std::unique_ptr<HeapCollector> heap_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_HEAP_HEAP_COLLECTOR_FOR_TESTS_H_
