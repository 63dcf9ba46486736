#include "format/stream/read_plan.h"

#include <random>
#include <string>
#include <vector>

#include "format/stream/frame_index.h"
#include "format/stream/indexed_run_for_tests.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(absl::string_view bytes) : source_(bytes) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    const auto count = source_.Read(buffer, size);
    bytes_read += *count;
    return count;
  }
  absl::Status Seek(uint64_t offset) override { return source_.Seek(offset); }

  uint64_t bytes_read = 0;

 private:
  StringSource source_;
};

// What a reader of `from` to `to` gets of the file: with its context.
struct Got {
  bool planned = false;
  std::string refused;
  ReadResult result;
  std::vector<Row> rows;
  std::vector<std::string> damages;
  uint64_t bytes_read = 0;
};

Got Read(absl::string_view file, uint64_t from, uint64_t to,
         bool with_plan = true) {
  Got got;
  CountingSource source(file);
  std::unique_ptr<ReadPlan> plan;
  if (with_plan) {
    auto made = ReadPlan::Create(&source, file.size(), from, to);
    got.refused = std::string(made.status().message());
    if (made.ok()) plan = *std::move(made);
  }
  got.planned = plan != nullptr;
  CheckingVisitor visitor;
  StreamReader::Options options;
  options.plan = plan.get();
  EXPECT_TRUE(ReadStream(&source, options, &visitor, &got.result).ok());
  std::vector<Row> held;
  for (const Row& row : visitor.rows()) {
    held.push_back(row);
    if (row.context) continue;
    if (row.time_us >= from && row.time_us <= to) {
      got.rows.insert(got.rows.end(), held.begin(), held.end());
    }
    held.clear();
  }
  got.damages = visitor.damages();
  got.bytes_read = source.bytes_read;
  return got;
}

size_t IndexOffset(const std::string& file) {
  return file.size() - LoadLe32(&file[file.size() - 12]);
}

std::string Reindexed(const std::string& file,
                      const std::vector<FrameSpan>& spans) {
  return file.substr(0, IndexOffset(file)) +
         *EncodeFrameIndex(spans, FrameCompressor::Create(1)->get());
}

std::vector<FrameSpan> SpansOf(const std::string& file) {
  StringSource source(file);
  return **ReadFrameIndex(&source, file.size());
}

TEST(ReadPlan, GivesTheRowsThatReadingEverythingGives) {
  const std::string file = IndexedRun(100);
  const uint64_t edges[] = {0,     1,     38,    39,    40,     999,
                            1000,  9000,  9039,  9040,  50039,  50500,
                            51000, 90020, 99000, 99039, 100000, ~0ull};
  for (const uint64_t from : edges) {
    for (const uint64_t to : edges) {
      if (to < from) continue;
      const Got some = Read(file, from, to);
      const Got all = Read(file, from, to, false);
      EXPECT_EQ(some.refused, "");
      EXPECT_EQ(some.damages.size(), 0u);
      EXPECT_TRUE(some.rows == all.rows) << from << " to " << to;
      EXPECT_TRUE(some.result.has_footer || some.result.stopped);
      EXPECT_TRUE(some.result.has_header && !some.result.torn);
    }
  }
}

TEST(ReadPlan, ReadsLittleOfALargeFile) {
  const std::string file = IndexedRun(50000);
  ASSERT_GT(file.size(), 4000000u);
  const Got end = Read(file, 49999000, ~0ull);
  EXPECT_EQ(end.rows.size(), 40u);  // 39 and the context of the first
  EXPECT_TRUE(end.result.has_footer);
  const Got all = Read(file, 49999000, ~0ull, false);
  EXPECT_TRUE(end.rows == all.rows);
  EXPECT_GE(all.bytes_read, file.size());
  // Passed over: definitions' frames are read, rows in them are not decoded.
  EXPECT_LT(end.result.rows, 1000u);
}

