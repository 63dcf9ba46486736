#include "collector/ring/ring_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "collector/ring/ring_fixture.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

struct Ring {
  TestRegion region;
  ControlPage* const page = region.page();
  ReplyPage* const reply = region.reply();

  RingReader Reader() const { return {page, region.slots(), reply}; }
  RingProducer Producer() const { return {page, region.slots(), reply}; }
};

TEST(RingReaderTest, AnEmptyRingGivesNothing) {
  Ring ring;
  RingReader reader = ring.Reader();
  EXPECT_EQ(reader.Look(), 0u);
  EXPECT_EQ(reader.tail(), 0u);
  EXPECT_EQ(reader.Take(reader.Look()).count, 0u);
}

TEST(RingReaderTest, SlotsComeInOnePieceAcrossTheRingsEdge) {
  Ring ring;
  ring.page->head = ring.reply->tail = 3 * uint64_t{kRingSlots} - 2;
  RingReader reader = ring.Reader();
  SlotStream stream;
  for (uint32_t i = 0; i < 5; ++i) stream.Row(0, i, 0, 0, 0);
  ASSERT_TRUE(ring.Producer().TryPush(stream.slots()));
  const uint64_t end = reader.Look();
  EXPECT_EQ(end - reader.tail(), 5u);
  RingReader::Span span = reader.Take(end - 1);
  ASSERT_EQ(span.count, 4u);
  EXPECT_EQ(span.slots[1].what_and_code, 1u);
  EXPECT_EQ(span.slots[2].what_and_code, 2u);
  span = reader.Take(end);
  ASSERT_EQ(span.count, 1u);
  EXPECT_EQ(span.slots[0].what_and_code, 4u);
  EXPECT_EQ(ring.reply->tail.load(), end);
}

TEST(RingReaderTest, ForkedChildsRingIsReadAroundItsOwnEdge) {
  Ring ring;
  ring.page->rings = RingSizes::kSmall;
  const uint64_t slots = RingSlots(*ring.page);
  ring.page->head = ring.reply->tail = slots - 1;
  RingReader reader = ring.Reader();
  EXPECT_EQ(reader.size(), slots);
  ring.page->rings = RingSizes::kWhole;  // the program writes over it
  ring.region.slots()[slots - 1].what_and_code = 7;
  ring.region.slots()[0].what_and_code = 8;
  ring.page->head = slots + 1;
  const RingReader::Span span = reader.Take(reader.Look());
  ASSERT_EQ(span.count, 2u);
  EXPECT_EQ(span.slots[0].what_and_code, 7u);
  EXPECT_EQ(span.slots[1].what_and_code, 8u);
  // More than it holds makes no sense.
  ring.page->head = reader.tail() + slots + 1;
  reader.Look();
  EXPECT_EQ(reader.slots_skipped(), slots);
}

TEST(RingReaderTest, WhatWasTakenIsNobodyElses) {
  Ring ring;
  RingReader reader = ring.Reader();
  SlotStream stream;
  stream.Row(0, 7, 0, 0, 0);
  ASSERT_TRUE(ring.Producer().TryPush(stream.slots()));
  const RingReader::Span span = reader.Take(reader.Look());
  ring.region.slots()[0].what_and_code = ~0u;  // the program writes over it
  EXPECT_EQ(span.slots[0].what_and_code, 7u);
}

TEST(RingReaderTest, AHeadThatMakesNoSenseIsPassedOver) {
  Ring ring;
  RingReader reader = ring.Reader();
  ring.page->head = uint64_t{1} << 40;
  EXPECT_EQ(reader.Look(), uint64_t{1} << 40);
  EXPECT_EQ(reader.tail(), uint64_t{1} << 40);
  EXPECT_GT(reader.slots_skipped(), 0u);
  EXPECT_EQ(ring.reply->tail.load(), uint64_t{1} << 40);
}

TEST(RingReaderTest, WaitReturnsAtOnceWhenSlotsOrTheEndAreThere) {
  Ring ring;
  RingReader reader = ring.Reader();
  ring.page->head = 10;
  reader.Wait(60000000, 9);
  ring.page->end_state = 1;
  reader.Wait(60000000, 10);
  EXPECT_EQ(ring.reply->collector_sleeps.load(), 0u);
}

// A producer in a hurry that drops what finds no room, and a reader that is
// sometimes slow: what arrives and what was dropped is what was pushed, in
// order, each slot whole.
TEST(RingReaderTest, DeliveredAndDroppedIsPushed) {
  Ring ring;
  constexpr uint32_t kPushes = 400000;
  uint64_t dropped = 0, pushed = 0;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    RingProducer out = ring.Producer();
    std::minstd_rand random(1);
    SlotStream stream;
    for (uint32_t i = 0; i < kPushes; ++i) {
      stream.Clear();
      const uint32_t count = 1 + random() % 8;
      for (uint32_t k = 0; k < count; ++k) stream.Row(0, i, k, i ^ k, count);
      pushed += count;
      if (!out.TryPush(stream.slots())) dropped += count;
    }
    done.store(true, std::memory_order_release);
  });
  RingReader reader = ring.Reader();
  uint64_t delivered = 0;
  int64_t last = -1;
  std::minstd_rand random(2);
  while (true) {
    const bool last_look = done.load(std::memory_order_acquire);
    const RingReader::Span span = reader.Take(reader.Look());
    if (span.count == 0 && last_look) break;
    for (size_t i = 0; i < span.count; ++i) {
      const EventSlot& slot = span.slots[i];
      const int64_t code = slot.what_and_code;
      ASSERT_EQ(slot.function, slot.what_and_code ^ slot.position);
      ASSERT_TRUE(slot.position == 0 ? code > last : code == last);
      last = code;
    }
    delivered += span.count;
    if (random() % 4 == 0) reader.Wait(2000, kRingSlots / 4);
  }
  producer.join();
  EXPECT_EQ(delivered + dropped, pushed);
  EXPECT_GT(delivered, 0u);
}

}  // namespace
}  // namespace pymemrun
