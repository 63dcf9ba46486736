#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"
#include "readers/watch/child_files.h"
#include "readers/watch/watch_model.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

void Read(const std::string& run, WatchModel* model) {
  StringSource source(run);
  ReadResult result;
  ASSERT_TRUE(
      ReadStream(&source, StreamReader::Options(), model, &result).ok());
}

std::vector<std::string> Named(const std::vector<WatchFrame::Amount>& amounts) {
  std::vector<std::string> texts;
  for (const auto& amount : amounts) {
    texts.push_back(absl::StrCat(amount.name, " ",
                                 static_cast<int64_t>(amount.bytes), " ",
                                 static_cast<int64_t>(amount.change_bytes)));
  }
  return texts;
}

// Also where watch begins in the middle of a run.
TEST(WatchModelTest, TheFirstFrameTellsOfTheLastSecondsAlone) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  const uint32_t code = builder.AddCode("/job.py", "f", 1);
  const uint32_t two = builder.AddStack(0, code, 2);
  const uint32_t three = builder.AddStack(0, code, 3);
  builder.AddHeap(AllocEvents(1000000, 0x100000, 10, 1000, two));
  builder.AddHeap(AllocEvents(20000000, 0x200000, 5, 1000, three));
  builder.AddProcess(21000000, 1 << 20, 1 << 20);
  builder.Flush();
  WatchModel model;
  Read(sink.contents(), &model);
  WatchFrame frame;
  model.Fill(6, &frame);
  EXPECT_THAT(Named(frame.lines),
              ElementsAre("/job.py:2 f 10000 0", "/job.py:3 f 5000 5000"));
}

TEST(WatchModelTest, PagesThatCameAreByLineAndThread) {
  WatchModel model;
  Read(PageEventsRun().Build(), &model);
  WatchFrame frame;
  model.Fill(6, &frame);
  EXPECT_EQ(frame.script, "/src/job.py");
  EXPECT_EQ(frame.meaning, "pages that came");
  EXPECT_THAT(Named(frame.lines), ElementsAre("/job.py:5 load 204800 204800",
                                              "/job.py:6 load 122880 122880"));
  EXPECT_THAT(Named(frame.threads), ElementsAre("MainThread#4711 204800 204800",
                                                "worker#4712 122880 122880"));
  EXPECT_EQ(frame.peak_bytes, 100 * PageEventsRun::kPage);
  EXPECT_TRUE(frame.ended);
  EXPECT_EQ(frame.end, "exit 0");
  EXPECT_EQ(frame.time_us, 600000u);
}

TEST(WatchModelTest, WithCallsAloneTheyAreWhatEventsSaw) {
  WatchModel model;
  Read(SmallRun().Build(), &model);
  WatchFrame frame;
  model.Fill(6, &frame);
  EXPECT_EQ(frame.meaning, "growth of RSS at its events");
  EXPECT_THAT(Named(frame.threads),
              ElementsAre("MainThread#4711 5242880 5242880",
                          "worker#4712 -1048576 -1048576"));
  EXPECT_EQ(frame.end, "exit 3");
}

TEST(WatchModelTest, WithHeapEventsTheyAreTheLiveHeap) {
  WatchModel model;
  Read(HeapRun().Build(), &model);
  WatchFrame frame;
  model.Fill(6, &frame);
  EXPECT_EQ(frame.meaning, "live heap");
  EXPECT_FALSE(frame.lines.empty());
}

TEST(WatchModelTest, WhatGrowsNowIsWhatCameInTheLastSeconds) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddPages(CamePages(1000000, 100, 10, 1));
  builder.Flush();
  WatchModel model;
  Read(sink.contents(), &model);
  const auto lines = [&model] {
    WatchFrame frame;
    model.Fill(4, &frame);
    return Named(frame.lines);
  };
  EXPECT_THAT(lines(), ElementsAre("/job.py:2 f 40960 40960"));
  // The file has grown.
  const PageEntry later = CamePages(9000000, 500, 1, 1)[0];
  model.OnPages(&later, 1);
  EXPECT_THAT(lines(), ElementsAre("/job.py:2 f 45056 4096"));
  const PageEntry last = CamePages(15000000, 501, 1, 1)[0];
  model.OnPages(&last, 1);
  EXPECT_THAT(lines(), ElementsAre("/job.py:2 f 49152 4096"));
}

TEST(WatchModelTest, ARenamedThreadIsOneByItsLastName) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddThread("Thread-1", 7);
  builder.AddPages(CamePages(1000000, 100, 10, 1, 2));
  builder.Flush();
  WatchModel model;
  Read(sink.contents(), &model);
  const auto threads = [&model] {
    WatchFrame frame;
    model.Fill(4, &frame);
    return Named(frame.threads);
  };
  EXPECT_THAT(threads(), ElementsAre("Thread-1#7 40960 40960"));
  ThreadDef renamed;
  renamed.set_id(3);
  renamed.set_native_id(7);
  renamed.set_name("worker");
  renamed.set_renamed(2);
  model.OnThread(renamed);
  const PageEntry later = CamePages(9000000, 200, 1, 1, 3)[0];
  model.OnPages(&later, 1);
  EXPECT_THAT(threads(), ElementsAre("worker#7 45056 4096"));
}