TEST(ReadPlan, ContextMayReachOverSpans) {
  // One row with context in five frames before it, and a frame without rows.
  StringSink sink;
  auto writer = StreamWriter::Create(&sink, {.level = StreamWriter::kStored});
  for (const Record& record : Definitions()) {
    ASSERT_TRUE((*writer)->Append(record).ok());
  }
  for (uint64_t i = 0; i < 20; ++i) {
    Record process;
    process.mutable_process()->set_time_us(100 * i);
    ASSERT_TRUE((*writer)->Append(process).ok());
    if (i == 16) {
      ASSERT_TRUE((*writer)->Flush().ok());
    }
    Row row = PlainRow(i, 100 * i, 1);
    row.context = i >= 12 && i < 18;
    ASSERT_TRUE((*writer)->Append(RowsRecord({row})).ok());
    ASSERT_TRUE((*writer)->Flush().ok());
  }
  ASSERT_TRUE((*writer)->WriteIndex().ok());
  const Got got = Read(sink.contents(), 1800, 1800);
  EXPECT_TRUE(got.planned);
  EXPECT_EQ(got.rows.size(), 7u);
  EXPECT_EQ(got.result.rows, 7u);
}

TEST(ReadPlan, SkippedBytesAreNotRead) {
  // Frames that do not compress, larger than what is read at once.
  StringSink sink;
  auto writer = StreamWriter::Create(&sink, {.level = 1});
  for (const Record& record : Definitions()) {
    ASSERT_TRUE((*writer)->Append(record).ok());
  }
  std::minstd_rand random(1);
  for (uint64_t i = 0; i < 20; ++i) {
    Record mark;
    mark.mutable_mark()->set_time_us(i);
    for (int k = 0; k < 900000; ++k) {
      mark.mutable_mark()->mutable_label()->push_back(
          static_cast<char>(random()));
    }
    ASSERT_TRUE((*writer)->Append(mark).ok());
  }
  ASSERT_TRUE((*writer)->WriteIndex().ok());
  const std::string& file = sink.contents();
  const Got got = Read(file, 19, 19);
  EXPECT_TRUE(got.planned);
  EXPECT_LT(got.bytes_read, file.size() / 5);
  EXPECT_EQ(Read(file, 0, 0).result.records, 9u);
}

TEST(ReadPlan, WithoutAnIndexAScanFindsTheSameFrames) {
  const std::string file = IndexedRun(100);
  const std::string bare = file.substr(0, IndexOffset(file));
  const std::string empty_frame("\x50\x2A\x4D\x18\0\0\0\0", 8);
  const uint64_t edges[] = {0, 39, 1000, 50039, 50500, 99000, 99039, ~0ull};
  for (const uint64_t from : edges) {
    for (const uint64_t to : edges) {
      if (to < from) continue;
      const Got indexed = Read(file, from, to);
      for (const std::string& other :
           {bare, empty_frame + bare, bare + empty_frame}) {
        const Got got = Read(other, from, to);
        EXPECT_EQ(got.refused, "");
        EXPECT_EQ(got.planned, indexed.planned) << from << " to " << to;
        EXPECT_TRUE(got.rows == indexed.rows) << from << " to " << to;
        EXPECT_EQ(got.result.rows, indexed.result.rows);
        EXPECT_EQ(got.result.has_footer, indexed.result.has_footer);
      }
    }
  }
}

TEST(ReadPlan, WhereNothingCanBeLeftOutThereIsNone) {
  const std::string file = IndexedRun(10);
  EXPECT_FALSE(Read(file, 0, ~0ull).planned);
  EXPECT_FALSE(Read(file.substr(0, IndexOffset(file)), 0, ~0ull).planned);
}

TEST(ReadPlan, DamageInAFileWithoutAnIndexIsTold) {
  const std::string file = IndexedRun(10);
  std::string bare = file.substr(0, IndexOffset(file));
  bare[SpansOf(file)[0].bytes + SpansOf(file)[1].bytes - 1] ^= 1;
  const Got got = Read(bare, 9000, 9039);
  EXPECT_FALSE(got.planned);
  EXPECT_EQ(got.refused, "");
  EXPECT_EQ(got.damages.size(), 1u);
  EXPECT_TRUE(got.rows == Read(file, 9000, 9039).rows);
}

