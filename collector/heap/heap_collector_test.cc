// Both rings as the tracer fills them, to what readers see.
#include "collector/heap/heap_collector.h"

#include <gmock/gmock.h>

#include "collector/heap/heap_collector_for_tests.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;

void AnyFunction() {}

TEST_F(HeapCollectorTest, SlotsOfTheEventRingBecomeEvents) {
  Start();
  ring_.Alloc(2, 0x7f0011112220, 56);
  ring_.Alloc(1, 0x7f0011113330, uint64_t{5} << 30, AllocatorKind::kRaw);
  ring_.Free(0x7f0011112220);
  ring_.Alloc(0, 0x7f0011112220, 8, AllocatorKind::kMem);
  ring_.Alloc(2, 0x7f0011114440, 400, AllocatorKind::kObj, kHeapTracing);
  ring_.Alloc(99, 0x10, 1);  // a stack that was never defined
  Round();
  EXPECT_THAT(
      Finish(),
      ElementsAre("HEAP_OBJ 7f0011112220 56 /outer/inner",
                  "HEAP_RAW 7f0011113330 5368709120 /outer",
                  "free 7f0011112220", "HEAP_MEM 7f0011112220 8 /<interpreter>",
                  "HEAP_OBJ 7f0011114440 400 /<tracing itself>",
                  "HEAP_OBJ 10 1 /<unknown>"));
  Footer footer;
  heap_->AddToFooter(&footer);
  EXPECT_EQ(footer.heap_allocations(), 5u);
  EXPECT_EQ(footer.heap_frees(), 1u);
  EXPECT_EQ(footer.heap_events_lost(), 0u);
}

TEST_F(HeapCollectorTest, TheHighHalfOfASizeIsOfOneAllocation) {
  Start();
  ring_.State(ControlKind::kHeapSize, 1);
  ring_.Free(0x20);
  ring_.Alloc(1, 0x20, 0);
  ring_.Alloc(1, 0x30, 7);
  Round();
  EXPECT_THAT(Finish(), ElementsAre("free 20", "HEAP_OBJ 20 4294967296 /outer",
                                    "HEAP_OBJ 30 7 /outer"));
}

TEST_F(HeapCollectorTest, ThreadAndTimeAreTheState) {
  Start();
  ring_.Alloc(1, 0x100, 1);
  Clock(kSecond + 5000);
  ring_.Alloc(1, 0x200, 1);
  ring_.Thread(2, 77, "worker");
  ring_.State(ControlKind::kThread, 2);
  ring_.Free(0x100);
  ring_.Row(0, 1, 0, 0, kSecond + 9000);  // a row moves the time, too
  ring_.Free(0x200);
  Round();
  Finish();
  ASSERT_EQ(out_.heap.size(), 4u);
  std::vector<std::string> seen;
  for (const HeapEvent& event : out_.heap) {
    seen.push_back(
        absl::StrCat(event.time_us, " us ", out_.threads[event.thread].name()));
  }
  EXPECT_THAT(seen, ElementsAre("0 us MainThread", "5 us MainThread",
                                "5 us worker", "9 us worker"));
}

TEST_F(HeapCollectorTest, WithoutPagesAForkIsToldAllTheSame) {
  Start();
  side_ring_.Plain(SideKind::kFork, kSecond + 500, 4711);
  Round();
  EXPECT_THAT(Finish(), ElementsAre("fork 4711"));
}

TEST_F(HeapCollectorTest, AStackIdMayBeDefinedAnew) {
  Start();
  ring_.Alloc(1, 0x100, 1);
  ring_.Stack(1, 0, 2, 0);
  ring_.Alloc(1, 0x200, 1);
  ring_.State(ControlKind::kForget, 0, 0,
              static_cast<uint32_t>(ControlKind::kStackDef));
  ring_.Alloc(1, 0x300, 1);
  Round();
  EXPECT_THAT(Finish(),
              ElementsAre("HEAP_OBJ 100 1 /outer", "HEAP_OBJ 200 1 /inner",
                          "HEAP_OBJ 300 1 /<unknown>"));
}

