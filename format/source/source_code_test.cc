#include "format/source/source_code.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

class SourceCodeTest : public testing::Test {
 protected:
  SourceCodeTest() : path_(testing::TempDir() + "/source_code_test") {
    unlink(path_.c_str());
  }
  ~SourceCodeTest() override { unlink(path_.c_str()); }
  void Write(const std::string& text) { std::ofstream(path_) << text; }

  const std::string path_;
};

TEST_F(SourceCodeTest, GivesLinesAndWhenTheFileWasChanged) {
  Write("a = 1\r\n\n  b = 2\n");
  const timespec times[2] = {{5, 0}, {7, 8}};
  utimensat(AT_FDCWD, path_.c_str(), times, 0);
  const auto source = ReadSourceCode(path_);
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->mtime_ns, 7000000008u);
  const std::vector<absl::string_view> lines = {"a = 1\r", "", "  b = 2", ""};
  EXPECT_EQ(source->Lines(), lines);
}

TEST_F(SourceCodeTest, WaitsForNoPipeAndReadsNoFolder) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(ReadSourceCode(path_).has_value());
  EXPECT_FALSE(ReadSourceCode("/").has_value());
  EXPECT_FALSE(ReadSourceCode("/dev/zero").has_value());
  EXPECT_FALSE(ReadSourceCode(path_ + ".not_there").has_value());
}

TEST_F(SourceCodeTest, OpensNoPipe) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const std::string link = path_ + ".link";
  unlink(link.c_str());
  ASSERT_EQ(symlink(path_.c_str(), link.c_str()), 0);
  const int opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(inotify_add_watch(opened, path_.c_str(), IN_OPEN), 0);
  EXPECT_FALSE(ReadSourceCode(path_).has_value());
  EXPECT_FALSE(ReadSourceCode(link).has_value());
  char event[sizeof(inotify_event) + NAME_MAX + 1];
  EXPECT_EQ(read(opened, event, sizeof(event)), -1);
  EXPECT_EQ(errno, EAGAIN);
  close(opened);
  unlink(link.c_str());
}

TEST_F(SourceCodeTest, FollowsLinksToFiles) {
  Write("a = 1\n");
  const std::string link = path_ + ".link";
  unlink(link.c_str());
  ASSERT_EQ(symlink(path_.c_str(), link.c_str()), 0);
  EXPECT_EQ(ReadSourceCode(link)->text, "a = 1\n");
  unlink(link.c_str());
}

TEST_F(SourceCodeTest, LeavesOutWhatIsTooLarge) {
  Write("");
  ASSERT_EQ(truncate(path_.c_str(), kMostSourceBytes), 0);
  EXPECT_TRUE(ReadSourceCode(path_).has_value());
  ASSERT_EQ(truncate(path_.c_str(), kMostSourceBytes + 1), 0);
  EXPECT_FALSE(ReadSourceCode(path_).has_value());
}

TEST_F(SourceCodeTest, FindsFilesOfTheProgramsFolder) {
  EXPECT_EQ(SourcePath("/a/b.py", "/c"), "/a/b.py");
  EXPECT_EQ(SourcePath("b.py", "/c"), "/c/b.py");
  EXPECT_EQ(SourcePath("b.py", ""), "");
  EXPECT_EQ(SourcePath("<string>", "/c"), "");
  EXPECT_EQ(SourcePath("", "/c"), "");
}

// The values are those that other implementations of FNV-1a give.
TEST_F(SourceCodeTest, HashesLinesWithoutBlanksAround) {
  EXPECT_EQ(SourceLineHash(""), 0x811c9dc5u);
  EXPECT_EQ(SourceLineHash("a"), 0xe40c292cu);
  EXPECT_EQ(SourceLineHash("foobar"), 0xbf9cf968u);
  EXPECT_EQ(SourceLineHash("\t foobar \r"), 0xbf9cf968u);
  EXPECT_NE(SourceLineHash("foo bar"), SourceLineHash("foobar"));
}

}  // namespace
}  // namespace pymemrun
