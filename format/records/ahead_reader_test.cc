#include "format/records/ahead_reader.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/batches/heap_run_for_tests.h"
#include "format/stream/stream_for_tests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using testing::IsEmpty;
using testing::Not;

// All that a reader may find out.
struct Found {
  std::vector<std::string> lines, damages;
  std::string status;
  ReadResult result;
};

class StoppingVisitor final : public CheckingVisitor {
 public:
  StoppingVisitor(HeapUse use, uint64_t most_events)
      : use_(use), left_(most_events) {}
  HeapUse heap_use() const override { return use_; }
  void OnHeapBatch(const HeapBatchFacts& facts) override {
    Keep("batch ", facts.allocations + 1000000 * facts.frees + facts.last_us);
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    CheckingVisitor::OnHeap(events, count);
    left_ -= std::min<uint64_t>(left_, count);
    return left_ > 0;
  }

 private:
  const HeapUse use_;
  uint64_t left_;
};

Found Read(const std::string& file, StreamReader::Options options,
           HeapUse use = HeapUse::kEvents, uint64_t most_events = UINT64_MAX) {
  StringSource source(file);
  StoppingVisitor visitor(use, most_events);
  Found found;
  const absl::Status status =
      ReadStream(&source, options, &visitor, &found.result);
  found.status = std::string(status.message());
  found.lines = visitor.lines();
  found.damages = visitor.damages();
  return found;
}

StreamReader::Options Ahead() {
  StreamReader::Options options;
  options.ahead = true;
  return options;
}

void ExpectSame(const Found& a, const Found& b) {
  EXPECT_EQ(a.lines, b.lines);
  EXPECT_EQ(a.damages, b.damages);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.result.records, b.result.records);
  EXPECT_EQ(a.result.heap_entries, b.result.heap_entries);
  EXPECT_EQ(a.result.end_offset, b.result.end_offset);
  EXPECT_EQ(a.result.placeholders, b.result.placeholders);
  EXPECT_EQ(a.result.damages, b.result.damages);
  EXPECT_EQ(a.result.torn, b.result.torn);
  EXPECT_EQ(a.result.stopped, b.result.stopped);
  EXPECT_EQ(a.result.second_run, b.result.second_run);
}

void ExpectSameAhead(const std::string& file) {
  for (const HeapUse use :
       {HeapUse::kNone, HeapUse::kFacts, HeapUse::kEvents}) {
    ExpectSame(Read(file, {}, use), Read(file, Ahead(), use));
  }
}

Record HeapRecord(int events, uint32_t stack = 1) {
  std::vector<HeapEvent> all;
  for (int i = 0; i < events; ++i) {
    all.push_back(i % 3 == 2 ? FreeEvent(i, 4096 + 64 * (i - 1))
                             : AllocEvent(i, 4096 + 64 * i, 48, stack));
  }
  Record record;
  *record.mutable_heap() = EncodedHeap(all);
  return record;
}

// Batches below and above what is given at a time, and others between them.
std::vector<std::string> Frames() {
  std::vector<std::string> frames = {FrameOf(Definitions())};
  Record mark;
  mark.mutable_mark()->set_time_us(7);
  mark.mutable_mark()->set_label(std::string(400000, 'x'));
  for (const int events : {1, 100, 4096, 4097, 60000, 3}) {
    frames.push_back(
        FrameOf({HeapRecord(events),
                 RowsRecord(PlainRows(10 * frames.size(), 3)), mark}));
    mark.mutable_mark()->set_label("short");
  }
  Record footer;
  footer.mutable_footer()->set_events(20);
  frames.push_back(FrameOf({footer}));
  return frames;
}

TEST(AheadReaderTest, GivesWhatIsThere) {
  const std::string file = Joined(Frames());
  ExpectSameAhead(file);
  EXPECT_EQ(Read(file, Ahead()).result.heap_entries, 68297u);
  EXPECT_EQ(Read(file, Ahead(), HeapUse::kFacts).result.heap_entries, 0u);
  ExpectSameAhead("");
  ExpectSameAhead("#!/bin/sh");
}

TEST(AheadReaderTest, StopsWhereItIsToldTo) {
  const std::string file = Joined(Frames());
  for (const uint64_t most : {1u, 101u, 9000u}) {
    ExpectSame(Read(file, {}, HeapUse::kEvents, most),
               Read(file, Ahead(), HeapUse::kEvents, most));
  }
}

TEST(AheadReaderTest, TellsOfDamageAlike) {
  std::vector<std::string> frames = Frames();
  frames[3].back() ^= 1;
  ExpectSameAhead(Joined(frames));
  EXPECT_THAT(Read(Joined(frames), Ahead()).damages, Not(IsEmpty()));
  // A stack that is not defined, columns that do not fit, another run.
  frames[3] = FrameOf({HeapRecord(50, 9)});
  frames.insert(frames.begin() + 2, FrameOf({HeapRecord(50, 9)}));
  Record wrong = HeapRecord(50);
  wrong.mutable_heap()->add_size(5);
  frames.push_back(FrameOf({wrong}));
  frames.push_back(FrameOf({HeaderRecord()}));
  ExpectSameAhead(Joined(frames));
}

TEST(AheadReaderTest, EndsWhereTheFileIsCut) {
  const std::string file = Joined(Frames());
  for (size_t size = 1; size < file.size(); size += 1 + file.size() / 40) {
    ExpectSame(Read(file.substr(0, size), {}),
               Read(file.substr(0, size), Ahead()));
  }
}

// What was checked before and is not wanted is passed over.
TEST(AheadReaderTest, DoesNotLookAgainAtWhatIsNotWanted) {
  std::vector<std::string> frames = Frames();
  Record wrong = HeapRecord(50);
  wrong.mutable_heap()->add_size(5);
  frames[2] = FrameOf({wrong});
  for (StreamReader::Options options : {StreamReader::Options(), Ahead()}) {
    EXPECT_EQ(Read(Joined(frames), options, HeapUse::kNone).damages.size(), 1u);
    options.was_checked = true;
    EXPECT_THAT(Read(Joined(frames), options, HeapUse::kNone).damages,
                IsEmpty());
    EXPECT_EQ(Read(Joined(frames), options, HeapUse::kFacts).damages.size(),
              1u);
  }
}

}  // namespace
}  // namespace pymemrun
