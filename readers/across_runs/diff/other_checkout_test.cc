// Places that have no line, in runs of two checkouts.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/diff_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kMiB = 1 << 20;

TEST(OtherCheckoutTest, CodeWithoutALineIsTheSameInAnotherCheckout) {
  DiffRun before{{{11, 1, 4 * kMiB}}}, after = before;
  after.file = "/elsewhere/new/job.py";
  before.lines.push_back({0, 0, 2 * kMiB});
  after.lines.push_back({0, 0, 3 * kMiB});
  for (const char* by : {"line", "library-line", "function", "file"}) {
    const TempFile old_file(before.Build()), new_file(after.Build());
    const std::string csv = Report({"diff", old_file.path(), new_file.path(),
                                    "--csv", "--by", by, "--limit", "0"})
                                .out;
    EXPECT_THAT(csv, HasSubstr(",1048576,")) << by;
    EXPECT_THAT(csv, Not(HasSubstr(",3145728,0,3145728,"))) << by;
    EXPECT_THAT(csv, Not(HasSubstr(",-2097152,"))) << by;
  }
}

// A file of 8 MiB beside the code, 6 of them in one run.
TEST(OtherCheckoutTest, MappedFilesAreTheSameInAnotherCheckout) {
  const auto run = [](const std::string& file, uint64_t mib) {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_page_scan(true);
    header.set_own_bytes(0);
    header.set_first_rss_bytes(4096);
    builder.AddHeader(header);
    const uint32_t lib = builder.AddMapping("/lib/x.so");
    const uint32_t data = builder.AddMapping(file);
    builder.AddResidency(0, 10, 4096, {{100, 1, lib, true, false}});
    builder.AddResidency(990, 1000, mib * kMiB + 4096,
                         {{100, 1, lib, true, false},
                          {5000, mib * kMiB / 4096, data, true, false}});
    Record record;
    record.mutable_footer()->set_end_us(10000);
    builder.AddRecord(record);
    builder.Flush();
    return sink.contents();
  };
  const TempFile before(run("/a/v1/data.bin", 8)), same(run("/b/data.bin", 8)),
      after(run("/b/data.bin", 6));
  EXPECT_THAT(Report({"diff", before.path(), same.path(), "--csv"}).out,
              Not(HasSubstr("data.bin")));
  EXPECT_THAT(
      CsvLines(Report({"diff", before.path(), after.path(), "--csv"})),
      Contains(StartsWith("resident,/b/data.bin,,,-2097152,8388608,6291456,")));
}

}  // namespace
}  // namespace pymemrun
