#include "format/stream/frame_index.h"

#include <string>
#include <vector>

#include "format/stream/indexed_run_for_tests.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using Spans = std::vector<FrameSpan>;

bool SameSpan(const FrameSpan& a, const FrameSpan& b) {
  return a.bytes == b.bytes && a.timed() == b.timed() &&
         (!a.timed() || (a.first_us == b.first_us && a.last_us == b.last_us)) &&
         a.has_rows() == b.has_rows() && a.needed == b.needed &&
         (!a.has_rows() ||
          (a.first_number == b.first_number && a.end_number == b.end_number)) &&
         a.ends_in_context == b.ends_in_context &&
         a.only_context == b.only_context;
}

bool SameSpans(const Spans& a, const Spans& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameSpan(a[i], b[i])) return false;
  }
  return true;
}

absl::StatusOr<std::optional<Spans>> ReadIndexOf(const std::string& file) {
  StringSource source(file);
  return ReadFrameIndex(&source, file.size());
}

std::string Encoded(const Spans& spans, int level = 1) {
  return *EncodeFrameIndex(spans, FrameCompressor::Create(level)->get());
}

// An index frame with any message in it.
std::string IndexFrameOf(const FrameIndex& message) {
  auto compressor = FrameCompressor::Create(1);
  const std::string inner(
      (*compressor)->Compress(message.SerializeAsString())->substr(4));
  std::string frame("\x51\x2A\x4D\x18", 4);
  AppendLe32(static_cast<uint32_t>(inner.size() + 12), &frame);
  frame += inner;
  AppendLe32(static_cast<uint32_t>(inner.size() + 20), &frame);
  return frame + "pymemidx";
}

// Index of one span of 100 bytes.
FrameIndex OneSpan() {
  FrameIndex index;
  index.set_version(1);
  index.add_bytes(100);
  index.add_holds(FrameIndex::TIMED);
  index.add_first_us(5);
  index.add_duration_us(6);
  index.add_first_number(7);
  index.add_numbers(8);
  return index;
}

std::string FoundWrong(const FrameIndex& index) {
  const auto read = ReadIndexOf(std::string(100, 'x') + IndexFrameOf(index));
  return read.ok() ? "nothing" : std::string(read.status().message());
}

TEST(RecordSpan, ABatchHasTheTimesAndNumbersOfItsRows) {
  std::vector<Row> rows = {PlainRow(3, 50, 1), PlainRow(4, 50, 2),
                           PlainRow(9, 77, 3)};
  FrameSpan span =
      SpanOfRecord(RowsRecord(rows, /*stacks=*/true).SerializeAsString());
  EXPECT_EQ(span.first_us, 50u);
  EXPECT_EQ(span.last_us, 77u);
  EXPECT_EQ(span.first_number, 3u);
  EXPECT_EQ(span.end_number, 10u);
  EXPECT_FALSE(span.needed || span.ends_in_context);
  rows[2].context = true;
  span = SpanOfRecord(RowsRecord(rows).SerializeAsString());
  EXPECT_TRUE(span.ends_in_context && !span.only_context);
  rows[0].context = rows[1].context = true;
  span = SpanOfRecord(RowsRecord(rows).SerializeAsString());
  EXPECT_TRUE(span.ends_in_context && span.only_context);
  FrameSpan joined;
  joined.Join(span);
  EXPECT_TRUE(joined.only_context);
  rows[0].context = rows[2].context = false;
  joined.Join(SpanOfRecord(RowsRecord(rows).SerializeAsString()));
  EXPECT_FALSE(joined.only_context || joined.ends_in_context);
  rows[1].context = true;
  EXPECT_FALSE(
      SpanOfRecord(RowsRecord(rows).SerializeAsString()).ends_in_context);
}

TEST(RecordSpan, FactsHaveTheirTimesAndDefinitionsAreNeeded) {
  for (const Record& record : Definitions()) {
    const FrameSpan span = SpanOfRecord(record.SerializeAsString());
    EXPECT_TRUE(span.needed && !span.timed() && !span.has_rows());
  }
  Record mark, gap, process;
  mark.mutable_mark()->set_time_us(12);
  EXPECT_EQ(SpanOfRecord(mark.SerializeAsString()).last_us, 12u);
  gap.mutable_profiler_gap()->set_from_us(3);
  gap.mutable_profiler_gap()->set_to_us(9);
  EXPECT_EQ(SpanOfRecord(gap.SerializeAsString()).first_us, 3u);
  EXPECT_EQ(SpanOfRecord(gap.SerializeAsString()).last_us, 9u);
  process.mutable_process()->set_time_us(4);
  EXPECT_FALSE(SpanOfRecord(process.SerializeAsString()).needed);
}

