#include "collector/ring_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "collector/ring_fixture.h"

namespace pymemrun {
namespace {

struct Ring {
  std::unique_ptr<ControlPage> page{new ControlPage()};
  std::vector<EventSlot> slots{kRingSlots};
};

TEST(RingReaderTest, AnEmptyRingGivesNothing) {
  Ring ring;
  RingReader reader(ring.page.get(), ring.slots.data());
  EXPECT_EQ(reader.Peek().count, 0u);
  EXPECT_EQ(reader.backlog(), 0u);
}

TEST(RingReaderTest, SpansEndAtTheRingsEdge) {
  Ring ring;
  ring.page->head = ring.page->tail = 3 * uint64_t{kRingSlots} - 2;
  RingReader reader(ring.page.get(), ring.slots.data());
  RingProducer producer(ring.page.get(), ring.slots.data());
  SlotStream stream;
  for (uint32_t i = 0; i < 5; ++i) stream.Row(0, i, 0, 0, 0);
  ASSERT_TRUE(producer.TryPush(stream.slots()));
  EXPECT_EQ(reader.backlog(), 5u);
  RingReader::Span span = reader.Peek();
  ASSERT_EQ(span.count, 2u);
  EXPECT_EQ(span.slots[1].what_and_code, 1u);
  reader.Release(2);
  span = reader.Peek();
  ASSERT_EQ(span.count, 3u);
  EXPECT_EQ(span.slots[0].what_and_code, 2u);
  reader.Release(3);
  EXPECT_EQ(reader.backlog(), 0u);
}

TEST(RingReaderTest, AHeadThatMakesNoSenseIsPassedOver) {
  Ring ring;
  RingReader reader(ring.page.get(), ring.slots.data());
  ring.page->head = uint64_t{1} << 40;
  EXPECT_EQ(reader.Peek().count, 0u);
  EXPECT_GT(reader.slots_skipped(), 0u);
  EXPECT_EQ(ring.page->tail.load(), uint64_t{1} << 40);
}

TEST(RingReaderTest, WaitReturnsAtOnceWhenSlotsOrTheEndAreThere) {
  Ring ring;
  RingReader reader(ring.page.get(), ring.slots.data());
  ring.page->head = 10;
  reader.Wait(60000000, 9);
  ring.page->end_state = 1;
  reader.Wait(60000000, 10);
  EXPECT_EQ(ring.page->collector_sleeps.load(), 0u);
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
    RingProducer out(ring.page.get(), ring.slots.data());
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
  RingReader reader(ring.page.get(), ring.slots.data());
  uint64_t delivered = 0;
  int64_t last = -1;
  std::minstd_rand random(2);
  while (true) {
    const bool last_look = done.load(std::memory_order_acquire);
    const RingReader::Span span = reader.Peek();
    if (span.count == 0 && last_look) break;
    for (size_t i = 0; i < span.count; ++i) {
      const EventSlot& slot = span.slots[i];
      const int64_t code = slot.what_and_code;
      ASSERT_EQ(slot.function, slot.what_and_code ^ slot.position);
      ASSERT_TRUE(slot.position == 0 ? code > last : code == last);
      last = code;
    }
    delivered += span.count;
    reader.Release(span.count);
    if (random() % 4 == 0) reader.Wait(2000, kRingSlots / 4);
  }
  producer.join();
  EXPECT_EQ(delivered + dropped, pushed);
  EXPECT_GT(delivered, 0u);
}

}  // namespace
}  // namespace pymemrun
