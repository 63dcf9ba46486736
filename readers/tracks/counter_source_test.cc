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

class CounterSourceTest : public testing::Test {
 protected:
  CounterSourceTest() : builder_(&bytes_) {
    builder_.AddHeader(RunBuilder::DefaultHeader());
  }
  void AddGcRun(uint64_t begin_us, uint64_t end_us, uint32_t generation) {
    Record record;
    record.mutable_gc_run()->set_begin_us(begin_us);
    record.mutable_gc_run()->set_time_us(end_us);
    record.mutable_gc_run()->set_generation(generation);
    builder_.AddRecord(record);
  }
  CounterValue* AddValue(Record* record, uint64_t time_us, const char* name) {
    record->mutable_counter()->set_time_us(time_us);
    record->mutable_counter()->set_name(name);
    return record->mutable_counter();
  }
  std::vector<std::string> Lines() {
    builder_.Flush();
    TempFile path(bytes_.contents());
    const auto file = RereadFile::Open(path.path(), console_);
    LinesSink sink;
    EXPECT_TRUE(NewCounterSource({})->Give(file.get(), &sink));
    return sink.lines();
  }

  const Console console_{"test", nullptr};
  StringSink bytes_;
  RunBuilder builder_;
};

TEST_F(CounterSourceTest, RunsOfGcAreSlicesThatFollowEachOther) {
  AddGcRun(1000, 3000, 0);
  AddGcRun(2000, 5000, 2);
  AddGcRun(9000, 8000, 77);  // as only a damaged file has it
  EXPECT_THAT(
      Lines(),
      ElementsAre("lane cycle collector of 0", "begin 1 1000 gc, generation 0",
                  "end 1 3000", "begin 1 3000 gc, generation 2", "end 1 5000",
                  "begin 1 9000 gc", "end 1 9000"));
}

TEST_F(CounterSourceTest, ValuesOfTheUsersAndOfSamples) {
  Record queue, load, sample, other;
  AddValue(&queue, 10, "queue")->set_whole(-4);
  AddValue(&load, 20, "load")->set_real(0.5);
  builder_.AddRecord(queue);
  builder_.AddRecord(load);
  sample.mutable_process()->set_time_us(30);
  sample.mutable_process()->set_counted(true);
  sample.mutable_process()->set_minor_faults(7);
  sample.mutable_process()->set_major_faults(1);
  sample.mutable_process()->set_descriptors(4);
  builder_.AddRecord(sample);
  other.mutable_process()->set_time_us(40);  // not one of the counters'
  builder_.AddRecord(other);
  EXPECT_THAT(Lines(),
              ElementsAre("queue 10 -4", "load 20 0.5", "page faults 30 8",
                          "open descriptors 30 3"));
}

TEST_F(CounterSourceTest, CurvesGoOnToTheRunsEnd) {
  Record queue, load, late, footer;
  AddValue(&queue, 10, "queue")->set_whole(4);
  AddValue(&load, 20, "load")->set_real(0.5);
  AddValue(&late, 90, "late")->set_whole(1);
  footer.mutable_footer()->set_end_us(90);
  for (const Record& record : {queue, load, late, footer}) {
    builder_.AddRecord(record);
  }
  EXPECT_THAT(Lines(), ElementsAre("queue 10 4", "load 20 0.5", "late 90 1",
                                   "queue 90 4", "load 90 0.5"));
}

}  // namespace
}  // namespace pymemrun