TEST(RecordSpan, PageEventsHaveTheirTimesAndNoNumbers) {
  Record record;
  PageBatch* batch = record.mutable_pages();
  batch->set_first_us(100);
  for (int i = 0; i < 300; ++i) batch->add_page_step(i % 2 ? 5000 : -5000);
  batch->add_time_at(1);
  batch->add_time_step(7);
  batch->add_time_at(3);
  batch->add_time_step(1000);
  FrameSpan span = SpanOfRecord(record.SerializeAsString());
  EXPECT_EQ(span.first_us, 100u);
  EXPECT_EQ(span.last_us, 1107u);
  EXPECT_FALSE(span.needed || span.has_rows());
  record.mutable_residency()->set_begin_us(5);
  record.mutable_residency()->set_time_us(8);
  span = SpanOfRecord(record.SerializeAsString());
  EXPECT_EQ(span.first_us, 5u);
  EXPECT_EQ(span.last_us, 8u);
  EXPECT_FALSE(span.needed);
  record.mutable_fork()->set_time_us(9);
  EXPECT_EQ(SpanOfRecord(record.SerializeAsString()).last_us, 9u);
  record.mutable_page_loss()->set_time_us(10);
  EXPECT_FALSE(SpanOfRecord(record.SerializeAsString()).needed);
  record.mutable_mapping()->set_id(1);
  EXPECT_TRUE(SpanOfRecord(record.SerializeAsString()).needed);
}

TEST(RecordSpan, WhatIsNotUnderstoodIsRead) {
  EXPECT_TRUE(SpanOfRecord("").needed);
  EXPECT_TRUE(SpanOfRecord("garbage").needed);
  EXPECT_TRUE(SpanOfRecord("\xFA\x05\x01x").needed);  // a later kind
  // Batches: no rows; a wire type that no column has.
  for (const std::string& batch :
       {std::string("\x42\x00", 2), std::string("\x42\x02\x0D\x01")}) {
    const FrameSpan span = SpanOfRecord(batch);
    EXPECT_TRUE(span.timed() && span.first_us == 0 && span.last_us == ~0ull);
  }
}

TEST(FrameIndex, ComesBackAsItWasWritten) {
  for (const int level : {int{StreamWriter::kStored}, 1}) {
    const std::string file = IndexedRun(30, level);
    const auto read = ReadIndexOf(file);
    ASSERT_TRUE(read.ok()) << read.status();
    const Spans& spans = **read;
    ASSERT_EQ(spans.size(), 31u);
    for (uint64_t i = 0; i < 30; ++i) {
      EXPECT_EQ(spans[i].first_us, 1000 * i);
      EXPECT_EQ(spans[i].last_us, 1000 * i + 39);
      EXPECT_EQ(spans[i].first_number, 80 * i);
      EXPECT_EQ(spans[i].end_number, 80 * i + 79);
      EXPECT_EQ(spans[i].needed, i == 0 || i % 10 == 9);
      EXPECT_TRUE(spans[i].ends_in_context);
    }
    EXPECT_TRUE(spans[30].needed && !spans[30].timed());
    const std::string again =
        file.substr(0, file.size() - LoadLe32(&file[file.size() - 12])) +
        Encoded(spans, level);
    EXPECT_EQ(again, file);
  }
}

TEST(FrameIndex, ExtremeValuesComeBack) {
  Spans spans(3);
  spans[0].bytes = spans[1].bytes = spans[2].bytes = 1;
  spans[0].first_us = spans[0].last_us = ~0ull;
  spans[1].first_us = 0, spans[1].last_us = ~0ull;
  spans[1].end_number = ~0ull;
  const auto read = ReadIndexOf("abc" + Encoded(spans));
  ASSERT_TRUE(read.ok() && read->has_value()) << read.status();
  EXPECT_TRUE(SameSpans(**read, spans));
}

TEST(FrameIndex, StaysSmallAndCoversAllFrames) {
  FrameIndexBuilder builder(/*max_spans=*/8);
  const std::string definition = Definitions()[1].SerializeAsString();
  for (uint64_t i = 0; i < 1000; ++i) {
    builder.AddRecord(RowsRecord({PlainRow(i, 10 * i, 1)}).SerializeAsString());
    if (i == 500) builder.AddRecord(definition);
    builder.EndFrame(5);
    ASSERT_LE(builder.spans().size(), 8u);
  }
  uint64_t frame = 0;
  for (const FrameSpan& span : builder.spans()) {
    const uint64_t frames = span.bytes / 5;
    EXPECT_EQ(span.first_us, 10 * frame);
    EXPECT_EQ(span.last_us, 10 * (frame + frames - 1));
    EXPECT_EQ(span.first_number, frame);
    EXPECT_EQ(span.end_number, frame + frames);
    EXPECT_EQ(span.needed, frame <= 500 && 500 < frame + frames);
    frame += frames;
  }
  EXPECT_EQ(frame, 1000u);
  EXPECT_GE(builder.spans().size(), 4u);
}

