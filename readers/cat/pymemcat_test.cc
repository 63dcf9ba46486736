#include "readers/cat/pymemcat.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> Events(const std::string& run,
                                std::vector<std::string> arguments) {
  TempFile file(run);
  arguments.insert(arguments.end(),
                   {file.path(), "--csv", "--no-header", "--columns", "event"});
  const Printed printed = Cat(arguments);
  EXPECT_EQ(printed.code, 0) << printed.err;
  return CsvLines(printed);
}

TEST(PymemcatTest, PrintsTextByDefault) {
  TempFile file(SmallRun().Build());
  const Printed printed = Cat({file.path()});
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.err, "");
  const std::vector<std::string> lines = absl::StrSplit(printed.out, '\n');
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_THAT(lines[0], StartsWith("      Event        dEvent  Clock "));
  EXPECT_THAT(lines[1], StartsWith("NEXT: 0            +0      0.000100 "));
  EXPECT_THAT(lines[2], StartsWith("PREV: 9            +9      0.000190 "));
  EXPECT_THAT(lines[3], StartsWith("NEXT: 10           +10     0.000200 "));
  EXPECT_THAT(lines[4], StartsWith("MARK: 11                   0.000250     "
                                   "MARK     half "));
  EXPECT_THAT(lines[5], StartsWith("PREV: 19           +9      0.000290 "));
  EXPECT_THAT(lines[6], HasSubstr("Clock        Thread "));
  EXPECT_THAT(lines[7], StartsWith("NEXT: 20           +10     0.000300     "
                                   "worker#4712 "));
}

TEST(PymemcatTest, ContextGoesWithItsRow) {
  const std::string run = SmallRun().Build();
  EXPECT_THAT(Events(run, {}), ElementsAre("0", "9", "10", "11", "19", "20"));
  EXPECT_THAT(Events(run, {"--records", "calls", "--what", "c_return"}),
              ElementsAre("9", "10", "19", "20"));
  EXPECT_THAT(Events(run, {"--records", "calls", "--min-drss", "2MiB"}),
              ElementsAre("0", "9", "10"));
  EXPECT_THAT(Events(run, {"--records", "calls", "--thread", "worker"}),
              ElementsAre("19", "20"));
  EXPECT_THAT(Events(run, {"--records", "calls", "--every", "2"}),
              ElementsAre("0", "19", "20"));
}

TEST(PymemcatTest, MarksAreKeptOrAskedFor) {
  const std::string run = SmallRun().Build();
  EXPECT_THAT(Events(run, {"--records", "marks"}), ElementsAre("11"));
  EXPECT_THAT(Events(run, {"--what", "mark"}), ElementsAre("11"));
  EXPECT_THAT(Events(run, {"--file", "nothing", "--records", "calls,marks"}),
              ElementsAre("11"));
  EXPECT_THAT(Events(run, {"--what", "call"}), ElementsAre("0"));
}

TEST(PymemcatTest, TimesAreSecondsOfTheClock) {
  const std::string run = SmallRun().Build();
  EXPECT_THAT(Events(run, {"--from", "0.0002", "--to", "0.00025"}),
              ElementsAre("9", "10", "11"));
}

