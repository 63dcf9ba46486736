// The producer's half of the ring, beside a consumer written here: what is put
// in comes out, around the ring's end, and a full ring blocks or drops as told.
#include "tracer/ring/event_ring.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tracer/ring/row_writer.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

class EventRingTest : public testing::Test {
 protected:
  EventRingTest() {
    reply_->collector_pid = static_cast<uint32_t>(getpid());  // it lives
    hot_.page = page_;
    hot_.ring = region_.slots();
    hot_.ring_mask = kRingSlots - 1;
    hot_.row_number = ~uint64_t{0};
    hot_.time_is_tsc = false;
  }

  // A collector that ends: its main thread, with what it holds.
  void EndCollector() {
    MakeSignOfLife(&reply_->collector_alive);
    std::thread([this] {
      pthread_mutex_lock(&reply_->collector_alive);
      EXPECT_FALSE(RingCollectorIsGone(page_));
    }).join();
  }

  // Both indices `slots` further, as after a long run.
  void StartAt(uint64_t slots) {
    hot_.head = slots;
    page_->head = slots;
    reply_->tail = slots;
  }

  EventSlot Slot(uint64_t index) const {
    return hot_.ring[index & (kRingSlots - 1)];
  }

  std::string Bytes(uint64_t slot, size_t bytes) const {
    std::string out;
    const char* ring = reinterpret_cast<const char*>(hot_.ring);
    for (size_t i = 0; i < bytes; ++i) {
      out += ring[(slot * kRingSlotBytes + i) & (kRingBytes - 1)];
    }
    return out;
  }

  HotState hot_ = {};
  TestRegion region_;
  ControlPage* const page_ = region_.page();
  ReplyPage* const reply_ = region_.reply();
};

uint32_t KindOf(const EventSlot& slot) {
  EXPECT_EQ(slot.what_and_code >> kWhatShift, kControlWhat);
  return slot.what_and_code & kIdMask;
}

RawEvent Event(uint64_t number, uint64_t stamp) {
  return {number, stamp, 1, 2, 0, 1, 100, 0};
}

TEST_F(EventRingTest, PayloadIsItsPiecesInOrder) {
  const Piece pieces[] = {{"abc", 3}, {"", 0}, {"defgh", 5}};
  ASSERT_TRUE(PutPayload(hot_, ControlKind::kMark, 7, 9, pieces, 3));
  const EventSlot head = Slot(0);
  EXPECT_EQ(KindOf(head), static_cast<uint32_t>(ControlKind::kMark));
  EXPECT_EQ(head.position, 8u);  // w1: bytes
  EXPECT_EQ(head.function, 7u);  // w2: id
  EXPECT_EQ(head.tsc_low, 9u);   // w3
  EXPECT_EQ(Bytes(1, 8), "abcdefgh");
  EXPECT_EQ(page_->head.load(), 2u);
}

TEST_F(EventRingTest, PayloadGoesAroundTheRingsEnd) {
  StartAt(kRingSlots - 2);
  const std::string text(100, 'x');
  const Piece piece = {text.data(), text.size()};
  ASSERT_TRUE(PutPayload(hot_, ControlKind::kCode, 1, 0, &piece, 1));
  EXPECT_EQ(Bytes(kRingSlots - 1, 100), text);
  EXPECT_EQ(page_->head.load(), uint64_t{kRingSlots} - 2 + 1 + 7);
}

TEST_F(EventRingTest, LongPayloadIsSentInChunks) {
  std::string text(kMaxChunkBytes + 10, 'a');
  text.back() = 'z';
  const Piece piece = {text.data(), text.size()};
  ASSERT_TRUE(PutPayload(hot_, ControlKind::kCode, 1, 0, &piece, 1));
  EXPECT_EQ(KindOf(Slot(0)), static_cast<uint32_t>(ControlKind::kChunk));
  const uint64_t second = 1 + kMaxChunkBytes / kRingSlotBytes;
  EXPECT_EQ(KindOf(Slot(second)), static_cast<uint32_t>(ControlKind::kCode));
  EXPECT_EQ(Slot(second).position, 10u);
  EXPECT_EQ(Bytes(second + 1, 10), "aaaaaaaaaz");
}