TEST(FrameIndex, TheLargestOneIsReadable) {
  FrameIndexBuilder builder;
  // Each number as long as it gets, nothing that compresses.
  for (size_t i = 0; i < FrameIndexBuilder::kMaxSpans; ++i) {
    const uint64_t noise = i * 0x9E3779B97F4A7C15u;
    builder.AddRecord(
        RowsRecord({PlainRow(noise, noise >> 1, 1)}).SerializeAsString());
    builder.EndFrame(noise % 1000000 + 1);
  }
  uint64_t bytes = 0;
  for (const FrameSpan& span : builder.spans()) bytes += span.bytes;
  FrameIndex index;
  const std::string frame = Encoded(builder.spans(), StreamWriter::kStored);
  // What is before it is not looked at here.
  class Behind final : public ByteSource {
   public:
    Behind(uint64_t offset, const std::string& bytes)
        : offset_(offset), bytes_(bytes) {}
    absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
      return bytes_.Read(buffer, size);
    }
    absl::Status Seek(uint64_t offset) override {
      return bytes_.Seek(offset - offset_);
    }

   private:
    const uint64_t offset_;
    StringSource bytes_;
  } source(bytes, frame);
  const auto read = ReadFrameIndex(&source, bytes + frame.size());
  ASSERT_TRUE(read.ok() && read->has_value()) << read.status();
  EXPECT_TRUE(SameSpans(**read, builder.spans()));
}

TEST(FrameIndex, AFileWithoutOneIsNoError) {
  const std::string file = IndexedRun(3);
  for (size_t size = 0; size < file.size(); ++size) {
    const auto read = ReadIndexOf(file.substr(0, size));
    ASSERT_TRUE(read.ok()) << size << read.status();
    EXPECT_FALSE(read->has_value());
  }
  EXPECT_FALSE(ReadIndexOf(Joined(SmallRunFrames()))->has_value());
}

TEST(FrameIndex, AFlippedBitIsFound) {
  const std::string file = IndexedRun(3);
  const Spans right = **ReadIndexOf(file);
  const size_t index = file.size() - LoadLe32(&file[file.size() - 12]);
  for (size_t bit = 8 * index; bit < 8 * file.size(); ++bit) {
    std::string flipped = file;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const auto read = ReadIndexOf(flipped);
    EXPECT_TRUE(!read.ok() || !read->has_value() || SameSpans(**read, right))
        << bit;
  }
}

TEST(FrameIndex, OneThatDoesNotCoverTheFileIsNotUsed) {
  const std::string file = IndexedRun(3);
  for (const std::string& before : {std::string("x"), file}) {
    const auto read = ReadIndexOf(before + file);
    EXPECT_TRUE(read.ok() && !read->has_value());
  }
  EXPECT_FALSE(ReadIndexOf(file.substr(1)).ok());
}

TEST(FrameIndex, HostileOnesAreRefused) {
  EXPECT_EQ(FoundWrong(OneSpan()), "nothing");
  FrameIndex index = OneSpan();
  index.set_version(2);
  EXPECT_EQ(FoundWrong(index), "expected version 1, found 2");
  index = OneSpan();
  index.add_numbers(1);
  EXPECT_EQ(FoundWrong(index), "expected columns of one length, found others");
  index = OneSpan();
  index.set_bytes(0, 0);
  EXPECT_EQ(FoundWrong(index), "expected a span of 1 to 100 bytes, found 0");
  index.set_bytes(0, ~0ull);
  EXPECT_NE(FoundWrong(index), "nothing");
  index = OneSpan();
  index.set_duration_us(0, ~0ull);
  EXPECT_EQ(FoundWrong(index), "expected times of 64 bits, found more");
  // Much in little: the compressed bytes say nothing about the others.
  index = OneSpan();
  for (int i = 0; i < 2000000; ++i) index.add_bytes(1);
  EXPECT_NE(FoundWrong(index).find("a frame of at most"), std::string::npos);
  const std::string trailer = "\xFF\xFF\xFF\xFFpymemidx";
  EXPECT_FALSE(ReadIndexOf(std::string(100, 'x') + trailer).ok());
}

TEST(FrameIndex, NoFrameIsFoundInsideIt) {
  const std::string file = IndexedRun(30, 1);
  const size_t index = file.size() - LoadLe32(&file[file.size() - 12]);
  const size_t found = FindFrameMagic(file, index + 1);
  EXPECT_TRUE(found == std::string::npos || found + 3 >= file.size());
}

}  // namespace
}  // namespace pymemrun
