// ReadStream(): whole files, and what it says of those it cannot read.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/records/format_version.h"
#include "format/records/record_visitor.h"
#include "format/stream/stream_for_tests.h"
#include "format/stream/stream_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

absl::Status Read(const std::string& file, CheckingVisitor* visitor,
                  ReadResult* result) {
  StringSource source(file);
  return ReadStream(&source, {}, visitor, result);
}

std::string WhyUnreadable(const std::string& file) {
  CheckingVisitor visitor;
  ReadResult result;
  const absl::Status status = Read(file, &visitor, &result);
  EXPECT_THAT(visitor.damages(), IsEmpty()) << "one message, not two";
  return std::string(status.message());
}

TEST(ReadStream, ReadsASmallRun) {
  for (const int level : {StreamWriter::kStored, 1}) {
    CheckingVisitor visitor;
    ReadResult result;
    ASSERT_TRUE(Read(Joined(SmallRunFrames(level)), &visitor, &result).ok());
    EXPECT_EQ(visitor.rows().size(), 20u);
    EXPECT_THAT(visitor.lines(), Contains("footer 20"));
    EXPECT_TRUE(result.has_header && result.has_footer && !result.torn);
    EXPECT_EQ(result.damages, 0u);
  }
}

TEST(ReadStream, SaysWhyNothingCanBeRead) {
  EXPECT_EQ(WhyUnreadable(""), "not a pymemrun run file: found an empty file");
  const std::string frame = FrameOf({HeaderRecord()});
  EXPECT_EQ(WhyUnreadable(frame.substr(0, frame.size() - 1)),
            "the file ends inside its first frame: it holds no records");
  EXPECT_EQ(WhyUnreadable("#!/bin/sh"),
            "not a pymemrun run file: found a text file");
  EXPECT_EQ(
      WhyUnreadable(FrameOf({RowsRecord(PlainRows(0, 1))})),
      "byte 0: not a pymemrun run file: expected a header as the first record, "
      "found another");
  std::string flipped = FrameOf({HeaderRecord()});
  flipped.back() ^= 1;
  EXPECT_THAT(WhyUnreadable(flipped), HasSubstr("byte 0: expected a frame "
                                                "that fits its checksum"));
  Record newer = HeaderRecord();
  newer.mutable_header()->set_format_version(kFormatVersion + 1);
  EXPECT_EQ(WhyUnreadable(FrameOf({newer})),
            "byte 0: expected format version 2, found 3: a newer pymemrun "
            "wrote this file");
  newer.mutable_header()->set_format_version(0);
  EXPECT_THAT(WhyUnreadable(FrameOf({newer})),
              HasSubstr("not a pymemrun run file"));
}

// If a file has two runs, the first is read, whatever it lacks.
TEST(ReadStream, ASecondRunIsDamageAndTheEnd) {
  std::vector<std::string> frames = SmallRunFrames();
  const std::string second = Joined(SmallRunFrames());
  for (const bool with_footer : {true, false}) {
    if (!with_footer) frames.pop_back();
    CheckingVisitor visitor;
    ReadResult result;
    ASSERT_TRUE(Read(Joined(frames) + second, &visitor, &result).ok());
    EXPECT_TRUE(result.second_run);
    EXPECT_EQ(result.has_footer, with_footer);
    EXPECT_EQ(visitor.rows().size(), 20u);
    EXPECT_THAT(visitor.damages(),
                ElementsAre(absl::StrCat(Joined(frames).size(), "+0 ",
                                         SecondRunError().message())));
  }
}

TEST(ReadStream, ASecondRunIsToldBehindATornOrHeadlessFirst) {
  std::vector<std::string> frames = SmallRunFrames();
  const std::string second = Joined(SmallRunFrames());
  frames[0].back() ^= 1;
  for (const std::string& first :
       {Joined(SmallRunFrames()).substr(0, 300), Joined(frames)}) {
    CheckingVisitor visitor;
    ReadResult result;
    ASSERT_TRUE(Read(first + second, &visitor, &result).ok());
    EXPECT_TRUE(result.second_run);
    ASSERT_EQ(visitor.damages().size(), 2u);
    EXPECT_THAT(visitor.damages()[1],
                HasSubstr(absl::StrCat(first.size(), "+0 a second run")));
  }
}

