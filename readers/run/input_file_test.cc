#include "readers/run/input_file.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "readers/cat/merge_reader.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

// Gives its pieces one by one, an empty one as the end for now.
class PieceSource final : public ByteSource {
 public:
  explicit PieceSource(std::vector<std::string> pieces)
      : pieces_(std::move(pieces)) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    if (next_ >= pieces_.size()) return 0;
    const std::string& piece = pieces_[next_++];
    piece.copy(buffer, size);
    return piece.size();
  }

 private:
  std::vector<std::string> pieces_;
  size_t next_ = 0;
};

TEST(FollowSourceTest, WaitsAtTheEndForMore) {
  PieceSource pieces({"ab", "", "", "cd"});
  int waits = 0;
  FollowSource source(
      &pieces, [] { return false; }, [&waits] { return ++waits < 5; },
      absl::ZeroDuration());
  char buffer[8];
  EXPECT_EQ(*source.Read(buffer, 8), 2u);
  EXPECT_EQ(*source.Read(buffer, 8), 2u);
  EXPECT_EQ(waits, 2);
  EXPECT_EQ(*source.Read(buffer, 8), 0u);
}

TEST(FollowSourceTest, EndsWhenTheRunHasEnded) {
  PieceSource pieces({"ab"});
  FollowSource source(
      &pieces, [] { return true; }, [] { return true; }, absl::ZeroDuration());
  char buffer[8];
  EXPECT_EQ(*source.Read(buffer, 8), 2u);
  EXPECT_EQ(*source.Read(buffer, 8), 0u);
}

TEST(ProgressTest, ShowsEachPercentOnceAndWipesItself) {
  std::vector<std::string> shown;
  {
    Progress progress(
        1000, [&](absl::string_view text) { shown.emplace_back(text); });
    for (int i = 0; i < 1000; ++i) progress.Add(1);
    progress.Add(5000);
  }
  ASSERT_EQ(shown.size(), 102u);
  EXPECT_NE(shown[50].find("] 50 %"), std::string::npos);
  EXPECT_EQ(shown.back(), "\r\x1b[K");
}

TEST(ProgressTest, CountsWhatASourceGives) {
  std::string last;
  Progress progress(4,
                    [&](absl::string_view text) { last = std::string(text); });
  PieceSource pieces({"ab", "cd"});
  ProgressSource source(&pieces, &progress);
  char buffer[8];
  EXPECT_EQ(*source.Read(buffer, 8), 2u);
  EXPECT_NE(last.find("] 50 %"), std::string::npos);
}

TEST(ProgressTest, WhatIsSkippedCounts) {
  std::string last;
  Progress progress(8,
                    [&](absl::string_view text) { last = std::string(text); });
  StringSource bytes("abcdefgh");
  ProgressSource source(&bytes, &progress);
  char buffer[2];
  EXPECT_EQ(*source.Read(buffer, 2), 2u);
  ASSERT_TRUE(source.Seek(6).ok());
  EXPECT_NE(last.find("] 75 %"), std::string::npos);
  EXPECT_EQ(*source.Read(buffer, 2), 2u);
  EXPECT_EQ(buffer[0], 'g');
  EXPECT_NE(last.find("] 100 %"), std::string::npos);
  PieceSource pieces({"ab"});
  EXPECT_FALSE(ProgressSource(&pieces, &progress).Seek(1).ok());
}

TEST(InputFileTest, NamesAreEscapedForMessages) {
  TempFile file("contents");
  const auto opened = InputFile::Open(file.path());
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->size_bytes(), 8u);
  EXPECT_EQ((*opened)->shown_name(), file.path());
  EXPECT_EQ((*InputFile::Open("-"))->shown_name(), "standard input");
  EXPECT_FALSE(InputFile::Open("/tmp").ok());
}

// Fails after some bytes, as a full disk does.
class FailingSink final : public ByteSink {
 public:
  absl::Status Append(absl::string_view) override {
    return absl::ResourceExhaustedError("full");
  }
  uint64_t bytes_written() const override { return 0; }
};

class MergeTest : public ::testing::Test {
 protected:
  // Merges `runs` into CSV rows of pid and event; what got out before a failure
  // of `sink`.
  void Merge(const std::vector<std::string>& runs, const FilterOptions& filter,
             ByteSink* sink) {
    OutputBuffer output(sink);
    RowWriter::Options options;
    options.columns = {Column::kPid, Column::kEvent};
    options.with_header = false;
    PrintTarget target(
        [&output](const RowWriter::Options& made) {
          return NewCsvWriter(made, &output);
        },
        options, &output);
    std::vector<std::unique_ptr<StringSource>> sources;
    std::vector<std::unique_ptr<MergeInput>> inputs;
    for (const std::string& run : runs) {
      sources.push_back(std::make_unique<StringSource>(run));
      inputs.push_back(std::make_unique<MergeInput>(
          sources.back().get(), StreamReader::Options(),
          [](const StreamReader::Damage&) {}, &filter, false,
          static_cast<uint32_t>(inputs.size()), &target));
    }
    PrintMerged(inputs, target);
    for (const auto& input : inputs) {
      EXPECT_EQ(input->Wait(), MergeInput::State::kDone);
    }
    output.Flush().IgnoreError();
  }
};

TEST_F(MergeTest, EveryRowOfEveryFileComesOut) {
  StringSink a, b, out;
  BuildLargeRun(50000, &a);
  BuildLargeRun(30000, &b);
  Merge({a.contents(), b.contents(), SmallRun().Build()}, {}, &out);
  EXPECT_EQ(std::count(out.contents().begin(), out.contents().end(), '\n'),
            80006);
}

TEST_F(MergeTest, EndsEarlyWhenNoLaterRowIsWanted) {
  StringSink a, b, out;
  BuildLargeRun(20000000, &a);
  BuildLargeRun(20000000, &b);
  FilterOptions filter;
  filter.to_us = 9;
  Merge({a.contents(), b.contents()}, filter, &out);
  EXPECT_EQ(std::count(out.contents().begin(), out.contents().end(), '\n'),
            160);
}

TEST_F(MergeTest, EndsWhenTheOutputFails) {
  StringSink a, b;
  BuildLargeRun(500000, &a);
  BuildLargeRun(500000, &b);
  FailingSink full;
  Merge({a.contents(), b.contents()}, {}, &full);
}

TEST_F(MergeTest, NothingToMergeIsNothing) {
  StringSink out;
  Merge({}, {}, &out);
  Merge({"no run file", ""}, {}, &out);
  EXPECT_EQ(out.contents(), "");
}

}  // namespace
}  // namespace pymemrun
