#include "format/stream/stream_writer.h"

#include <string>
#include <vector>

#include "format/stream/stream_for_tests.h"
#include "format/stream/stream_reader.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

// Takes `room` bytes, then fails each time.
class SmallSink final : public ByteSink {
 public:
  explicit SmallSink(size_t room) : room_(room) {}
  absl::Status Append(absl::string_view bytes) override {
    ++calls_;
    if (bytes.size() > room_) return absl::ResourceExhaustedError("full");
    room_ -= bytes.size();
    written_ += bytes.size();
    return absl::OkStatus();
  }
  uint64_t bytes_written() const override { return written_; }
  int calls() const { return calls_; }

 private:
  size_t room_;
  uint64_t written_ = 0;
  int calls_ = 0;
};

std::vector<std::string> ReadBack(const std::string& file,
                                  std::vector<uint64_t>* frames) {
  StringSource source(file);
  auto reader = StreamReader::Create(&source, {});
  std::vector<std::string> records;
  absl::string_view record;
  StreamReader::Result result;
  while ((result = reader->Next(&record)) == StreamReader::Result::kRecord) {
    records.emplace_back(record);
    frames->push_back(reader->frame_offset());
  }
  EXPECT_EQ(result, StreamReader::Result::kEnd);
  return records;
}

class StreamWriterLevels : public testing::TestWithParam<int> {};

TEST_P(StreamWriterLevels, RecordsComeBackInOrderAtEachLevel) {
  StringSink sink;
  auto writer = StreamWriter::Create(
      &sink, {.level = GetParam(), .max_frame_bytes = 999});
  ASSERT_TRUE(writer.ok());
  std::vector<std::string> records;
  for (size_t size = 0; size < 400; size += 7) {
    records.push_back(std::string(size, static_cast<char>('a' + size % 26)));
    ASSERT_TRUE((*writer)->AppendSerialized(records.back()).ok());
  }
  // Larger than a frame, and than a block.
  records.push_back(std::string(300000, 'z'));
  ASSERT_TRUE((*writer)->AppendSerialized(records.back()).ok());
  records.push_back("after");
  ASSERT_TRUE((*writer)->AppendSerialized(records.back()).ok());
  ASSERT_TRUE((*writer)->Flush().ok());
  std::vector<uint64_t> frames;
  EXPECT_EQ(ReadBack(sink.contents(), &frames), records);
  const size_t n = frames.size();
  EXPECT_NE(frames[n - 1], frames[n - 2]);
  EXPECT_NE(frames[n - 2], frames[n - 3]);
  EXPECT_EQ(frames[0], frames[1]);
}

INSTANTIATE_TEST_SUITE_P(All, StreamWriterLevels,
                         testing::Values(StreamWriter::kStored, -5, 1, 3, 19,
                                         22));

TEST(StreamWriter, LargestRecordIsReadableAtTheHighestLevel) {
  StringSink sink;
  auto writer = StreamWriter::Create(&sink, {.level = 22});
  const std::string record(kMaxRecordBytes, 'r');
  ASSERT_TRUE((*writer)->AppendSerialized(record).ok());
  EXPECT_EQ((*writer)->AppendSerialized(record + "r").code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE((*writer)->Flush().ok());
  std::vector<uint64_t> frames;
  EXPECT_EQ(ReadBack(sink.contents(), &frames).size(), 1u);
}

TEST(StreamWriter, FlushOfAnEmptyFrameWritesNothing) {
  StringSink sink;
  auto writer = StreamWriter::Create(&sink, {});
  EXPECT_TRUE((*writer)->Flush().ok());
  EXPECT_EQ(sink.bytes_written(), 0u);
}

TEST(StreamWriter, AFailureOfTheSinkIsKeptAndNothingMoreIsWritten) {
  SmallSink sink(10);
  auto writer = StreamWriter::Create(&sink, {});
  ASSERT_TRUE((*writer)->Append(HeaderRecord()).ok());
  EXPECT_EQ((*writer)->Flush().message(), "full");
  EXPECT_EQ((*writer)->Append(HeaderRecord()).message(), "full");
  EXPECT_EQ((*writer)->AppendSerialized("x").message(), "full");
  EXPECT_EQ((*writer)->Flush().message(), "full");
  EXPECT_EQ(sink.calls(), 1);
}

TEST(StreamWriter, OptionsOutsideTheirRangeAreRefused) {
  StringSink sink;
  EXPECT_FALSE(StreamWriter::Create(&sink, {.level = 23}).ok());
  EXPECT_FALSE(StreamWriter::Create(&sink, {.max_frame_bytes = 0}).ok());
  EXPECT_FALSE(StreamWriter::Create(&sink, {.max_frame_bytes = 1 << 30}).ok());
}

}  // namespace
}  // namespace pymemrun