// The peak and the mark are looked for in each file.
TEST(PymemcatTest, TimesAreMomentsAsInReports) {
  const std::string run = SmallRun().Build();
  EXPECT_THAT(Events(run, {"--from", "200us", "--to", "0.25ms"}),
              ElementsAre("9", "10", "11"));
  EXPECT_THAT(Events(run, {"--from", "half"}), ElementsAre("11", "19", "20"));
  EXPECT_THAT(Events(run, {"--to", "mark:half"}),
              ElementsAre("0", "9", "10", "11"));
  EXPECT_THAT(Events(run, {"--from", "0", "--to", "100%"}),
              ElementsAre("0", "9", "10", "11", "19", "20"));
  const TempFile one(run), two(run);
  const Printed both = Cat({one.path(), two.path(), "--from", "half", "--csv",
                            "--no-header", "--columns", "event"});
  EXPECT_THAT(CsvLines(both), ElementsAre("11", "11", "19", "20", "19", "20"));
  const Printed none = Cat({one.path(), "--from", "noon"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("noon"));
}

// Where a file is damaged that is said once.
TEST(PymemcatTest, DamageIsSaidOnceWhereAMomentIsLookedFor) {
  std::string run = SmallRun().Build();
  run[run.size() / 2] ^= 1;
  const TempFile file(run);
  const Printed plain = Cat({file.path(), "--from", "0"});
  const Printed moment = Cat({file.path(), "--from", "0%"});
  EXPECT_EQ(moment.code, plain.code);
  EXPECT_EQ(std::count(moment.err.begin(), moment.err.end(), '\n'),
            std::count(plain.err.begin(), plain.err.end(), '\n'))
      << moment.err;
}

TEST(PymemcatTest, ARunLoggedWholeHasNoContext) {
  SmallRun run;
  run.logged_whole = true;
  TempFile file(run.Build());
  const Printed printed = Cat({file.path()});
  EXPECT_THAT(printed.out, StartsWith("Event        dEvent "));
  EXPECT_THAT(printed.out, HasSubstr("\n9            +9      0.000190 "));
  EXPECT_THAT(printed.out, HasSubstr("\n10           +1      0.000200 "));
  const Printed csv =
      Cat({file.path(), "--csv", "--columns", "context", "--no-header"});
  EXPECT_THAT(CsvLines(csv), ElementsAre("", "", "", "", "", ""));
}

TEST(PymemcatTest, SeveralFilesAreMergedByWallTime) {
  SmallRun first, second;
  second.pid = 5000;
  second.start_ns = first.start_ns + 55000;  // 55 us later
  TempFile a(first.Build()), b(second.Build());
  const Printed printed = Cat(
      {b.path(), a.path(), "--csv", "--no-header", "--columns", "pid,event"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(CsvLines(printed),
              ElementsAre("4711,0", "5000,0", "4711,9", "4711,10", "5000,9",
                          "4711,11", "5000,10", "4711,19", "4711,20", "5000,11",
                          "5000,19", "5000,20"));
  EXPECT_THAT(Cat({a.path(), b.path()}).out, HasSubstr("Clock        Pid "));
}

TEST(PymemcatTest, RawIsTheDelimitedStream) {
  TempFile file(SmallRun().Build());
  const Printed printed = Cat({file.path(), "--raw"});
  EXPECT_EQ(printed.code, 0);
  size_t at = 0, records = 0;
  while (at < printed.out.size()) {
    uint64_t size = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = printed.out[at++];
      size |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    Record record;
    ASSERT_TRUE(record.ParseFromArray(printed.out.data() + at, size));
    EXPECT_EQ(records == 0, record.has_header());
    at += size;
    ++records;
  }
  EXPECT_EQ(records, 12u);
}

TEST(PymemcatTest, SummaryTellsWhatWasRecorded) {
  TempFile file(SmallRun().Build());
  const Printed printed = Cat({file.path(), "--summary"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, HasSubstr("21 events"));
  EXPECT_THAT(printed.out, HasSubstr("VmHWM: 14.0 MiB."));
  EXPECT_THAT(printed.out, Not(HasSubstr("/job.py")));
}

// What was read counts where the file does not tell its size.
TEST(PymemcatTest, SummaryTellsTheSizeOfAPipeToo) {
  const std::string run = SmallRun().Build();
  TempFile file(run);
  const int keep = dup(STDIN_FILENO);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], run.data(), run.size()),
            static_cast<ssize_t>(run.size()));
  close(ends[1]);
  dup2(ends[0], STDIN_FILENO);
  const Printed piped = Cat({"--summary", "-"});
  dup2(keep, STDIN_FILENO);
  close(keep);
  close(ends[0]);
  EXPECT_THAT(piped.out, StartsWith("pymemrun: standard input: 21 events"));
  const std::string size = absl::StrCat(" ", run.size(), " bytes.\n");
  EXPECT_THAT(piped.out, HasSubstr(size));
  EXPECT_THAT(Cat({"--summary", file.path()}).out, HasSubstr(size));
}

TEST(PymemcatTest, UsageErrorsNameWhatIsWrong) {
  TempFile file(SmallRun().Build());
  const struct {
    std::vector<std::string> arguments;
    const char* expected;
  } kCases[] = {
      {{}, "expected a FILE"},
      {{file.path(), "--colums", "event"}, "did you mean --columns?"},
      {{file.path(), "--min-dress=4"}, "did you mean --min-drss?"},
      {{file.path(), "--text", "--csv"}, "give one of"},
      {{file.path(), "--columns", "size"}, "'size' is not a column"},
      {{file.path(), "--min-drss", "few"},
       "'few' is not a whole number of bytes"},
      {{file.path(), "--every", "0"}, "above 0"},
      {{file.path(), "--from", "soon"}, "soon"},
      {{file.path(), "--from", "1000%"}, "a share from 0% to 100%"},
      {{file.path(), "--from", "peak", "--follow"}, "take only times"},
      {{"-", "--to", "50%"}, "take only times"},
      {{file.path(), "--raw", "--from", "peak"}, "takes no filter"},
      {{file.path(), "--from", "2", "--to", "1"}, "--from is later than --to"},
      {{file.path(), "--what", "jump"}, "'jump' is not a kind"},
      {{file.path(), "--records", "heaps"}, "'heaps' is not a kind of record"},
      {{file.path(), "--raw", "--every", "2"}, "takes no filter"},
      {{file.path(), file.path(), "--raw"}, "takes one FILE"},
      {{file.path(), file.path(), "--follow"}, "takes one FILE"},
      {{"-", "-"}, "only once"},
      {{file.path(), "--from", ""}, "--from: expected a value, found ''"},
      {{file.path(), "--file", ""}, "--file: expected a value, found ''"},
      {{file.path(), ""}, "FILE: expected a value, found ''"},
      {{file.path(), "--columns"}, "--columns"},
  };
  for (const auto& test : kCases) {
    const Printed printed = Cat(test.arguments);
    EXPECT_EQ(printed.code, 2) << test.expected;
    EXPECT_EQ(printed.out, "") << test.expected;
    EXPECT_THAT(printed.err, HasSubstr(test.expected));
    EXPECT_EQ(std::count(printed.err.begin(), printed.err.end(), '\n'), 1);
  }
}

TEST(PymemcatTest, HelpAndVersionAreNoErrors) {
  EXPECT_THAT(Cat({"--help-all"}).out, HasSubstr("--min-drss"));
  EXPECT_THAT(Cat({"--version"}).out, StartsWith("pymemcat "));
}

TEST(PymemcatTest, FollowReadsOnUntilTheFooter) {
  const std::string run = SmallRun().Build();
  TempFile file(run.substr(0, run.size() / 3));
  std::thread writer([&] {
    for (size_t at = run.size() / 3; at < run.size(); at += 97) {
      absl::SleepFor(absl::Milliseconds(20));
      file.Append(run.substr(at, 97));
    }
  });
  const Printed printed = Cat({file.path(), "--follow", "--csv"});
  writer.join();
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(CsvLines(printed).size(), 7u);
}

TEST(PymemcatTest, MarksPassNoFilterOfWhatTheyLack) {
  TempFile file(SmallRun().Build());
  const auto has_mark = [&file](std::vector<std::string> options) {
    options.push_back(file.path());
    return Cat(options).out.find("MARK:") != std::string::npos;
  };
  EXPECT_TRUE(has_mark({"--thread", "Main*"}));
  EXPECT_TRUE(has_mark({"--min-drss", "0"}));
  EXPECT_FALSE(has_mark({"--file", "*"}));
  EXPECT_FALSE(has_mark({"--function", "*"}));
  EXPECT_FALSE(has_mark({"--min-drss", "1M"}));
  EXPECT_TRUE(has_mark({"--file", "*", "--records", "calls,marks"}));
  EXPECT_TRUE(has_mark({"--file", "*", "--what", "call,mark"}));
}

TEST(PymemcatTest, FollowSaysThatItWaitsForAnEmptyFile) {
  TempFile file("");
  std::atomic<bool> interrupted{true};
  const Printed printed = RunProgram("pymemcat", [&](const Console& console) {
    return RunPymemcat({file.path(), "--follow"}, console, &interrupted);
  });
  EXPECT_THAT(printed.err, StartsWith("pymemcat: waiting for " + file.path() +
                                      ": it is still empty\n"));
}

TEST(PymemcatTest, FollowEndsWhenInterrupted) {
  SmallRun run;
  run.with_footer = false;
  TempFile file(run.Build());
  std::atomic<bool> interrupted{false};
  const Printed printed = RunProgram("pymemcat", [&](const Console& console) {
    std::thread user([&] {
      std::string seen(10000, '\0');
      do {  // ctest ends a wait in vain
        absl::SleepFor(absl::Milliseconds(1));
        EXPECT_GE(pread(console.out_fd, seen.data(), seen.size(), 0), 0);
      } while (!absl::StrContains(seen, "NEXT: 20 "));
      interrupted = true;
    });
    const int code =
        RunPymemcat({file.path(), "--follow"}, console, &interrupted);
    user.join();
    return code;
  });
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.err, "");
  EXPECT_THAT(printed.out, HasSubstr("NEXT: 20 "));
}

