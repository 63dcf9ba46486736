// What pymemcat prints of events of the GIL.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/gil_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Printed CatGil(const std::string& run, std::vector<std::string> arguments) {
  TempFile file(run);
  arguments.insert(arguments.begin(), file.path());
  const Printed printed = Cat(arguments);
  EXPECT_EQ(printed.code, 0) << printed.err;
  return printed;
}

TEST(PymemcatGilTest, AsCsv) {
  const auto lines =
      CsvLines(CatGil(Contended().Build(), {"--csv", "--records", "gil"}));
  ASSERT_THAT(lines, SizeIs(1 + 6));
  EXPECT_THAT(lines[0], EndsWith(",rss_exact,action,gil,gil_free_s,gil_pauses,"
                                 "gil_paused_s,gil_by,thread_drss_bytes"));
  EXPECT_EQ(lines[1],
            ",,0.000000,GIL,,,,,,MainThread#11,4711,,,,taken,1,0.000000000,0,"
            "0.000000000,,");
  EXPECT_THAT(lines[2], EndsWith(",waiting,1,0.000000000,2,0.010000000,,"));
  EXPECT_THAT(
      lines[3],
      HasSubstr(",GIL,/usr/lib/python3.11/json/__init__.py,346,loads,"));
  EXPECT_THAT(lines[3], EndsWith(",holder,1,,,,,"));
}

TEST(PymemcatGilTest, FiltersChooseAmongThem) {
  const std::string run = Contended().Build();
  const auto shown = [&run](std::vector<std::string> filter) {
    filter.insert(filter.begin(), {"--csv", "--no-header", "--records", "gil",
                                   "--columns", "action"});
    return CatGil(run, filter).out;
  };
  EXPECT_EQ(shown({"--from", "0.03", "--thread", "worker"}),
            "taken\r\nwaiter\r\nstate\r\n");
  EXPECT_EQ(shown({"--file", "/app.py"}), "waiter\r\n");
  EXPECT_EQ(shown({"--what", "call"}), "");
  EXPECT_EQ(CatGil(run, {"--csv", "--no-header"}).out, "");
}

TEST(PymemcatGilTest, OfLocksItSaysWhoLetTheThreadGoOn) {
  const auto lines = CsvLines(CatGil(
      FreeThreaded().Build(), {"--csv", "--no-header", "--records", "gil",
                               "--columns", "action,gil,gil_by"}));
  EXPECT_EQ(lines[0], "lock_waiting,,");
  EXPECT_EQ(lines[4], "lock_taken,,MainThread#11");
  EXPECT_EQ(lines.back(), "goes_on,,MainThread#11");
}

TEST(PymemcatGilTest, ARunWithoutThemSaysSo) {
  const Printed printed = CatGil(SmallRun().Build(), {"--records", "gil"});
  EXPECT_THAT(printed.err, HasSubstr("has no GIL events: record them with "
                                     "pymemrun --trace gil"));
}

}  // namespace
}  // namespace pymemrun