TEST_F(EventRingTest, PayloadBeyondTheLimitIsCut) {
  const std::string text(kRingBytes / 4 + 1000, 'b');
  const Piece piece = {text.data(), text.size()};
  ASSERT_TRUE(PutPayload(hot_, ControlKind::kCode, 1, 0, &piece, 1));
  EXPECT_LT(page_->head.load(), uint64_t{kRingSlots});
}

TEST_F(EventRingTest, ForkedChildsRingIsAsLongAsItSays) {
  page_->rings = RingSizes::kSmallest;
  const uint32_t slots = RingSlots(*page_);
  ASSERT_LT(slots, kRingSlots);
  hot_.ring_mask = slots - 1;
  StartAt(slots - 2);
  const std::string text(100, 'x');
  const Piece piece = {text.data(), text.size()};
  ASSERT_TRUE(PutPayload(hot_, ControlKind::kCode, 1, 0, &piece, 1));
  const char* const ring = reinterpret_cast<const char*>(hot_.ring);
  const std::string read(ring + (slots - 1) * kRingSlotBytes, kRingSlotBytes);
  EXPECT_EQ(read + std::string(ring, 100 - kRingSlotBytes), text);
  // The collector has taken nothing of it.
  page_->on_full = OnFull::kDrop;
  reply_->tail = slots - 2;
  EXPECT_TRUE(ReserveSlots(hot_, slots - 8));
  EXPECT_FALSE(ReserveSlots(hot_, slots - 7));
  const std::string large(slots * kRingSlotBytes / 2, 'b');
  reply_->tail = hot_.head;
  const uint64_t before = hot_.head;
  const Piece too_large = {large.data(), large.size()};
  ASSERT_TRUE(PutPayload(hot_, ControlKind::kCode, 1, 0, &too_large, 1));
  EXPECT_LT(hot_.head - before, slots / 2);
}

TEST_F(EventRingTest, FirstRowCarriesItsThreadAndRss) {
  RawEvent event = Event(0, 5);
  event.drss_pages = 100;
  PutRow(hot_, event, {});
  EXPECT_EQ(KindOf(Slot(0)), static_cast<uint32_t>(ControlKind::kThread));
  EXPECT_EQ(KindOf(Slot(1)), static_cast<uint32_t>(ControlKind::kRss));
  EXPECT_EQ(Slot(1).position, 100u);
  EXPECT_EQ(Slot(2).what_and_code, 1u);
  EXPECT_EQ(Slot(2).tsc_low, 5u);
}

TEST_F(EventRingTest, AnEstimateIsSaidToBeOneAndAnExactValueAgain) {
  RawEvent event = Event(0, 5);
  event.rss_pages = 70 | kRssEstimated;
  PutRow(hot_, event, {});
  EXPECT_EQ(Slot(1).position, 70u);
  EXPECT_EQ(Slot(1).tsc_low, kRssInexact);
  const uint64_t at = page_->head;
  event = Event(1, 6);
  event.rss_pages = 70;
  PutRow(hot_, event, {});
  EXPECT_EQ(KindOf(Slot(at)), static_cast<uint32_t>(ControlKind::kRss));
  EXPECT_EQ(Slot(at).position, 70u);
  EXPECT_EQ(Slot(at).tsc_low, 0u);
}

TEST_F(EventRingTest, RowWhoseStateStandsTakesOneSlot) {
  PutRow(hot_, Event(0, 5), {});
  const uint64_t before = page_->head;
  PutRow(hot_, Event(1, 6), {});
  EXPECT_EQ(page_->head, before + 1);
}

TEST_F(EventRingTest, GapInNumbersClockJumpAndStackAreSaid) {
  PutRow(hot_, Event(0, 5), {});
  uint64_t at = page_->head;
  const RawEvent later = Event(1ull << 33, 5 + (1ull << 40));
  PutRow(hot_, later, {.context = true, .stack = 77});
  EXPECT_EQ(KindOf(Slot(at)), static_cast<uint32_t>(ControlKind::kNumber));
  EXPECT_EQ(Slot(at).function, 2u);  // high half
  EXPECT_EQ(KindOf(Slot(at + 1)), static_cast<uint32_t>(ControlKind::kClock));
  EXPECT_EQ(KindOf(Slot(at + 2)), static_cast<uint32_t>(ControlKind::kStack));
  EXPECT_EQ(Slot(at + 2).position, 77u);
  EXPECT_EQ(Slot(at + 3).what_and_code, 1u | kContextBit);
}