TEST(PymemcatTest, MoreRowsThanASpreadsheetHasAreSaid) {
  StringSink large;
  BuildLargeRun(1100000, &large);
  TempFile file(large.contents());
  const Printed all = Cat({file.path(), "--csv", "--columns", "event"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.err, HasSubstr("--every 2 stays below"));
  const Printed half =
      Cat({file.path(), "--csv", "--columns", "event", "--every", "2"});
  EXPECT_EQ(half.err, "");
  EXPECT_EQ(CsvLines(half).size(), 550001u);
}

TEST(SpreadsheetStepTest, LeavesRoomForContextMarksAndHeader) {
  EXPECT_EQ(SpreadsheetStep(1048575, 0, 0, 0), 0u);
  EXPECT_EQ(SpreadsheetStep(1048576, 0, 0, 0), 2u);
  EXPECT_EQ(SpreadsheetStep(1048575, 1048575, 0, 1), 3u);
  EXPECT_EQ(SpreadsheetStep(10, 0, 2000000, 0), 10u);
  for (uint64_t rows : {2000000u, 5000001u, 50000000u}) {
    const uint64_t step = SpreadsheetStep(rows, rows, 5, 1);
    EXPECT_LT(2 * (rows / step + 1) + 5, kSpreadsheetRows) << rows;
  }
}

// A RETURN that knows its CALL, in a run that asked for that or did not.
std::string RunWithACall(uint64_t min_call_drss_bytes) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.mutable_filters()->set_min_call_drss_bytes(min_call_drss_bytes);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  Row row = MakeRow(
      9, 1000000, builder.AddSite(RETURN, builder.AddCode("/a.py", "f", 1), 2),
      1 << 20, 0);
  row.call_events = 7;
  row.call_us = 250000;
  row.call_drss = 8192;
  builder.AddRow(row);
  builder.Flush();
  return sink.contents();
}

TEST(PymemcatTest, ARunOfCallsHasColumnsOfThem) {
  TempFile with(RunWithACall(4096));
  const std::vector<std::string> lines = CsvLines(Cat({with.path(), "--csv"}));
  EXPECT_THAT(lines[0], HasSubstr(",call_event,call_s,call_drss_bytes,"));
  EXPECT_THAT(lines[1], HasSubstr(",2,0.250000,8192,"));
  EXPECT_THAT(Cat({with.path(), "--text"}).out, Not(HasSubstr("8192")));
  TempFile without(RunWithACall(0));
  EXPECT_THAT(Cat({without.path(), "--csv"}).out, Not(HasSubstr("call_s")));
  EXPECT_THAT(
      CsvLines(Cat({without.path(), "--csv", "--columns", "call_drss_bytes"})),
      ElementsAre("call_drss_bytes", "8192"));
}

}  // namespace
}  // namespace pymemrun