// A raw block is freed without the GIL, its address given out under the GIL,
// freed there and given out without it.
TEST_F(HeapCollectorTest, AnItemComesBeforeTheSlotThatItNames) {
  Start();
  SideAlloc(0x1000, 10);
  SideFree(0x1000);
  ring_.Alloc(1, 0x1000, 20);
  ring_.Free(0x1000);
  SideAlloc(0x1000, 30);
  ring_.Alloc(1, 0x2000, 40);
  Round();
  EXPECT_THAT(Finish(), ElementsAre("HEAP_RAW 1000 10 /sided", "free 1000",
                                    "HEAP_OBJ 1000 20 /outer", "free 1000",
                                    "HEAP_RAW 1000 30 /sided",
                                    "HEAP_OBJ 2000 40 /outer"));
}

// The side ring is read after the event ring's head was: what it says may come
// behind slots that were not read yet.
TEST_F(HeapCollectorTest, AnItemWaitsForTheSlotsBeforeIt) {
  Start();
  SideAllocAt(Head() + 1, 0x1000, 30);
  Round();
  heap_->WriteBatch();
  EXPECT_THAT(out_.lines, ElementsAre());
  ring_.Free(0x1000);
  Round();
  heap_->WriteBatch();
  EXPECT_THAT(out_.lines, ElementsAre("free 1000", "HEAP_RAW 1000 30 /sided"));
  SideFree(0x1000);  // nothing is before it
  Round();
  heap_->WriteBatch();
  EXPECT_EQ(out_.lines.size(), 3u);
}

TEST_F(HeapCollectorTest, ItemsReservedOutOfOrderComeInTheirs) {
  Start();
  const uint64_t head = Head();
  SideAllocAt(head + 1, 0x2000, 2);
  SideFreeAt(head, 0x1000);
  ring_.Alloc(1, 0x1000, 1);
  ring_.Free(0x2000);
  Round();
  EXPECT_THAT(Finish(), ElementsAre("free 1000", "HEAP_OBJ 1000 1 /outer",
                                    "HEAP_RAW 2000 2 /sided", "free 2000"));
}

TEST_F(HeapCollectorTest, AReallocIsAFreeUnlessItFails) {
  Start();
  ring_.Free(0x1000, kHeapTentative);
  ring_.Alloc(1, 0x2000, 2);
  ring_.Free(0x2000, kHeapTentative);
  ring_.Free(0x2000, kHeapKept);
  ring_.Free(0x2000);
  Round();
  EXPECT_THAT(Finish(),
              ElementsAre("free 1000", "HEAP_OBJ 2000 2 /outer", "free 2000"));
}

// Another thread gets the address while the realloc is under way.
TEST_F(HeapCollectorTest, AnAddressGivenOutAgainWasFreedByItsRealloc) {
  Start();
  ring_.Free(0x1000, kHeapTentative);
  SideAlloc(0x3000, 3);
  SideAlloc(0x1000, 1);
  ring_.Alloc(1, 0x2000, 2);
  Round();
  EXPECT_THAT(Finish(),
              ElementsAre("HEAP_RAW 3000 3 /sided", "free 1000",
                          "HEAP_RAW 1000 1 /sided", "HEAP_OBJ 2000 2 /outer"));
}

TEST_F(HeapCollectorTest, AReallocThatTheProgramDiedInFreesNothing) {
  Start();
  ring_.Alloc(1, 0x1000, 1);
  ring_.Free(0x1000, kHeapTentative);
  Round();
  EXPECT_THAT(Finish(), ElementsAre("HEAP_OBJ 1000 1 /outer"));
}

// Frees do not state their time themselves.
TEST_F(HeapCollectorTest, WhatComesAfterAPauseIsNotOfBeforeIt) {
  Start();
  Clock(kSecond + 1000000);
  ring_.Alloc(1, 0x10, 1);
  Round();
  heap_->NoSlotsBefore(kSecond + 250000000);
  ring_.Free(0x10);
  Round();
  Finish();
  ASSERT_EQ(out_.heap.size(), 2u);
  EXPECT_EQ(out_.heap[0].time_us, 1000u);
  EXPECT_EQ(out_.heap[1].time_us, 250000u);
}

