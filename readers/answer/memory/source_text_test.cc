#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "gtest/gtest.h"
#include "readers/answer/memory/answer_text.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

TEST(SourceTextTest, ReadsLinesOfFilesThatDidNotChange) {
  const TempFile file("first = 1\n    second = 2  \n");
  const RunIndex index;
  SourceText now(&index, "/", UINT64_MAX);
  EXPECT_EQ(now.Line(file.path(), 2), "second = 2");
  EXPECT_EQ(now.Line(file.path(), 1), "first = 1");
  EXPECT_EQ(now.Line(file.path(), 0), "");
  EXPECT_EQ(now.Line("<string>", 1), "");
  EXPECT_EQ(now.first_changed(), "");
  EXPECT_EQ(now.Line(file.path(), 9), "");
  EXPECT_EQ(now.first_changed(), file.path());  // it has no line 9
  SourceText later(&index, "/", 1);
  EXPECT_EQ(later.Line(file.path(), 1), "");
  EXPECT_EQ(later.first_changed(), file.path());
  EXPECT_EQ(SourceText(&index, "/tmp", UINT64_MAX)
                .Line(file.path().substr(sizeof("/tmp")), 1),
            "first = 1");
}

TEST(SourceTextTest, ShowsLinesThatAreAsTheRunHadThem) {
  const TempFile file("first = 1\n    second = 2  \nthird = 3\n");
  SourceFile known;
  known.set_file(file.path());
  for (const uint32_t line : {1, 2, 3}) known.add_line(line);
  known.add_hash(SourceLineHash("was = 1"));
  known.add_hash(SourceLineHash("second = 2"));
  known.add_hash(SourceLineHash("was = 3"));
  for (const char* const text : {"", "", "was = 3"}) known.add_text(text);
  RunIndex index;
  index.Add(known);
  SourceText changed(&index, "/", 1);
  EXPECT_EQ(changed.Line(file.path(), 1), "");
  EXPECT_EQ(changed.Line(file.path(), 2), "second = 2");
  EXPECT_EQ(changed.Line(file.path(), 3), "was = 3");
  EXPECT_EQ(SourceText(&index, "/", UINT64_MAX).Line(file.path(), 1), "");
}

TEST(SourceTextTest, ReadsNoPipesDevicesOrFolders) {
  const RunIndex index;
  SourceText source(&index, "/", UINT64_MAX);
  EXPECT_EQ(source.Line("/dev/zero", 1), "");
  EXPECT_EQ(source.Line("/tmp", 1), "");
  EXPECT_EQ(source.Line("/no/such/file", 1), "");
  EXPECT_EQ(source.Line("<string>", 1), "");
  const TempFile name("");
  const std::string pipe = name.path() + ".pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(source.Line(pipe, 1), "");
  unlink(pipe.c_str());
}

}  // namespace
}  // namespace pymemrun
