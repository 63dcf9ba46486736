#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/tracks/lines_sink_for_tests.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;

class ProcessSourceTest : public testing::Test {
 protected:
  ProcessSourceTest() : builder_(&bytes_) {}

  // What is said of RSS.
  std::vector<std::string> Rss() {
    builder_.Flush();
    TempFile path(bytes_.contents());
    const auto file = RereadFile::Open(path.path(), console_);
    LinesSink sink;
    EXPECT_TRUE(NewProcessSource()->Give(file.get(), &sink));
    std::vector<std::string> lines;
    for (const std::string& line : sink.lines()) {
      if (line.rfind("RSS ", 0) == 0) lines.push_back(line.substr(4));
    }
    return lines;
  }
  // A place in a thread.
  uint32_t AddPlace() {
    builder_.AddThread("MainThread", 1);
    return builder_.AddSite(CALL, builder_.AddCode("a.py", "f", 1), 1);
  }
  void AddEnd(uint64_t end_us) {
    Record record;
    record.mutable_footer()->set_end_us(end_us);
    builder_.AddRecord(record);
  }

  const Console console_{"test", nullptr};
  StringSink bytes_;
  RunBuilder builder_;
};

TEST_F(ProcessSourceTest, ARowThatComesLateHasItsOwnTime) {
  Header header = RunBuilder::DefaultHeader();
  header.set_first_rss_bytes(1000);
  builder_.AddHeader(header);
  const uint32_t site = AddPlace();
  builder_.AddRow(MakeRow(0, 5000, site, 3000, 0));
  builder_.AddRow(MakeRow(1, 90000, site, 9000, 0));
  builder_.Flush();  // another thread's ring is drained later
  builder_.AddRow(MakeRow(2, 7000, site, 40000, 0));
  builder_.AddRow(MakeRow(3, 9000, site, 3000, 0));
  builder_.AddProcess(60000, 8000, 0);
  AddEnd(100000);
  EXPECT_THAT(Rss(),
              ElementsAre("0 1000", "5000 3000", "7000 40000", "9000 3000",
                          "60000 8000", "90000 9000", "100000 9000"));
}

TEST_F(ProcessSourceTest, OfOneMillisecondTheHighestAndTheLastAreTold) {
  builder_.AddHeader(RunBuilder::DefaultHeader());
  const uint32_t site = AddPlace();
  builder_.AddRow(MakeRow(0, 5900, site, 4000, 0));
  builder_.Flush();
  builder_.AddRow(MakeRow(1, 5100, site, 7000, 0));
  builder_.AddRow(MakeRow(2, 5500, site, 2000, 0));
  AddEnd(6000);
  EXPECT_THAT(Rss(), testing::IsSupersetOf({"5100 7000", "5900 4000"}));
}

TEST_F(ProcessSourceTest, WithoutCallsPageEventsTellWhatCameBetweenReadings) {
  Header header = RunBuilder::DefaultHeader();
  header.set_calls_off(true);
  header.set_page_period(1);
  header.set_first_rss_bytes(1 << 20);
  builder_.AddHeader(header);
  builder_.AddThread("MainThread", 1);
  std::vector<PageEntry> entries;
  for (uint64_t i = 0; i < 3; ++i) {
    PageEntry entry = {};
    entry.time_us = 10000 * (i + 1);
    entry.thread = 1;
    entry.page = 100 + i;
    entry.pages = entry.weight = 1;
    entry.action = PAGE_CAME;
    entries.push_back(entry);
  }
  builder_.AddPages(entries);
  builder_.AddProcess(250000, (1 << 20) + 3 * 4096, (1 << 20) + 3 * 4096);
  AddEnd(300000);
  EXPECT_THAT(Rss(), ElementsAre("0 1048576", "10000 1052672", "20000 1056768",
                                 "30000 1060864", "300000 1060864"));
}

}  // namespace
}  // namespace pymemrun