TEST_F(HeapCollectorTest, TimesDoNotFallWithinABatch) {
  Start();
  Clock(kSecond + 9000);
  ring_.Alloc(1, 0x10, 1);
  Round();
  SideAlloc(0x20, 1);
  Round();
  Finish();
  ASSERT_EQ(out_.heap.size(), 2u);
  EXPECT_EQ(out_.heap[1].time_us, 9u);
}

TEST_F(HeapCollectorTest, SamplesComeAtOnceAndInTheRingsOrder) {
  Make(/*merges=*/false);
  side_ring_.Code(1, "a.py", "sided", 1);
  // Before the header is written they are kept.
  SideAlloc(0x1000, 30);
  side_->Drain(MonotonicNs(), false);
  EXPECT_THAT(out_.lines, ElementsAre());
  Start(65536);
  SideFreeAt(Head() + 100, 0x1000);
  side_ring_.HeapRates(kSecond + 700, 4096, kSideAdapted);
  side_ring_.Alloc(AllocatorKind::kMem, 12345, kSecond + 800, 0, 0x3000, 5, {},
                   kSideNoPython);
  side_ring_.Alloc(AllocatorKind::kMem, 12345, kSecond + 800, 0, 0x4000, 5,
                   {{1, 0}}, kSideTracing);
  Round();
  EXPECT_THAT(Finish(), ElementsAre("rates 65536", "HEAP_RAW 1000 30 /sided",
                                    "free 1000", "rates 4096 adapted",
                                    "HEAP_MEM 3000 5 /<native thread>",
                                    "HEAP_MEM 4000 5 /<tracing itself>"));
  EXPECT_EQ(out_.threads[out_.heap[0].thread].name(), "MainThread");
  EXPECT_EQ(out_.threads[out_.heap[2].thread].native_id(), 12345u);
}

TEST_F(HeapCollectorTest, ClassesOfSizesAreRatesToo) {
  HeapClass* const one = rates_.add_classes();
  one->set_below_bytes(128);
  one->set_probability(0.5);
  Start();
  side_ring_.HeapRates(kSecond + 1, 0, 0, {{128, 0.5}, {4096, 1}});
  Round();
  EXPECT_THAT(out_.lines,
              ElementsAre("rates 0 128:0.5", "rates 0 128:0.5 4096:1"));
}

TEST_F(HeapCollectorTest, TheFileThatCalledMallocIsNamed) {
  Start();
  const auto caller = reinterpret_cast<uint64_t>(&AnyFunction);
  side_ring_.Alloc(AllocatorKind::kMalloc, page_->traced_pid, kSecond + 1,
                   Head(), 0x1000, 5, {{1, 0}, {1, 0}, {1, 0}}, 0, caller);
  SideAlloc(0x2000, 5);
  Round();
  Finish();
  ASSERT_EQ(out_.heap.size(), 2u);
  EXPECT_THAT(out_.files[out_.heap[0].code],
              testing::HasSubstr("collector_heap_test"));
  EXPECT_EQ(out_.heap[1].code, 0u);
}

TEST_F(HeapCollectorTest, AMarkStandsBetweenTheEventsAroundIt) {
  Start();
  ring_.Alloc(1, 0x100, 1);
  ring_.Payload(ControlKind::kMark, 0,
                SlotStream::Bytes(MarkPayload{0, kSecond + 5, 1, 1, 0}) +
                    SlotStream::Text("here"));
  ring_.Free(0x100);
  Round();
  EXPECT_THAT(Finish(),
              ElementsAre("HEAP_OBJ 100 1 /outer", "mark here", "free 100"));
}

TEST_F(HeapCollectorTest, FinalisationBeginsAmongTheEventsAroundIt) {
  Start();
  SideAlloc(0x1000, 10);
  ring_.Alloc(1, 0x2000, 20);
  side_ring_.Free(page_->traced_pid, kSecond + 5, Head(), 0,
                  SideKind::kFinalize);
  ring_.Free(0x2000);
  Round();
  EXPECT_EQ(Finish().size(), 3u);
  Footer footer;
  heap_->AddToFooter(&footer);
  EXPECT_EQ(footer.finalize_heap_events(), 2u);
}

