// pymemcat --from and --to with the index of frames: the same rows, fewer
// bytes.
#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/cat/pymemcat.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// What a file with an index gives for these times, read with it and without.
void ExpectSameRows(const std::string& indexed,
                    std::vector<std::string> times) {
  TempFile with(indexed);
  // An empty skippable frame behind it takes the index out of sight.
  TempFile without(indexed + std::string("\x50\x2A\x4D\x18\0\0\0\0", 8));
  times.insert(times.begin(), {"--csv", with.path()});
  const Printed some = Cat(times);
  times[1] = without.path();
  const Printed all = Cat(times);
  EXPECT_EQ(some.code, 0);
  EXPECT_EQ(some.err, "");
  EXPECT_EQ(all.err, "");
  EXPECT_EQ(some.out, all.out);
}

TEST(PymemcatIndexTest, TheIndexOfFramesChangesNoRow) {
  StringSink sink;
  BuildLargeRun(3000000, &sink);
  const std::string& run = sink.contents();
  ExpectSameRows(run, {"--from", "0.37499"});
  ExpectSameRows(run, {"--from", "0.2", "--to", "0.2001"});
  ExpectSameRows(run, {"--to", "0.00001"});
  ExpectSameRows(run, {"--from", "0.2", "--to", "0.3", "--every", "1000"});
  ExpectSameRows(run, {"--from", "5"});
}

TEST(PymemcatIndexTest, SeveralFilesAreReadByTheirIndex) {
  StringSink sink;
  BuildLargeRun(3000000, &sink);
  TempFile a(sink.contents()), b(sink.contents());
  const Printed printed = Cat({a.path(), b.path(), "--csv", "--no-header",
                               "--columns", "event", "--from", "0.374999"});
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(std::count(printed.out.begin(), printed.out.end(), '\n'), 16);
}

TEST(PymemcatIndexTest, TheIndexOfALaterRunIsNotUsed) {
  StringSink sink;
  BuildLargeRun(3000000, &sink);
  const std::string& run = sink.contents();
  TempFile one(run), two(run + run);
  const Printed printed = Cat({two.path(), "--csv", "--from", "0.37499"});
  EXPECT_EQ(printed.code, 1);
  EXPECT_THAT(printed.err, HasSubstr(": a second run begins here"));
  EXPECT_EQ(std::count(printed.err.begin(), printed.err.end(), '\n'), 1);
  EXPECT_EQ(printed.out, Cat({one.path(), "--csv", "--from", "0.37499"}).out);
}

TEST(PymemcatIndexTest, AWrongIndexOfFramesIsSaidAndNotUsed) {
  StringSink sink;
  BuildLargeRun(3000000, &sink);
  std::string run = sink.contents();
  run[run.size() - 20] ^= 1;
  TempFile file(run), good(sink.contents());
  const Printed printed = Cat({file.path(), "--csv", "--from", "0.37499"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.err, HasSubstr(": the index of frames is wrong ("));
  EXPECT_THAT(printed.err, EndsWith("); the whole file is read\n"));
  EXPECT_EQ(std::count(printed.err.begin(), printed.err.end(), '\n'), 1);
  EXPECT_EQ(printed.out, Cat({good.path(), "--csv", "--from", "0.37499"}).out);
}

}  // namespace
}  // namespace pymemrun