TEST_F(EventRingTest, TimeThatRunsBackIsAClockJump) {
  PutRow(hot_, Event(0, 1000), {});
  const uint64_t at = page_->head;
  PutRow(hot_, Event(1, 999), {});
  EXPECT_EQ(KindOf(Slot(at)), static_cast<uint32_t>(ControlKind::kClock));
  EXPECT_EQ(Slot(at).position, 999u);
}

TEST_F(EventRingTest, FullRingDropsAtOnceWhenToldSo) {
  page_->on_full = OnFull::kDrop;
  uint64_t number = 0;
  while (page_->dropped == 0) {
    PutRow(hot_, Event(number, number), {});
    ++number;
  }
  EXPECT_GE(number, uint64_t{kRingSlots} - 16);
  // Room again: the loss is said before the next row.
  const uint64_t at = page_->head;
  reply_->tail = page_->head.load();
  PutRow(hot_, Event(number, number), {});
  EXPECT_EQ(KindOf(Slot(at)), static_cast<uint32_t>(ControlKind::kLoss));
  LossPayload loss;
  std::memcpy(&loss, Bytes(at + 1, sizeof(loss)).data(), sizeof(loss));
  EXPECT_EQ(loss.rows, 1u);
  EXPECT_EQ(loss.from_number, number - 1);
  EXPECT_EQ(page_->dropped, 1u);
}

TEST_F(EventRingTest, RowOfAnUndefinedCodeIsCountedAsLost) {
  RawEvent event = Event(0, 0);
  event.what_and_code = 0;
  PutRow(hot_, event, {});
  EXPECT_EQ(page_->dropped, 1u);
  EXPECT_EQ(page_->head, 0u);
}

// A slow consumer beside a producer that waits: every row arrives, in order.
// Run under ThreadSanitizer this also checks the pairing of the indices.
TEST_F(EventRingTest, BlockingProducerLosesNothing) {
  constexpr uint64_t kRows = 3 * kRingSlots;
  std::atomic<bool> done{false};
  uint64_t rows = 0;
  uint64_t last = ~uint64_t{0};
  bool in_order = true;
  std::thread consumer([&] {
    uint64_t tail = 0;
    for (;;) {
      const bool last_look = done.load(std::memory_order_acquire);
      const uint64_t head = page_->head.load(std::memory_order_acquire);
      for (; tail < head; ++tail) {
        const EventSlot slot = Slot(tail);
        if (slot.what_and_code >> kWhatShift == kControlWhat) continue;
        in_order = in_order && slot.tsc_low == static_cast<uint32_t>(last + 1);
        ++last;
        ++rows;
      }
      reply_->tail.store(tail, std::memory_order_release);
      if (last_look) return;
    }
  });
  for (uint64_t n = 0; n < kRows; ++n) PutRow(hot_, Event(n, n), {});
  done.store(true, std::memory_order_release);
  consumer.join();
  EXPECT_EQ(rows + page_->dropped, kRows);
  EXPECT_EQ(page_->dropped, 0u);
  EXPECT_TRUE(in_order);
}

TEST_F(EventRingTest, CollectorThatEndedIsKnown) {
  EXPECT_FALSE(RingCollectorIsGone(page_));
  reply_->collector_pid = 0;  // not there yet
  EXPECT_FALSE(RingCollectorIsGone(page_));
  reply_->collector_pid = static_cast<uint32_t>(getpid());
  EndCollector();
  EXPECT_TRUE(RingCollectorIsGone(page_));
  reply_->collector_pid = 0;
  EXPECT_FALSE(RingCollectorIsGone(page_));
  reply_->done_state = 1;
  EXPECT_TRUE(RingCollectorIsGone(page_));
}

}  // namespace
}  // namespace pymemrun
