// Every way to cut or to flip a small run file: nothing but sound rows may come
// out, and what is wrong must be told.
#include <algorithm>
#include <string>
#include <vector>

#include "format/records/record_visitor.h"
#include "format/stream/stream_for_tests.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

struct Outcome {
  absl::Status status;
  ReadResult result;
  std::vector<Row> rows;
  std::vector<std::string> damages;
};

Outcome Read(const std::string& file) {
  Outcome outcome;
  StringSource source(file);
  CheckingVisitor visitor;
  outcome.status = ReadStream(&source, {}, &visitor, &outcome.result);
  outcome.rows = visitor.rows();
  outcome.damages = visitor.damages();
  return outcome;
}

// Rows as in `all`, some left out. Sites are compared only when none is a
// placeholder.
bool IsSubset(const std::vector<Row>& rows, const std::vector<Row>& all,
              bool with_sites) {
  size_t at = 0;
  for (Row row : rows) {
    while (at < all.size() && all[at].number < row.number) ++at;
    if (at == all.size()) return false;
    if (!with_sites) row.what = all[at].what;
    if (!(row == all[at++])) return false;
  }
  return true;
}

class StreamDamage : public testing::TestWithParam<int> {
 protected:
  const std::vector<std::string> frames_ = SmallRunFrames(GetParam());
  const std::string file_ = Joined(frames_);
  const std::vector<Row> all_ = Read(file_).rows;
};

TEST_P(StreamDamage, EachLengthGivesThePrefixThatIsWhole) {
  ASSERT_EQ(all_.size(), 20u);
  std::vector<size_t> ends = {0};
  for (const std::string& frame : frames_) {
    ends.push_back(ends.back() + frame.size());
  }
  for (size_t size = 0; size < file_.size(); ++size) {
    const Outcome outcome = Read(file_.substr(0, size));
    EXPECT_EQ(outcome.status.ok(), size >= ends[1]) << size;
    EXPECT_EQ(outcome.result.damages, 0u) << size;
    const size_t rows = size >= ends[3] ? 20 : size >= ends[2] ? 10 : 0;
    EXPECT_EQ(outcome.rows, std::vector<Row>(all_.begin(), all_.begin() + rows))
        << size;
    const size_t frame_begin =
        *(std::upper_bound(ends.begin(), ends.end(), size) - 1);
    EXPECT_EQ(outcome.result.torn, frame_begin != size) << size;
    if (outcome.result.torn) {
      EXPECT_EQ(outcome.result.end_offset, frame_begin);
    }
    EXPECT_FALSE(outcome.result.has_footer);
  }
}

TEST_P(StreamDamage, EachFlippedBitIsFoundAndCostsOneFrameAtMost) {
  for (size_t at = 0; at < file_.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = file_;
      flipped[at] ^= static_cast<char>(1 << bit);
      const Outcome outcome = Read(flipped);
      SCOPED_TRACE(absl::StrCat("byte ", at, " bit ", bit));
      EXPECT_TRUE(
          IsSubset(outcome.rows, all_, outcome.result.placeholders == 0));
      if (at < 4) {
        EXPECT_FALSE(outcome.status.ok());
        continue;
      }
      EXPECT_TRUE(outcome.status.ok()) << outcome.status;
      EXPECT_GE(outcome.rows.size(), 10u);
      // Bits of the header that zstd reserves or that only size buffers may
      // change nothing.
      const bool whole = outcome.rows == all_ && outcome.result.has_header &&
                         outcome.result.has_footer;
      EXPECT_EQ(outcome.result.damages == 0 && !outcome.result.torn, whole);
    }
  }
}

TEST_P(StreamDamage, EachByteTakenOutOrPutInIsFound) {
  for (size_t at = 4; at < file_.size(); ++at) {
    std::string shorter = file_, longer = file_;
    shorter.erase(at, 1);
    longer.insert(at, 1, 'i');
    for (const std::string& file : {shorter, longer}) {
      const Outcome outcome = Read(file);
      EXPECT_TRUE(outcome.status.ok()) << at << outcome.status;
      EXPECT_GE(outcome.rows.size(), 10u) << at;
      EXPECT_TRUE(
          IsSubset(outcome.rows, all_, outcome.result.placeholders == 0));
      EXPECT_TRUE(outcome.result.damages != 0 || outcome.result.torn) << at;
    }
  }
}

TEST_P(StreamDamage, AMissingFrameLeavesTheOthers) {
  for (size_t missing = 1; missing < frames_.size(); ++missing) {
    std::vector<std::string> frames = frames_;
    frames.erase(frames.begin() + missing);
    const Outcome outcome = Read(Joined(frames));
    EXPECT_TRUE(outcome.status.ok());
    EXPECT_TRUE(IsSubset(outcome.rows, all_, true));
  }
}

TEST_P(StreamDamage, AFrameThatComesTwiceIsDamage) {
  for (const std::string& frame : frames_) {
    std::vector<std::string> frames = frames_;
    frames.push_back(frame);
    const Outcome outcome = Read(Joined(frames));
    EXPECT_TRUE(outcome.status.ok());
    EXPECT_EQ(outcome.rows, all_);
    EXPECT_GE(outcome.result.damages, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(StoredAndCompressed, StreamDamage,
                         testing::Values(StreamWriter::kStored, 1));

}  // namespace
}  // namespace pymemrun
