#include "format/batches/heap_batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "format/batches/heap_run_for_tests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {

namespace {

using testing::HasSubstr;

constexpr uint64_t kPool = 0x7f2000004000;

HeapEvent Alloc(uint64_t address, uint64_t size, uint32_t stack,
                HeapAllocator allocator = HEAP_OBJ) {
  return AllocEvent(0, address, size, stack, allocator);
}

HeapEvent Free(uint64_t address) { return FreeEvent(0, address); }

std::vector<HeapEvent> Decode(const HeapBatch& batch) {
  std::vector<HeapEvent> events;
  HeapBatchDecoder decoder;
  const CheckedHeap checked = HeapBatchDecoder::Check(batch);
  EXPECT_TRUE(checked.status.ok());
  decoder.Begin(batch);
  std::vector<HeapEvent> some(1000);
  while (const size_t count = decoder.Next(some.data(), some.size())) {
    events.insert(events.end(), some.begin(), some.begin() + count);
  }
  EXPECT_EQ(checked.facts.allocations + checked.facts.frees, events.size());
  EXPECT_EQ(checked.facts.frees,
            std::count_if(events.begin(), events.end(),
                          [](const HeapEvent& one) { return one.is_free; }));
  EXPECT_EQ(checked.facts.last_us, events.empty() ? 0 : events.back().time_us);
  return events;
}

std::string ErrorOf(const HeapBatch& batch) {
  return std::string(HeapBatchDecoder::Check(batch).status.message());
}

// Rounds of a program that makes rows of objects and drops them, with what
// CPython's allocator gives it: the block freed last, else the next one.
class Program {
 public:
  const std::vector<HeapEvent>& events() const { return events_; }
  void Round(size_t rows) {
    std::vector<uint64_t> kept;
    for (size_t row = 0; row < rows; ++row) {
      for (uint32_t part = 1; part <= 3; ++part) {
        const uint64_t size = 16 + 32 * part;
        kept.push_back(Take(size));
        events_.push_back(Alloc(kept.back(), size, part));
      }
    }
    for (const uint64_t address : kept) {
      free_[size_of_[address]].push_back(address);
      events_.push_back(Free(address));
    }
  }

 private:
  uint64_t Take(uint64_t size) {
    uint64_t address;
    std::vector<uint64_t>& freed = free_[size];
    if (!freed.empty()) {
      address = freed.back();
      freed.pop_back();
    } else {
      uint64_t& next = next_[size];
      if (next == 0 || next % 16384 + size > 16384) {
        next = kPool + 16384 * pools_++ + 48;
      }
      address = next;
      next += size;
    }
    size_of_[address] = size;
    return address;
  }

