#include "collector/definitions/source_lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "format/source/source_code.h"

namespace pymemrun {
namespace {

class SourceOutput final : public RecordSink {
 public:
  void Write(absl::string_view bytes, RowCounts) override {
    Record record;
    ASSERT_TRUE(record.ParseFromArray(bytes.data(), bytes.size()));
    ASSERT_TRUE(record.has_source());
    records.push_back(record.source());
  }
  std::vector<SourceFile> records;
};

class SourceLinesTest : public testing::Test {
 protected:
  SourceLinesTest() : folder_(testing::TempDir() + "/source_lines_test") {
    mkdir(folder_.c_str(), 0700);
    Write("a.py", "import b\n    x = 1\ny = 2\n");
  }
  ~SourceLinesTest() override {
    for (const std::string& path : paths_) unlink(path.c_str());
    rmdir(folder_.c_str());
  }
  // A file that was changed at 1 s.
  std::string Write(const std::string& name, const std::string& text) {
    paths_.push_back(folder_ + "/" + name);
    std::ofstream(paths_.back()) << text;
    const timespec times[2] = {{1, 0}, {1, 0}};
    utimensat(AT_FDCWD, paths_.back().c_str(), times, 0);
    return paths_.back();
  }
  const std::vector<SourceFile>& Written(SourceLines* lines) {
    lines->Read(77, SIZE_MAX);
    lines->Write(&out_);
    return out_.records;
  }

  const std::string folder_;
  std::vector<std::string> paths_;
  uint64_t now_ns_ = 2000000000;
  SourceLines::Limits limits_;
  SourceLines::Clock clock_ = [this] { return now_ns_; };
  SourceOutput out_;
};

TEST_F(SourceLinesTest, WritesAHashOfEachNamedLineOnce) {
  SourceLines lines(limits_, clock_);
  lines.Start(folder_, /*store_text=*/false, getpid());
  lines.AddCode(1, "a.py");
  lines.AddCode(2, "<string>");
  lines.AddCode(3, folder_ + "/gone.py");
  for (const uint32_t line : {3, 2, 3, 0, 99}) lines.AddLine(1, line);
  lines.AddLine(2, 1);
  lines.AddLine(3, 1);
  lines.AddLine(4, 1);  // a code that never came
  const std::vector<SourceFile>& records = Written(&lines);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].file(), "a.py");
  EXPECT_EQ(records[0].time_us(), 77u);
  EXPECT_EQ(records[0].size_bytes(), 25u);
  EXPECT_EQ(records[0].mtime_ns(), 1000000000u);
  ASSERT_EQ(records[0].line_size(), 2);
  EXPECT_EQ(records[0].line(0), 2u);
  EXPECT_EQ(records[0].line(1), 3u);
  ASSERT_EQ(records[0].hash_size(), 2);
  EXPECT_EQ(records[0].hash(0), SourceLineHash("x = 1"));
  EXPECT_EQ(records[0].hash(1), SourceLineHash("y = 2"));
  EXPECT_EQ(records[0].text_size(), 0);
}

TEST_F(SourceLinesTest, StoresTextIfAsked) {
  SourceLines lines(limits_, clock_);
  lines.Start("/", /*store_text=*/true, getpid());
  lines.AddCode(1, folder_ + "/a.py");
  lines.AddCode(2, Write("long.py", std::string(10000, 'x')));
  lines.AddLine(1, 2);
  lines.AddLine(2, 1);
  const std::vector<SourceFile>& records = Written(&lines);
  ASSERT_EQ(records.size(), 2u);
  ASSERT_EQ(records[0].text_size(), 1);
  EXPECT_EQ(records[0].text(0), "x = 1");
  EXPECT_EQ(records[1].text(0).size(), 4096u);
  EXPECT_EQ(records[1].hash(0), SourceLineHash(std::string(10000, 'x')));
}

TEST_F(SourceLinesTest, AFileThatChangedAfterItWasSeenHasNoHashes) {
  now_ns_ = 999999999;
  SourceLines lines(limits_, clock_);
  lines.Start(folder_, true, getpid());
  lines.AddCode(1, "a.py");
  lines.AddLine(1, 2);
  const std::vector<SourceFile>& records = Written(&lines);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].mtime_ns(), 1000000000u);
  EXPECT_EQ(records[0].line_size(), 0);
}

// It is read when its code came, not when the run ended.
TEST_F(SourceLinesTest, LaterLinesAreThoseOfTheFileAsItWasRead) {
  SourceLines lines(limits_, clock_);
  lines.AddCode(1, folder_ + "/a.py");
  lines.Read(5, SIZE_MAX);
  lines.Start(folder_, false, getpid());
  lines.Read(6, 1);
  Write("a.py", "another\n");
  lines.AddLine(1, 3);
  const std::vector<SourceFile>& records = Written(&lines);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].time_us(), 6u);
  EXPECT_EQ(records[0].hash(0), SourceLineHash("y = 2"));
}

TEST_F(SourceLinesTest, ReadsOneFileAfterTheOther) {
  SourceLines lines(limits_, clock_);
  lines.Start(folder_, false, getpid());
  lines.AddCode(1, "a.py");
  lines.AddCode(2, Write("b.py", "z = 3\n"));
  lines.AddLine(1, 1);
  lines.AddLine(2, 1);
  EXPECT_TRUE(lines.Read(5, 1));
  const std::vector<SourceFile>& records = Written(&lines);
  EXPECT_FALSE(lines.Read(99, 1));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].time_us(), 5u);
  EXPECT_EQ(records[1].time_us(), 77u);
}

TEST_F(SourceLinesTest, LargeFilesTakeSeveralRecords) {
  std::string text;
  for (int i = 0; i < 70000; ++i) text += "x = 1\n";
  SourceLines lines(limits_, clock_);
  lines.Start(folder_, false, getpid());
  lines.AddCode(1, Write("large.py", text));
  for (uint32_t line = 1; line <= 70000; ++line) lines.AddLine(1, line);
  const std::vector<SourceFile>& records = Written(&lines);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].line_size(), 65536);
  EXPECT_EQ(records[1].line(0), 65537u);
  EXPECT_EQ(records[1].line_size(), 70000 - 65536);
}

TEST_F(SourceLinesTest, KeepsNoMoreThanItsLimits) {
  limits_ = {.files = 1, .codes = 3, .lines = 2, .read_bytes = 1};
  SourceLines lines(limits_, clock_);
  lines.Start(folder_, false, getpid());
  lines.AddCode(1, "a.py");
  lines.AddCode(2, Write("b.py", "z = 3\n"));
  lines.AddCode(3, "a.py");
  lines.AddLine(2, 1);
  lines.AddLine(3, 1);
  for (const uint32_t line : {1, 2, 3}) lines.AddLine(1, line);
  const std::vector<SourceFile>& records = Written(&lines);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].line_size(), 2);
  SourceLines none({.read_bytes = 0}, clock_);
  none.Start(folder_, false, getpid());
  none.AddCode(1, "a.py");
  none.AddLine(1, 1);
  EXPECT_EQ(Written(&none).size(), 1u);
}

}  // namespace
}  // namespace pymemrun
