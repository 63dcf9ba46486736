#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr uint64_t kSecond = 1'000'000'000;

// A folder with the file of process 10, which is forked from no other, and has
// the pages 100 to 1099.
class UnsharedReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = mkdtemp(name_);
    OneProcess parent(10, 1);
    parent.builder.AddResidency(0, 1, 0, {{100, 1000, 1, false, false}});
    parent.Write(At("run.pb"));
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::string At(const std::string& name) const { return path_ + "/" + name; }

  struct OneProcess {
    // Begins a second after its parent.
    OneProcess(uint32_t pid, uint32_t parent_pid, bool scan = false,
               uint32_t weight = 1, uint32_t period = 1)
        : builder(&sink) {
      Header header = RunBuilder::DefaultHeader();
      header.set_pid(pid);
      header.set_parent_pid(parent_pid);
      header.set_forked(parent_pid != 1);
      header.set_process_start_ticks(pid);
      header.set_parent_start_ticks(parent_pid);
      header.set_start_realtime_ns(pid * kSecond);
      header.set_start_monotonic_ns(pid * kSecond);
      header.set_page_bytes(4096);
      if (!scan) header.set_page_period(period);
      header.set_page_scan(scan);
      header.set_page_weight(weight);
      builder.AddHeader(header);
      builder.AddThread("MainThread", pid);
      const uint32_t code = builder.AddCode("/job.py", "work", 1);
      for (uint32_t line = 5; line <= 7; ++line) {
        builder.AddStack(0, code, line);
      }
      builder.AddMapping("");
    }
    // `count` pages that came at line 4 + stack.
    void Came(uint64_t time_us, uint64_t page, uint64_t count, uint32_t stack,
              bool collecting = false, uint32_t weight = 1) {
      std::vector<PageEntry> entries = CamePages(time_us, page, count, stack);
      for (PageEntry& entry : entries) {
        entry.collecting = collecting;
        entry.weight = weight;
      }
      builder.AddPages(entries);
    }
    void Range(uint64_t time_us, PageAction action, uint64_t page,
               uint64_t pages, uint64_t moved_to = 0) {
      builder.AddPages({RangeEntry(time_us, action, page, pages, moved_to)});
    }
    // What the child has of its parent, and 8 pages of a file.
    void Begin() {
      builder.AddResidency(
          500, 900, 0, {{50, 8, 1, true, false}, {100, 1000, 1, false, false}});
    }
    void Write(const std::string& path) {
      builder.Flush();
      std::ofstream(path, std::ios::binary) << sink.contents();
    }

    StringSink sink;
    RunBuilder builder;
  };
  std::vector<std::string> Csv() const {
    const Printed printed = Report({"unshared", At("run.pb"), "--csv"});
    EXPECT_EQ(printed.code, 0) << printed.err;
    return CsvLines(printed);
  }

 private:
  char name_[32] = "/tmp/unshared_test.XXXXXX";
  std::string path_;
};

TEST_F(UnsharedReportTest, TheFirstWriteToEachPageOfTheParentsCounts) {
  OneProcess child(11, 10);
  child.Begin();
  child.Came(2000, 100, 10, 1);
  child.Came(3000, 105, 10, 2);        // five of them once more
  child.Came(4000, 200, 20, 2, true);  // by gc
  child.Came(5000, 50, 3, 1);          // of a file
  child.Came(6000, 9000, 7, 1);        // new
  child.Write(At("run.11.pb"));
  const std::string end = ",11,4096000," + At("run.11.pb");
  EXPECT_THAT(Csv(),
              ElementsAre("file,line,function,cause,unshared_bytes,pages,"
                          "inferred_bytes,first_s,pid,parent_bytes,file_name",
                          "/job.py,6,work,gc,81920,20,0,0.004000" + end,
                          "/job.py,5,work,write,40960,10,0,0.002000" + end,
                          "/job.py,6,work,write,20480,5,0,0.003050" + end));
}