  std::vector<HeapEvent> events_;
  std::map<uint64_t, std::vector<uint64_t>> free_;
  std::map<uint64_t, uint64_t> next_, size_of_;
  uint64_t pools_ = 0;
};

TEST(HeapBatchTest, WhatIsEncodedComesBack) {
  std::vector<HeapEvent> events = {
      Alloc(kPool + 48, 32, 7),
      Alloc(0x55d0c0ffee10, uint64_t{5} << 32, 8, HEAP_RAW),
      Free(kPool + 48),
      Alloc(kPool + 48, 0, 7, HEAP_MEM),
      Alloc(0x7fff12345671, 3, 0, HEAP_MALLOC),  // of no alignment
      Free(0x10),
      Alloc(0x7f0000000000, 1 << 20, 9, HEAP_MMAP),
      Free(std::numeric_limits<uint64_t>::max()),
      Free(0x7fff12345671),
      Alloc(0, std::numeric_limits<uint64_t>::max(), 4294967295u),
  };
  events[0].time_us = events[1].time_us = 1000;
  for (size_t i = 2; i < events.size(); ++i) events[i].time_us = 1000 + i / 4;
  events[3].thread = events[4].thread = 2;
  events[4].code = 5;
  EXPECT_EQ(Decode(EncodedHeap(events)), events);
}

TEST(HeapBatchTest, RangesComeBackAndForetellNothing) {
  Program program;
  program.Round(50);
  std::vector<HeapEvent> events = program.events();
  std::vector<HeapEvent> with_ranges;
  for (const HeapEvent& event : events) {
    with_ranges.push_back(event);
    with_ranges.push_back(RangeEvent(0, 0x7f3000000000 + event.address, 8192));
    with_ranges.push_back(
        RangeEvent(0, 0x1001, ~uint64_t{0}, HeapFreeOf::kMovedRange));
  }
  with_ranges.push_back(Alloc(0x7f4000000000, 12345, 3, HEAP_MREMAP));
  const HeapBatch batch = EncodedHeap(with_ranges);
  EXPECT_EQ(Decode(batch), with_ranges);
  // What is not a range has the same bytes as without them.
  std::string without_ranges;
  for (size_t i = 0; i < batch.op().size(); i += 3) {
    without_ranges += batch.op()[i];
  }
  without_ranges.pop_back();
  EXPECT_EQ(without_ranges, EncodedHeap(events).op());
}

TEST(HeapBatchTest, ARangeStatesItsSize) {
  HeapBatch batch = EncodedHeap({RangeEvent(0, 4096, 8192)});
  batch.clear_size();
  EXPECT_EQ(ErrorOf(batch), "heap.size: expected 1 entries, found 0");
}

// Not even from one batch to the next.
TEST(HeapBatchTest, NoBatchBeginsBeforeTheEndOfTheLast) {
  HeapBatchEncoder encoder;
  HeapBatch first, second;
  encoder.Add(FreeEvent(1000, 16));
  encoder.Take(&first);
  encoder.Add(FreeEvent(946, 32));
  encoder.Add(FreeEvent(1001, 48));
  encoder.Take(&second);
  const std::vector<HeapEvent> events = Decode(second);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].time_us, 1000u);
  EXPECT_EQ(events[1].time_us, 1001u);
}

TEST(HeapBatchTest, NothingIsABatchToo) {
  EXPECT_TRUE(Decode(EncodedHeap({})).empty());
  EXPECT_TRUE(Decode(HeapBatch()).empty());
}

TEST(HeapBatchTest, ATimeThatFallsIsTheLastOne) {
  std::vector<HeapEvent> events = {Free(1 << 12), Free(1 << 13)};
  events[0].time_us = 10;
  events[1].time_us = 9;
  const HeapBatch batch = EncodedHeap(events);
  events[1].time_us = 10;
  EXPECT_EQ(Decode(batch), events);
}

TEST(HeapBatchTest, TheStateOfAnEntryIsTheLastOneBeforeIt) {
  HeapBatchEncoder encoder;
  const auto change = [&](uint32_t value) {
    for (uint32_t i = value - 2; i <= value; ++i) encoder.SetState(i, i, i);
  };
  std::vector<HeapEvent> events;
  for (uint32_t value = 10; value < 50; value += 10) {
    change(value);
    encoder.AddAllocation(16 * value, 8, 1, HEAP_RAW);
    events.push_back(Alloc(16 * value, 8, 1, HEAP_RAW));
    events.back().time_us = events.back().thread = events.back().code = value;
  }
  change(100);
  HeapBatch batch;
  encoder.Take(&batch);
  EXPECT_EQ(Decode(batch), events);
  encoder.AddFree(32);
  encoder.Take(&batch);
  events = {Free(32)};
  events.back().time_us = events.back().thread = 100;
  EXPECT_EQ(Decode(batch), events);
}

TEST(HeapBatchTest, EachBatchStandsAlone) {
  Program program;
  program.Round(300);
  HeapBatchEncoder encoder;
  HeapBatch first, second;
  for (HeapBatch* batch : {&first, &second}) {
    for (const HeapEvent& event : program.events()) encoder.Add(event);
    encoder.Take(batch);
  }
  EXPECT_EQ(first.SerializeAsString(), second.SerializeAsString());
  EXPECT_EQ(Decode(second), program.events());
}