TEST(WatchTest, ARunThatHasEndedIsOneLine) {
  TempFile file(SmallRun().Build());
  const Printed printed = Report({"watch", file.path()});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("ended: exit 3, after 0.001 s"));
  EXPECT_EQ(std::count(printed.out.begin(), printed.out.end(), '\n'), 1);
}

TEST(WatchTest, OnceShowsWhatIsThere) {
  TempFile file(PageEventsRun().Build());
  const Printed printed = Report({"watch", "--once", file.path()});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, StartsWith("job.py  pid 4711  ended: exit 0"));
  EXPECT_THAT(printed.out, HasSubstr("/job.py:5 load"));
  EXPECT_THAT(printed.out, Not(HasSubstr("q quit")));
}

TEST(WatchTest, OnceDoesNotWaitForAnEnd) {
  TempFile file(SmallRun{.with_footer = false}.Build());
  const Printed printed = Report({"watch", "--once", file.path()});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, HasSubstr("pid 4711  at 0.000 s"));
}

TEST(WatchTest, AFileThatGrowsIsFollowedToItsEnd) {
  const std::string run = SmallRun().Build();
  TempFile file("");
  std::thread writer([&] {
    for (size_t i = 0; i < run.size(); i += 100) {
      file.Append(run.substr(i, 100));
      absl::SleepFor(absl::Milliseconds(5));
    }
  });
  const Printed printed = Report({"watch", file.path()});
  writer.join();
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("ended: exit 3"));
}

// The new one is shorter, whenever the reader looks.
TEST(WatchTest, AFileThatIsWrittenAnewIsReadAnew) {
  StringSink old_run;
  RunBuilder builder(&old_run);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.AddThread("MainThread", 1);
  for (uint64_t i = 0; i < 2000; ++i) {
    builder.AddMark(i, 0, 1, absl::StrCat(i * 2654435761u), 0);
  }
  builder.Flush();
  const std::string run = SmallRun{.pid = 99}.Build();
  ASSERT_GT(old_run.contents().size(), run.size());
  TempFile file(old_run.contents());
  std::thread writer([&] {
    absl::SleepFor(absl::Milliseconds(300));
    ASSERT_EQ(truncate(file.path().c_str(), 0), 0);
    const int fd = open(file.path().c_str(), O_WRONLY);
    FdSink(fd).Append(run).IgnoreError();
    close(fd);
  });
  const Printed printed = Report({"watch", file.path()});
  writer.join();
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("pid 99  ended: exit 3"));
}

TEST(WatchTest, DamageIsTold) {
  std::string run = SmallRun().Build();
  run[run.size() / 2] ^= 1;
  TempFile file(run);
  const Printed printed = Report({"watch", "--once", file.path()});
  EXPECT_EQ(printed.code, 1);
  EXPECT_THAT(printed.out, HasSubstr("1 damaged place in the file"));
}

TEST(WatchTest, WhatIsNoRunIsRefused) {
  TempFile file("a text\n");
  EXPECT_THAT(Report({"watch", file.path()}).err,
              HasSubstr("not a pymemrun run file"));
  EXPECT_EQ(Report({"watch", file.path()}).code, 1);
  EXPECT_EQ(Report({"watch", "/no/such/file.pb"}).code, 1);
  const Printed nobody = Report({"watch", "1"});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("1: expected one of your processes that "
                                    "pymemrun is tracing, found "));
}

TEST(WatchTest, WrongWordsAreAUsageError) {
  TempFile file(SmallRun().Build());
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"watch"},
           {"watch", "-"},
           {"watch", "--"},
           {"watch", file.path(), file.path()},
           {"watch", file.path(), "--", "job.py"},
           {"watch", "--once", "--", "job.py"}}) {
    EXPECT_EQ(Report(words).code, 2) << words.back();
  }
}

TEST(ChildFilesTest, AreThoseBesideTheRunOfItsTime) {
  char folder[] = "/tmp/watch_test.XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::vector<std::string> paths;
  const auto write = [&](const std::string& name, uint32_t pid,
                         uint64_t start_ns) {
    paths.push_back(absl::StrCat(folder, "/", name));
    const int fd = open(paths.back().c_str(), O_CREAT | O_WRONLY, 0600);
    FdSink(fd)
        .Append(SmallRun{.pid = pid, .start_ns = start_ns}.Build())
        .IgnoreError();
    close(fd);
  };
  write("run.12.pb", 12, 2000);
  write("run.13.pb", 13, 500);   // before the parent
  write("run.14.pb", 15, 2000);  // another process's
  write("other.16.pb", 16, 2000);
  write("run.17.pb.gz", 17, 2000);
  Header parent = RunBuilder::DefaultHeader();
  parent.set_start_realtime_ns(1000);
  ChildFiles children(absl::StrCat(folder, "/run.pb"));
  const auto seen = children.Look(parent);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].pid, 12u);
  write("run.18.pb", 18, 3000);
  EXPECT_EQ(children.Look(parent).size(), 2u);
  parent.set_host("elsewhere");
  EXPECT_THAT(children.Look(parent), IsEmpty());
  for (const std::string& path : paths) unlink(path.c_str());
  rmdir(folder);
}

}  // namespace
}  // namespace pymemrun