TEST_F(UnsharedReportTest, TextSumsUpProcessesAndTellsWhatFreezingSaves) {
  for (uint32_t pid : {11, 12}) {
    OneProcess child(pid, 10);
    child.Begin();
    child.Came(2000, 100, pid == 11 ? 256 : 128, 1, true);
    child.Came(9000, 500, 64, 2);
    child.Write(At("run." + std::to_string(pid) + ".pb"));
  }
  const Printed printed = Report({"unshared", At("run.pb")});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(
      printed.out,
      AllOf(HasSubstr("2 forked processes began with 7.8 MiB of parents' "
                      "memory; un-shared since: 2.0 MiB\n"),
            HasSubstr("1.2 MiB"), HasSubstr("<garbage collection> in work"),
            HasSubstr("saved at most 1.5 MiB")));
  EXPECT_THAT(Report({"unshared", At("run.pb"), "--by", "file"}).out,
              HasSubstr("  <garbage collection> in /job.py\n"));
}

TEST_F(UnsharedReportTest, WhatHasLeftIsTheParentsNoMore) {
  OneProcess child(11, 10);
  child.Begin();
  child.Range(2000, PAGES_UNMAPPED, 100, 10);
  child.Range(2100, PAGES_MOVED, 200, 10, 5000);
  child.Range(2200, PAGES_DISCARDED, 300, 10);
  child.Came(3000, 100, 10, 1);
  child.Came(3200, 200, 10, 1);
  child.Came(3400, 5000, 4, 2);
  child.Came(3600, 300, 10, 1);
  // A page left though no call told it.
  child.builder.AddResidency(4000, 4001, 0, {{101, 5999, 1, false, false}});
  child.builder.AddResidency(4002, 4003, 0, {{101, 299, 1, false, false}});
  child.Came(5000, 400, 10, 1);
  child.Write(At("run.11.pb"));
  EXPECT_THAT(Csv(), ElementsAre(StartsWith("file,"),
                                 StartsWith("/job.py,6,work,write,16384,4,")));
}

TEST_F(UnsharedReportTest, CallsThatFillPagesUnshareThem) {
  OneProcess child(11, 10);
  child.Begin();
  child.Range(2000, PAGES_POPULATED, 90, 20);
  // With a fault's own page, which the kernel had made anew.
  PageEntry with = RangeEntry(3000, PAGES_POPULATED, 300, 100);
  with.inferred = true;
  child.builder.AddPages({with});
  child.Came(4000, 300, 50, 2);
  child.Write(At("run.11.pb"));
  EXPECT_THAT(Csv(), ElementsAre(StartsWith("file,"),
                                 StartsWith("/job.py,5,work,write,40960,10,")));
}

TEST_F(UnsharedReportTest, TheParentsFileTellsWhichEarlyPagesWereItsOwn) {
  OneProcess child(11, 10);
  child.Came(100, 100, 6, 1);
  child.Came(200, 100, 2, 2, true);
  child.Came(300, 2000, 30, 2);  // new
  child.builder.AddResidency(
      500, 900, 0, {{100, 1000, 1, false, false}, {2000, 30, 1, false, false}});
  child.Write(At("run.11.pb"));
  EXPECT_THAT(Csv(),
              ElementsAre(StartsWith("file,"),
                          AllOf(StartsWith("/job.py,5,work,write,24576,6,"),
                                HasSubstr(",11,4096000,"))));
}

TEST_F(UnsharedReportTest, ASampledParentKnowsOnePageOfAGroup) {
  OneProcess parent(10, 1, false, 10);
  for (uint64_t group = 10; group < 20; ++group) {
    parent.Came(1000, 10 * group + group % 7, 1, 1, false, 10);
  }
  parent.Write(At("run.pb"));
  OneProcess child(11, 10, false, 10);
  child.Came(100, 100, 60, 1);   // all of them, before it is sampled
  child.Came(300, 2000, 30, 2);  // new
  child.builder.AddResidency(
      500, 900, 0, {{100, 100, 1, false, false}, {2000, 30, 1, false, false}});
  child.Write(At("run.11.pb"));
  EXPECT_THAT(Csv(),
              ElementsAre(StartsWith("file,"),
                          AllOf(StartsWith("/job.py,5,work,write,245760"),
                                HasSubstr(",11,409600,"))));
}