TEST(ReadPlan, AFileCutAnywhereIsReadUpToThere) {
  const std::string file = IndexedRun(10);
  const size_t index = IndexOffset(file);
  for (size_t size = index / 2; size < file.size(); ++size) {
    const std::string cut = file.substr(0, size);
    const Got some = Read(cut, 5000, ~0ull);
    const Got all = Read(cut, 5000, ~0ull, false);
    EXPECT_TRUE(some.rows == all.rows) << size;
    EXPECT_EQ(some.result.torn, all.result.torn) << size;
    EXPECT_EQ(some.result.end_offset, all.result.end_offset) << size;
    EXPECT_EQ(some.result.has_footer, all.result.has_footer) << size;
    EXPECT_EQ(some.damages.size(), 0u) << size;
    if (size < index) continue;
    EXPECT_TRUE(some.planned && some.result.has_footer) << size;
    EXPECT_EQ(some.result.torn, size > index) << size;
    EXPECT_LT(some.result.rows, 250u) << size;
  }
}

TEST(ReadPlan, ASourceThatCannotSeekFails) {
  class Pipe final : public ByteSource {
   public:
    absl::StatusOr<size_t> Read(char*, size_t) override { return 0; }
  } pipe;
  EXPECT_FALSE(ReadPlan::Create(&pipe, 100, 0, 0).ok());
}

TEST(ReadPlan, SkippedFramesMustBeThere) {
  const std::string file = IndexedRun(20);
  std::string broken = file;
  const std::vector<FrameSpan> spans = SpansOf(file);
  const size_t second = spans[0].bytes;
  broken[second] ^= 1;  // its magic
  EXPECT_NE(Read(broken, 15000, 15000).refused, "");
  // Everything is then read, and the damage is said.
  EXPECT_EQ(Read(broken, 15000, 15000).damages.size(), 1u);
  EXPECT_TRUE(Read(broken, 15000, 15000).rows == Read(file, 15000, 15000).rows);
  broken = file;
  broken[second + 10] ^= 64;  // a block's size
  EXPECT_NE(Read(broken, 15000, 15000).refused, "");
  // Frames that are read are found damaged as ever.
  broken = file;
  broken[second - 1] ^= 1;
  EXPECT_EQ(Read(broken, 15000, 15000).damages.size(), 1u);
}

TEST(ReadPlan, SpansThatAreNoFramesAreRefused) {
  const std::string file = IndexedRun(20);
  std::vector<FrameSpan> spans = SpansOf(file);
  spans[3].bytes += 1;
  spans[4].bytes -= 1;
  EXPECT_NE(Read(Reindexed(file, spans), 15000, 15000).refused, "");
  // An end inside a frame.
  spans = SpansOf(file);
  spans[8].bytes += 5;
  spans[9].bytes -= 5;
  const Got got = Read(Reindexed(file, spans), 15000, 15000);
  EXPECT_NE(got.refused, "");
  EXPECT_TRUE(got.rows == Read(file, 15000, 15000).rows);
}

TEST(ReadPlan, DefinitionsThatTheIndexDeniesAreMissedAloud) {
  const std::string file = IndexedRun(20);
  std::vector<FrameSpan> spans = SpansOf(file);
  spans[9].needed = false;
  const Got got = Read(Reindexed(file, spans), 15000, 15000);
  EXPECT_TRUE(got.planned);
  EXPECT_FALSE(got.damages.empty());
}

TEST(ReadPlan, AnyIndexAtAllIsBorne) {
  const std::string file = IndexedRun(20);
  std::minstd_rand random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<FrameSpan> spans = SpansOf(file);
    for (int changes = 0; changes < 3; ++changes) {
      const size_t i = random() % (spans.size() - 1);
      const uint64_t by = random() % 3 == 0 ? 1 : spans[i].bytes;
      switch (random() % 5) {
        case 0:
          if (spans[i].bytes <= by) break;
          spans[i].bytes -= by;
          spans[i + 1].bytes += by;
          break;
        case 1:
          spans[i].Join(spans[i + 1]);
          spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(i) + 1);
          break;
        case 2:
          std::swap(spans[i].first_us, spans[i].last_us);
          break;
        case 3:
          spans[i].needed = !spans[i].needed;
          break;
        default:
          spans[i].last_us = random() % 20000;
      }
    }
    // CheckingVisitor ends the program where a promise is broken.
    Read(Reindexed(file, spans), random() % 20000, random() % 20000);
  }
}

}  // namespace
}  // namespace pymemrun