TEST_F(HeapCollectorTest, WhatIsLostIsSaidAsItHappens) {
  Start();
  heap_->EndBatch(MonotonicNs());
  page_->heap_dropped.store(3);
  page_->side_dropped[1].store(2);
  heap_->EndBatch(MonotonicNs());
  page_->side_dropped[1].store(4);
  EXPECT_THAT(Finish(), ElementsAre("loss 5", "loss 2"));
  Footer footer;
  heap_->AddToFooter(&footer);
  EXPECT_EQ(footer.heap_events_lost(), 7u);
}

TEST_F(HeapCollectorTest, ManyEventsAreSeveralBatches) {
  Start();
  for (uint64_t i = 0; i < 300000; ++i) {
    Clock(kSecond + 1000000 * i);
    ring_.Alloc(1, i * 0x123456789 & 0xffffffffffff, i << 20);
  }
  Round();
  Finish();
  ASSERT_EQ(out_.heap.size(), 300000u);
  for (uint64_t i = 0; i < 300000; ++i) {
    ASSERT_EQ(out_.heap[i].address, i * 0x123456789 & 0xffffffffffff);
    ASSERT_EQ(out_.heap[i].size, i << 20);
    ASSERT_EQ(out_.heap[i].time_us, 1000 * i);
  }
}

TEST_F(HeapCollectorTest, WithoutHeapEventsItsSlotsAreBad) {
  encoder_.set_heap(nullptr);
  ring_.Clear();
  ring_.Alloc(1, 0x10, 1);
  ring_.Row(0, 1, 0, 0, kSecond);
  encoder_.Consume(ring_.slots().data(), ring_.slots().size());
  EXPECT_EQ(encoder_.bad_slots(), 1u);
  EXPECT_EQ(encoder_.rows_in_batch(), 1u);
}

// The place of what goes is from before the call: who gets the addresses comes
// after it.
TEST_F(HeapCollectorTest, RangesGoAndMoveInTheirPlace) {
  Start();
  const auto unmap = [this](uint64_t address, uint64_t bytes, uint16_t flags) {
    side_ring_.Free(page_->traced_pid, kSecond + 500, Head(), address,
                    SideKind::kUnmap, bytes, flags);
  };
  const auto map = [this](AllocatorKind kind, uint64_t address,
                          uint64_t bytes) {
    side_ring_.Alloc(kind, page_->traced_pid, kSecond + 500, Head(), address,
                     bytes, {{1, 0}});
  };
  map(AllocatorKind::kMmap, 0x7f0000000000, 65536);
  ring_.Alloc(1, 0x10, 8);
  unmap(0x7f0000001000, 8192, 0);
  map(AllocatorKind::kMmap, 0x7f0000001000, 4096);
  unmap(0x7f0000004000, 4096, kSideMoves);
  map(AllocatorKind::kMremap, 0x7f1000000000, 12288);
  Round();
  EXPECT_THAT(Finish(),
              ElementsAre("HEAP_MMAP 7f0000000000 65536 /sided",
                          "HEAP_OBJ 10 8 /outer", "unmap 7f0000001000 8192",
                          "HEAP_MMAP 7f0000001000 4096 /sided",
                          "move 7f0000004000 4096",
                          "HEAP_MREMAP 7f1000000000 12288 /sided"));
  Footer footer;
  heap_->AddToFooter(&footer);
  EXPECT_EQ(footer.heap_allocations(), 4u);
  EXPECT_EQ(footer.heap_frees(), 2u);
}

// An item may be older than another that was written before it: a thread looks
// at the clock, and has its place in the ring later.
TEST_F(HeapCollectorTest, TimesNeverFallFromBatchToBatch) {
  Make(/*merges=*/false);
  Start(65536);
  for (const uint64_t us : {1000, 946, 1200, 1199}) {
    side_ring_.Free(page_->traced_pid, kSecond + us * 1000, 0, us);
    Round();
    heap_->WriteBatch();
  }
  Finish();
  std::vector<uint64_t> times;
  for (const HeapEvent& event : out_.heap) times.push_back(event.time_us);
  EXPECT_THAT(times, ElementsAre(1000, 1000, 1200, 1200));
}

}  // namespace
}  // namespace pymemrun