// Between line 5 and line 6, and between line 6 and gc there, are ten pages of
// either.
TEST_F(UnsharedReportTest, PagesOfBurstsMayBeAnotherLines) {
  OneProcess child(11, 10, false, 1, 7);
  child.Begin();
  std::vector<PageEntry> entries = CamePages(2000, 100, 23, 1);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].stack = i < 6 ? 1 : 2;
    entries[i].collecting = i > 16;
    entries[i].inferred = i % 11 != 0;
  }
  child.builder.AddPages(entries);
  child.Write(At("run.11.pb"));
  // Each time the variance is that of 2 x 5 x 5 pages.
  EXPECT_THAT(Csv(),
              ElementsAre(HasSubstr("unshared_bytes,error_bytes,pages,"),
                          StartsWith("/job.py,6,work,write,45056,40960,11,"),
                          StartsWith("/job.py,5,work,write,24576,28963,6,"),
                          StartsWith("/job.py,6,work,gc,24576,28963,6,")));
  const std::string text = Report({"unshared", At("run.pb")}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("\ninferred: in bursts, some pages, chosen "
                                    "at random, are traced with their own"),
                          HasSubstr("un-shared  std error   share  processes"),
                          HasSubstr("at first  un-shared  share     by gc"),
                          HasSubstr("4.0 KiB (std error 28.3 KiB)")));
}

TEST_F(UnsharedReportTest, SampledPagesStandForOthers) {
  OneProcess child(11, 10, false, 10);
  child.Begin();
  std::vector<PageEntry> entries = CamePages(2000, 100, 1, 1);
  for (uint64_t page = 203; page < 1000; page += 40) {
    entries.push_back(CamePages(3000, page, 1, 2)[0]);
    entries.back().weight = 10;
  }
  child.builder.AddPages(entries);
  child.Write(At("run.11.pb"));
  const std::vector<std::string> lines = Csv();
  ASSERT_THAT(lines, SizeIs(3));
  // 20 groups that have nothing to do with each other.
  EXPECT_THAT(lines[1], StartsWith("/job.py,6,work,write,819200,183179,200,"));
  EXPECT_THAT(lines[2], StartsWith("/job.py,5,work,write,4096,0,1,"));
  EXPECT_THAT(
      Report({"unshared", At("run.pb")}).out,
      AllOf(HasSubstr("one page in 10 was recorded"), HasSubstr("std error")));
}

// What looked at all pieces each time would take hours.
TEST_F(UnsharedReportTest, MovingManyPiecesAndAskingForThemIsLittleWork) {
  constexpr uint64_t kMany = 50000, kFar = uint64_t{1} << 30;
  OneProcess child(11, 10);
  child.builder.AddResidency(500, 900, 0, {{0, kFar, 1, false, false}});
  std::vector<PageEntry> entries;
  for (uint64_t i = 0; i < kMany; ++i) {
    entries.push_back(CamePages(2000, 2 * i, 1, 1)[0]);
  }
  child.builder.AddPages(entries);
  entries.clear();
  for (uint64_t i = 0; i < kMany; ++i) {
    const uint64_t from = i % 2 == 0 ? 0 : 4 * kFar;
    entries.push_back(
        RangeEntry(3000, PAGES_MOVED, from, kFar, 4 * kFar - from));
  }
  child.builder.AddPages(entries);
  for (uint64_t i = 0; i < kMany; ++i) {
    child.builder.AddResidency(4000 + i, 4000 + i, 0,
                               {{0, kFar, 1, false, false}});
  }
  child.Write(At("run.11.pb"));
  EXPECT_THAT(Csv(),
              ElementsAre(StartsWith("file,"),
                          StartsWith("/job.py,5,work,write,204800000,50000,")));
}

TEST_F(UnsharedReportTest, BeyondTheLimitIsOneRow) {
  OneProcess child(11, 10);
  child.Begin();
  for (uint32_t stack = 1; stack <= 3; ++stack) {
    child.Came(1000 * stack, 100 * stack, 10 * stack, stack);
  }
  child.Write(At("run.11.pb"));
  const Printed printed =
      Report({"unshared", At("run.pb"), "--csv", "--limit", "1"});
  EXPECT_THAT(CsvLines(printed),
              ElementsAre(StartsWith("file,"),
                          StartsWith("/job.py,7,work,write,122880,30,"),
                          StartsWith("<other places>,,,,122880,30,")));
  EXPECT_THAT(Report({"unshared", At("run.pb"), "--limit", "1"}).out,
              HasSubstr("<other places>"));
}

TEST_F(UnsharedReportTest, FilesOfOtherFamiliesAreLeftOut) {
  OneProcess child(11, 10), other(13, 12);
  for (OneProcess* process : {&child, &other}) {
    process->Begin();
    process->Came(2000, 100, 1, 1);
  }
  child.Write(At("run.11.pb"));
  other.Write(At("run.13.pb"));
  EXPECT_THAT(Csv(), SizeIs(2));
  // Unless they are asked for.
  EXPECT_THAT(CsvLines(Report({"unshared", At(""), "--csv"})), SizeIs(3));
}

