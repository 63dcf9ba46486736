#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string ContentsOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OutputPathTest, OutputGoesToAPath) {
  TempFile file(SmallRun().Build()), target("what was there");
  for (const char* command : {"top", "summary"}) {
    for (const char* form : {"--csv", "--json", "--limit=3"}) {
      const Printed printed =
          Report({command, file.path(), form, "-o", target.path()});
      EXPECT_EQ(printed.code, 0) << printed.err;
      EXPECT_EQ(printed.out, "");
      EXPECT_EQ(ContentsOf(target.path()),
                Report({command, file.path(), form}).out);
    }
  }
  EXPECT_THAT(Report({"top", file.path(), "-o", "-"}).out,
              HasSubstr("tracing itself"));
}

TEST(OutputPathTest, AnOutputThatCannotBeIsNamed) {
  TempFile file(SmallRun().Build());
  const Printed nowhere = Report({"top", file.path(), "-o", "/nowhere/\x1bx"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_EQ(nowhere.err,
            "pymemreport: /nowhere/\\x1bx: No such file or directory\n");
  const Printed full = Report({"top", file.path(), "-o", "/dev/full"});
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, MatchesRegex("pymemreport: /dev/full: [^\n]*No space "
                                     "left on device\n"));
}

TEST(OutputPathTest, AFailedRunLeavesTheOldOutput) {
  TempFile text("no run file"), target("what was there");
  EXPECT_EQ(Report({"top", text.path(), "-o", target.path()}).code, 1);
  EXPECT_EQ(ContentsOf(target.path()), "what was there");
}

TEST(OutputPathTest, OfDamagedInputNoOldOutputIsReplaced) {
  std::string run = SmallRun().Build();
  const size_t second_frame = run.find("\x28\xb5\x2f\xfd", 1);
  ASSERT_NE(second_frame, std::string::npos);
  run[second_frame + 14] ^= 0x55;
  TempFile damaged(run), whole(SmallRun().Build()), target("what was there");
  for (const auto& files :
       {std::vector<std::string>{damaged.path()},
        std::vector<std::string>{whole.path(), damaged.path()},
        std::vector<std::string>{whole.path(), "/nowhere.pb"}}) {
    std::vector<std::string> arguments = {"summary", "-o", target.path()};
    arguments.insert(arguments.end(), files.begin(), files.end());
    const Printed printed = Report(arguments);
    EXPECT_EQ(printed.code, 1);
    EXPECT_THAT(printed.err,
                HasSubstr(absl::StrCat("pymemreport: ", target.path(),
                                       ": left unchanged\n")));
    EXPECT_EQ(ContentsOf(target.path()), "what was there");
  }
  // Without an old file, what can be read is written.
  unlink(target.path().c_str());
  EXPECT_EQ(
      Report({"summary", damaged.path(), "--csv", "-o", target.path()}).code,
      1);
  EXPECT_EQ(ContentsOf(target.path()),
            Report({"summary", damaged.path(), "--csv"}).out);
}

TEST(OutputPathTest, AnInputIsNotOverwritten) {
  const std::string run = SmallRun().Build();
  TempFile file(run), other(run);
  const Printed printed =
      Report({"top", other.path(), file.path(), "-o", file.path()});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("is also a file to read"));
  EXPECT_EQ(ContentsOf(file.path()), run);
}

}  // namespace
}  // namespace pymemrun
