// pymemcat on files that are damaged, cut, or no run files, and with outputs
// that fail.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/cat/pymemcat.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PymemcatDamageTest, EveryCutOfAFileIsReadUpToThere) {
  const std::string run = SmallRun().Build();
  size_t most = 0;
  for (size_t size = 0; size < run.size(); ++size) {
    TempFile file(run.substr(0, size));
    const Printed printed = Cat({file.path(), "--csv", "--no-header"});
    const size_t rows = printed.out.empty() ? 0 : CsvLines(printed).size();
    EXPECT_GE(rows, most) << size;
    most = std::max(most, rows);
    EXPECT_EQ(printed.code, size == 0 ? 1 : printed.code) << size;
    EXPECT_EQ(std::count(printed.err.begin(), printed.err.end(), '\n'), 1)
        << size << printed.err;
  }
  EXPECT_EQ(most, 6u);
}

TEST(PymemcatDamageTest, EveryFlippedByteIsNoCrash) {
  const std::string run = SmallRun().Build();
  for (size_t at = 0; at < run.size(); ++at) {
    std::string flipped = run;
    flipped[at] ^= 0x10;
    TempFile file(flipped);
    const Printed printed = Cat({file.path(), "--csv"});
    EXPECT_TRUE(printed.code == 0 || printed.code == 1) << at;
    if (printed.code == 1) {
      EXPECT_THAT(printed.err, AnyOf(HasSubstr(": byte "),
                                     HasSubstr("not a pymemrun run file")))
          << at;
    }
  }
}

TEST(PymemcatDamageTest, DamageInsideIsSaidAfterWhatIsReadable) {
  std::string run = SmallRun().Build();
  const size_t second_frame = run.find("\x28\xb5\x2f\xfd", 4);
  ASSERT_NE(second_frame, std::string::npos);
  run[second_frame + 14] ^= 0x55;
  TempFile file(run);
  const Printed printed = Cat({file.path(), "--csv"});
  EXPECT_EQ(printed.code, 1);
  EXPECT_THAT(printed.err,
              StartsWith(absl::StrCat("pymemcat: ", file.path(), ": byte ")));
  EXPECT_THAT(printed.err, HasSubstr("expected"));
  EXPECT_THAT(printed.out, HasSubstr("\r\n0,0,0.000100,CALL,/job.py"));
}

TEST(PymemcatDamageTest, OfMuchDamageAFewPlacesAreNamed) {
  std::string run = SmallRun().Build();
  const std::string tail = run.substr(run.find("\x28\xb5\x2f\xfd", 4));
  for (int i = 0; i < 30; ++i) run += tail;
  TempFile file(run);
  const Printed printed = Cat({file.path(), "--csv"});
  EXPECT_EQ(printed.code, 1);
  EXPECT_EQ(std::count(printed.err.begin(), printed.err.end(), '\n'), 4)
      << printed.err;
  EXPECT_THAT(printed.err, EndsWith(" more places are damaged\n"));
}

TEST(PymemcatDamageTest, OfTwoRunsInOneFileTheFirstIsRead) {
  const std::string run = SmallRun().Build();
  TempFile one(run), two(run + run);
  for (const char* form : {"--csv", "--text", "--jsonl", "--raw", "--summary",
                           "--follow", "--from=0.0001"}) {
    const Printed printed = Cat({two.path(), form});
    EXPECT_EQ(printed.code, 1) << form;
    EXPECT_EQ(printed.err,
              absl::StrCat("pymemcat: ", two.path(), ": byte ", run.size(),
                           ": a second run begins here; a run file holds one, "
                           "and only the first was read\n"));
    if (std::string(form) == "--summary") continue;  // it names the file
    EXPECT_EQ(printed.out, Cat({one.path(), form}).out) << form;
  }
  const Printed merged = Cat({one.path(), two.path(), "--csv"});
  EXPECT_EQ(merged.code, 1);
  EXPECT_EQ(merged.out, Cat({one.path(), one.path(), "--csv"}).out);
}

TEST(PymemcatDamageTest, WhatIsNoRunFileFails) {
  TempFile text("hello, this is a text file, not a run\n"), empty("");
  EXPECT_EQ(Cat({text.path()}).code, 1);
  EXPECT_EQ(Cat({empty.path()}).code, 1);
  EXPECT_EQ(Cat({empty.path(), "--raw"}).code, 1);
  EXPECT_EQ(Cat({text.path(), "--summary"}).code, 1);
  EXPECT_EQ(Cat({"/dev"}).code, 1);
  const Printed missing = Cat({"/nowhere/\x1b[2J.pb"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.err,
            "pymemcat: /nowhere/\\x1b[2J.pb: No such file or directory\n");
}

TEST(PymemcatDamageTest, OneUnreadableFileOfSeveralLeavesTheOthers) {
  TempFile good(SmallRun().Build()), bad("no run file at all");
  const Printed printed =
      Cat({good.path(), bad.path(), "/nowhere.pb", "--csv", "--no-header"});
  EXPECT_EQ(printed.code, 1);
  EXPECT_EQ(CsvLines(printed).size(), 6u);
  EXPECT_THAT(printed.err, HasSubstr("/nowhere.pb: No such file"));
  EXPECT_THAT(printed.err, HasSubstr(bad.path()));
}

// Runs with `out_fd` as standard output; gives the code and stderr.
Printed CatTo(int out_fd, const std::vector<std::string>& arguments) {
  const int err_fd = memfd_create("err", 0);
  FdSink out(out_fd);
  Printed printed;
  printed.code =
      RunPymemcat(arguments, {"pymemcat", &out, out_fd, err_fd}, &never);
  printed.err = TakeAll(err_fd);
  return printed;
}

TEST(PymemcatDamageTest, AReaderThatHasGoneIsNoFailure) {
  signal(SIGPIPE, SIG_IGN);
  StringSink large;
  BuildLargeRun(100000, &large);
  TempFile file(large.contents());
  for (const char* format : {"--text", "--raw", "--summary"}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    close(ends[0]);
    const Printed printed = CatTo(ends[1], {file.path(), format});
    EXPECT_EQ(printed.code, 0) << format;
    EXPECT_EQ(printed.err, "") << format;
    close(ends[1]);
  }
}

TEST(PymemcatDamageTest, AFullDiskIsSaid) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  TempFile file(SmallRun().Build());
  const Printed printed = CatTo(full, {file.path()});
  close(full);
  EXPECT_EQ(printed.code, 1);
  EXPECT_THAT(printed.err, StartsWith("pymemcat: standard output: "));
}

TEST(PymemcatDamageTest, AMissingFooterIsSaidAndIsNoFailure) {
  SmallRun run;
  run.with_footer = false;
  TempFile file(run.Build());
  Printed printed = Cat({file.path(), "--summary"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, HasSubstr("21 events"));
  EXPECT_THAT(printed.out, HasSubstr("did not end cleanly"));
  printed = Cat({file.path(), "--csv"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.err, EndsWith("still goes on\n"));
  EXPECT_EQ(CsvLines(printed).size(), 7u);
}

}  // namespace
}  // namespace pymemrun