TEST_F(UnsharedReportTest, WhatIsNotKnownIsSaid) {
  Printed printed = Report({"unshared", At("run.pb")});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("run.pb: no process was forked from"));
  OneProcess child(11, 10, /*scan=*/true);
  child.Begin();
  child.Write(At("run.11.pb"));
  OneProcess brief(12, 10);
  brief.Write(At("run.12.pb"));
  printed = Report({"unshared", At("run.pb")});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, AllOf(HasSubstr("run.11.pb: pages were scanned"),
                                 HasSubstr(": 1 forked process ended before"),
                                 Not(HasSubstr("no process was"))));
}

TEST_F(UnsharedReportTest, AnInterpreterMayNotTellWhenItCollects) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_forked(true);
  header.set_page_period(1);
  header.set_not_recorded("calls: free-threaded");
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  builder.AddStack(0, builder.AddCode("/job.py", "work", 1), 5);
  builder.AddMapping("");
  builder.AddResidency(0, 1, 0, {{100, 1000, 1, false, false}});
  builder.AddPages(CamePages(2000, 100, 10, 1));
  builder.Flush();
  std::ofstream(At("t.pb"), std::ios::binary) << sink.contents();
  EXPECT_THAT(Report({"unshared", At("t.pb")}).out,
              AllOf(HasSubstr("is not known for this interpreter"),
                    Not(HasSubstr("freeze"))));
  EXPECT_THAT(CsvLines(Report({"unshared", At("t.pb"), "--csv"})).back(),
              StartsWith("/job.py,5,work,,40960,"));
}

TEST_F(UnsharedReportTest, WithoutGarbageCollectionFreezingSavesNothing) {
  OneProcess child(11, 10);
  child.Begin();
  child.Came(2000, 100, 10, 1);
  child.Write(At("run.11.pb"));
  EXPECT_THAT(Report({"unshared", At("run.pb")}).out,
              HasSubstr("would have saved nothing.\n"));
}

TEST_F(UnsharedReportTest, ChoosesSortsAndCuts) {
  for (uint32_t pid : {11, 12}) {
    OneProcess child(pid, 10);
    child.Begin();
    child.Came(2000, 100, 10 + pid, 1);
    child.Came(9000, 500, 64, 2);
    child.Write(At("run." + std::to_string(pid) + ".pb"));
  }
  const auto report = [this](std::vector<std::string> options) {
    options.insert(options.begin(), {"unshared", At("run.pb"), "--csv"});
    const Printed printed = Report(options);
    EXPECT_EQ(printed.code, 0) << printed.err;
    return CsvLines(printed);
  };
  EXPECT_THAT(report({"--pid", "12"}), SizeIs(3));
  EXPECT_THAT(
      report({"--sort", "pages:asc", "--limit", "1"}),
      ElementsAre(StartsWith("file,"),
                  StartsWith("/job.py,5,work,write,86016,21,"),
                  Eq("<other places>,,,,614400,150,0,0.002000,,4096000,")));
  EXPECT_THAT(report({"--sort", "line", "--limit", "1", "--pid", "12"}),
              ElementsAre(StartsWith("file,"), StartsWith("/job.py,5,work,"),
                          Eq("<other places>,,,,262144,64,0,0.009000,12,"
                             "4096000," +
                             At("run.12.pb"))));
  EXPECT_THAT(report({"--by", "function", "--pid", "12"}),
              ElementsAre(StartsWith("file,line,function,"),
                          StartsWith("/job.py,1,work,write,352256,86,")));
  EXPECT_THAT(report({"--by", "file", "--pid", "12"}),
              ElementsAre(StartsWith("file,cause,"),
                          StartsWith("/job.py,write,352256,86,")));
  EXPECT_THAT(report({"--function", "nothing"}), SizeIs(1));
  const Printed none = Report({"unshared", At("run.pb"), "--file", "x"});
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.err, testing::EndsWith(": --file 'x' leaves no row\n"));
  EXPECT_EQ(Report({"unshared", At("run.pb"), "--pid", "13"}).code, 2);
  const Printed packages =
      Report({"unshared", At("run.pb"), "--by", "package", "--file", "*"});
  EXPECT_EQ(packages.code, 2);
  EXPECT_EQ(packages.out, "");
}

}  // namespace
}  // namespace pymemrun
