#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kMiB = 1 << 20;

// A folder that is removed with the object.
class TempFolder {
 public:
  TempFolder() { path_ = mkdtemp(name_); }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string At(const std::string& name) const { return path_ + "/" + name; }

 private:
  char name_[32] = "/tmp/processes_test.XXXXXX";
  std::string path_;
};

// A second of a process that has this many MiB from each tenth of it on.
struct OneProcess {
  uint32_t pid, parent_pid;
  uint64_t begin_s;
  std::vector<uint64_t> mib;
  bool shares = false;
  uint64_t parent_start_ticks = 0;
  std::function<void(size_t, ProcessSample*)> change = nullptr;

  void Write(const std::string& path) const {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_pid(pid);
    header.set_parent_pid(parent_pid);
    header.set_process_start_ticks(pid);
    header.set_parent_start_ticks(parent_start_ticks);
    header.clear_argv();
    for (const char* word : {"python3", "/src/job.py", "-x"}) {
      header.add_argv(word);
    }
    header.set_start_realtime_ns((1000 + begin_s) * 1'000'000'000);
    builder.AddHeader(header);
    for (size_t i = 0; i < mib.size(); ++i) {
      Record record;
      ProcessSample* sample = record.mutable_process();
      sample->set_time_us(i * 100'000);
      sample->set_rss_bytes(mib[i] * kMiB);
      sample->set_hwm_bytes(mib[i] * kMiB);
      if (shares) sample->set_pss_bytes(mib[i] * kMiB / 2);
      if (change) change(i, sample);
      builder.AddRecord(record);
    }
    Record footer;
    footer.mutable_footer()->set_end(Footer::EXIT);
    footer.mutable_footer()->set_end_us(1'000'000);
    builder.AddRecord(footer);
    builder.Flush();
    std::ofstream(path, std::ios::binary) << sink.contents();
  }
};

TEST(ProcessesReportTest, AFileAloneHasItsChildrenToo) {
  TempFolder folder;
  OneProcess{10, 1, 0, {10, 60, 10}}.Write(folder.At("run.pb"));
  OneProcess{11, 10, 0, {20, 10, 80}}.Write(folder.At("run.11.pb"));
  // From an earlier run, whose first process had the same number.
  OneProcess{12, 10, 0, {99}, false, 7}.Write(folder.At("run.12.pb"));
  OneProcess{13, 10, 0, {99}}.Write(folder.At("other.pb"));
  const Printed printed = Report({"processes", folder.At("run.pb"), "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(
      CsvLines(printed),
      ElementsAre(StartsWith("pid,parent_pid,depth,command,peak_bytes,"),
                  StartsWith("10,1,0,python3 /src/job.py -x,62914560,,"
                             "10485760,0,0.000000,1.000000,exit 0,"),
                  StartsWith("11,10,1,python3 /src/job.py -x,83886080,,"
                             "83886080,0,")));
}

// RSS is read at other moments than the share, which has one of its own. Of 100
// MiB at the end 20 are not its own, as of the 80.
TEST(ProcessesReportTest, AShareHasTheRssOfItsMoment) {
  TempFolder folder;
  const auto tell_share = [](size_t i, ProcessSample* sample) {
    if (i != 1) return;
    sample->set_pss_bytes(60 * kMiB);
    sample->set_pss_rss_bytes(80 * kMiB);
    sample->clear_rss_bytes();
  };
  OneProcess{10, 1, 0, {20, 0, 100}, false, 0, tell_share}.Write(
      folder.At("run.pb"));
  const Printed printed = Report({"processes", folder.At("run.pb"), "--json"});
  EXPECT_EQ(nlohmann::json::parse(printed.out)[0]["share_bytes"], 80 * kMiB);
}

TEST(ProcessesReportTest, TextTellsTheSumAndWhoGrows) {
  TempFolder folder;
  OneProcess{10, 1, 0, {10, 60, 10}, true}.Write(folder.At("run.pb"));
  OneProcess{11, 10, 0, {5, 9, 10, 12, 14, 16, 18, 20, 22, 24}, true}.Write(
      folder.At("run.11.pb"));
  const Printed printed = Report({"processes", folder.At("run.pb")});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(
      printed.out,
      AllOf(
          HasSubstr("2 processes in 1.000 s; together at most 34.5 "
                    "MiB at 0.100 s; their peaks add up to 42.0 MiB"),
          HasSubstr("PSS peak"), HasSubstr("10 job.py -x"),
          HasSubstr("  11 job.py -x"),
          HasSubstr("11 grew all the time, by 12.0 MiB in the last 0.800 s\n"),
          Not(HasSubstr("10 grew"))));
}

TEST(ProcessesReportTest, AFolderHoldsItsFiles) {
  TempFolder folder;
  OneProcess{10, 1, 0, {10}}.Write(folder.At("b.pb"));
  OneProcess{20, 1, 5, {10}}.Write(folder.At("a.pb"));
  const Printed printed = Report({"processes", folder.At(""), "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(
      CsvLines(printed),
      ElementsAre(StartsWith("pid,"), StartsWith("10,"), StartsWith("20,")));
}

TEST(ProcessesReportTest, AFileThatIsNamedTwiceCountsOnce) {
  TempFolder folder;
  OneProcess{10, 1, 0, {10}}.Write(folder.At("run.pb"));
  OneProcess{20, 1, 5, {10}}.Write(folder.At("other.pb"));
  std::filesystem::create_symlink("run.pb", folder.At("link.pb"));
  const Printed printed =
      Report({"processes", folder.At("run.pb"), folder.At("")});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("2 processes of 2 runs in "));
}

TEST(ProcessesReportTest, ADamagedFileDoesNotHideTheOthers) {
  TempFolder folder;
  OneProcess{10, 1, 0, {10}}.Write(folder.At("run.pb"));
  std::ofstream(folder.At("run.1.pb")) << "no run file";
  const Printed printed = Report({"processes", folder.At("run.pb"), "--csv"});
  EXPECT_EQ(printed.code, 1);
  EXPECT_THAT(printed.err, HasSubstr("run.1.pb"));
  EXPECT_EQ(CsvLines(printed).size(), 2u);
}

TEST(ProcessesReportTest, SortsByAColumnAndChoosesAProcess) {
  TempFolder folder;
  OneProcess{10, 1, 0, {10, 60, 10}}.Write(folder.At("run.pb"));
  OneProcess{11, 10, 0, {20, 10, 80}}.Write(folder.At("run.11.pb"));
  const auto report = [&folder](std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"processes", folder.At("run.pb"), "--csv"});
    return Report(options);
  };
  EXPECT_THAT(
      CsvLines(report({"--sort", "peak"})),
      ElementsAre(StartsWith("pid,"), StartsWith("11,"), StartsWith("10,")));
  EXPECT_THAT(CsvLines(report({"--sort", "pid:asc", "--limit", "1"})),
              ElementsAre(StartsWith("pid,"), StartsWith("10,")));
  EXPECT_THAT(CsvLines(report({"--pid", "11"})),
              ElementsAre(StartsWith("pid,"),
                          AllOf(StartsWith("11,10,1,"),
                                HasSubstr(",83886080,,83886080,"))));
  EXPECT_EQ(report({"--pid", "12"}).code, 2);
  // Other reports read its file alone.
  EXPECT_THAT(Report({"summary", folder.At("run.pb"), "--pid", "11"}).out,
              HasSubstr("80.0 MiB"));
}

}  // namespace
}  // namespace pymemrun