TEST(HeapBatchTest, WhatComesAgainIsAllPredicted) {
  Program program;
  for (int round = 0; round < 3; ++round) program.Round(500);
  const size_t begin = program.events().size();
  const HeapBatch before = EncodedHeap(program.events());
  program.Round(500);
  const HeapBatch batch = EncodedHeap(program.events());
  EXPECT_EQ(Decode(batch), program.events());
  const size_t more = program.events().size() - begin;
  EXPECT_EQ(more, 3000u);
  EXPECT_LT(batch.ByteSizeLong() - before.ByteSizeLong(), more * 102 / 100);
}

// Columns that do not fit each other.
TEST(HeapBatchTest, EachColumnIsChecked) {
  std::vector<HeapEvent> events = {Alloc(kPool + 48, 32, 7), Free(0x1230),
                                   Alloc(kPool + 80, 64, 8)};
  events[1].time_us = 3;
  events[2].code = 1;
  const HeapBatch good = EncodedHeap(events);
  const auto error = [&](auto spoil) {
    HeapBatch batch = good;
    spoil(&batch);
    return ErrorOf(batch);
  };
  EXPECT_EQ(
      error([](HeapBatch* b) { b->mutable_address_step()->RemoveLast(); }),
      "heap.address_step: expected 3 entries, found 2");
  EXPECT_EQ(error([](HeapBatch* b) { b->add_stack(1); }),
            "heap.stack: expected 2 entries, found 3");
  EXPECT_EQ(error([](HeapBatch* b) { b->clear_size(); }),
            "heap.size: expected 2 entries, found 0");
  EXPECT_EQ(error([](HeapBatch* b) { b->clear_thread_at(); }),
            "heap.thread_at: expected row 0 stated, and so entries, found 0");
  EXPECT_THAT(error([](HeapBatch* b) { b->add_thread(3); }),
              HasSubstr("heap.thread: expected 1 entries"));
  EXPECT_THAT(error([](HeapBatch* b) { b->set_time_at(0, 3); }),
              HasSubstr("heap.time_at: expected a row below 3"));
  EXPECT_THAT(error([](HeapBatch* b) { b->add_time_step(1); }),
              HasSubstr("heap.time_step: "));
  EXPECT_THAT(error([](HeapBatch* b) { b->set_first_us(~uint64_t{1}); }),
              HasSubstr("heap.time_step: expected a sum of 64 bits"));
  EXPECT_THAT(error([](HeapBatch* b) { b->set_code_at(0, 9); }),
              HasSubstr("heap.code_at: "));
  EXPECT_THAT(error([](HeapBatch* b) { b->clear_code(); }),
              HasSubstr("heap.code: "));
  EXPECT_EQ(error([](HeapBatch* b) { b->set_op("\x0b\x05\x0e"); }),
            "heap.op: expected a guess of 0 to 4, found 5");
  EXPECT_EQ(error([](HeapBatch* b) { b->set_op("\xce\x05\x0e"); }),
            "heap.op: expected an allocator of 0 to 5, found 6");
}

TEST(HeapBatchTest, RatesAreChecked) {
  HeapRates rates;
  EXPECT_TRUE(CheckHeapRates(rates).ok());
  HeapClass* const first = rates.add_classes();
  first->set_below_bytes(128);
  first->set_probability(1e-4);
  HeapClass* const second = rates.add_classes();
  second->set_below_bytes(8192);
  second->set_probability(1);
  EXPECT_TRUE(CheckHeapRates(rates).ok());
  for (const double wrong : {-0.5, 1.5, std::nan("")}) {
    second->set_probability(wrong);
    EXPECT_THAT(CheckHeapRates(rates).message(),
                HasSubstr("heap_rates.classes: expected a probability"));
  }
  second->set_probability(1);
  second->set_below_bytes(128);
  EXPECT_EQ(CheckHeapRates(rates).message(),
            "heap_rates.classes: expected sizes above 128, found 128");
}

}  // namespace
}  // namespace pymemrun