TEST(ReadStream, ALostHeaderIsDamageAndTheRestIsGiven) {
  std::vector<std::string> frames = SmallRunFrames();
  frames[0].back() ^= 1;
  CheckingVisitor visitor;
  ReadResult result;
  ASSERT_TRUE(Read(Joined(frames), &visitor, &result).ok());
  EXPECT_EQ(visitor.rows().size(), 20u);
  EXPECT_EQ(visitor.damages().size(), 1u);
  EXPECT_FALSE(result.has_header);
  EXPECT_GT(result.placeholders, 0u);
}

TEST(ReadStream, ABadRecordIsDamageOfItsFrameOffset) {
  std::vector<std::string> frames = SmallRunFrames();
  Record bad = RowsRecord(PlainRows(9, 1));
  bad.mutable_events()->set_site(0, 99);
  frames.insert(frames.begin() + 1, FrameOf({bad, bad}));
  CheckingVisitor visitor;
  ReadResult result;
  ASSERT_TRUE(Read(Joined(frames), &visitor, &result).ok());
  EXPECT_THAT(visitor.damages(),
              testing::Each(absl::StrCat(frames[0].size(),
                                         "+0 events.site: expected an "
                                         "id of at most 2, found 99")));
  EXPECT_EQ(result.damages, 2u);
  EXPECT_EQ(visitor.rows().size(), 20u);
}

TEST(ReadStream, TheVisitorCanStopIt) {
  class Stopper : public CheckingVisitor {
   public:
    bool OnRows(const Row*, size_t) override { return ++calls_ < 2; }
    int calls_ = 0;
  } visitor;
  const std::string file = Joined(
      {FrameOf(Definitions()), FrameOf({RowsRecord(PlainRows(0, 20000))})});
  StringSource source(file);
  ReadResult result;
  ASSERT_TRUE(ReadStream(&source, {}, &visitor, &result).ok());
  EXPECT_EQ(visitor.calls_, 2);
  EXPECT_TRUE(result.stopped);
}

std::vector<Row> RandomRows(std::mt19937_64* random, uint64_t* number,
                            size_t count) {
  std::vector<Row> rows(count);
  uint64_t time = (*random)() % 1000000, rss = (*random)() % (1 << 30);
  for (Row& row : rows) {
    const auto one_in = [&](uint64_t n) { return (*random)() % n == 0; };
    if (one_in(9)) *number += (*random)() >> ((*random)() % 30 + 30);
    if (one_in(3)) time += (*random)() >> ((*random)() % 30 + 30);
    if (one_in(5)) rss = (*random)() >> ((*random)() % 40 + 10);
    row = PlainRow((*number)++, time, rss);
    if (one_in(4)) row.drss_bytes = static_cast<int64_t>((*random)());
    row.site = 1 + (*random)() % 2;
    row.what = row.site == 1 ? CALL : C_RETURN;
    row.stack = (*random)() % 2;
    row.context = one_in(6);
    row.exact = !one_in(6);
  }
  return rows;
}

TEST(RoundTrip, RandomRowsComeBackAsTheyWere) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    StringSink sink;
    auto writer = StreamWriter::Create(
        &sink, {.level = seed % 2 ? 1 : StreamWriter::kStored,
                .max_frame_bytes = 1 + random() % 100000});
    for (const Record& record : Definitions()) {
      ASSERT_TRUE((*writer)->Append(record).ok());
    }
    std::vector<Row> all;
    uint64_t number = 0;
    for (int batch = 0; batch < 5; ++batch) {
      const std::vector<Row> rows =
          RandomRows(&random, &number, random() % 9000);
      ASSERT_TRUE((*writer)->Append(RowsRecord(rows, true)).ok());
      all.insert(all.end(), rows.begin(), rows.end());
    }
    ASSERT_TRUE((*writer)->Flush().ok());
    CheckingVisitor visitor;
    ReadResult result;
    ASSERT_TRUE(Read(sink.contents(), &visitor, &result).ok());
    EXPECT_TRUE(visitor.rows() == all) << "seed " << seed;
    EXPECT_EQ(result.damages, 0u);
  }
}

}  // namespace
}  // namespace pymemrun
