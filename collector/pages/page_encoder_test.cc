#include "collector/pages/page_encoder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <string>
#include <vector>

#include "format/batches/page_run_for_tests.h"

namespace pymemrun {
namespace {

struct Records final : RecordSink {
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts counts) override {
    Record record;
    ASSERT_TRUE(record.ParseFromArray(bytes.data(), bytes.size()));
    EXPECT_EQ(counts.rows, 0u);
    // By hand and by protobuf: the same bytes.
    EXPECT_EQ(record.SerializeAsString(), bytes);
    if (record.has_pages()) Decode(record.pages());
    records.push_back(std::move(record));
  }
  void Decode(const PageBatch& batch) {
    BatchIds ids;
    ASSERT_TRUE(PageBatchDecoder::Check(batch, &ids).ok());
    const size_t before = entries.size();
    entries.resize(before + static_cast<size_t>(batch.page_step_size()));
    PageBatchDecoder decoder(batch);
    EXPECT_EQ(decoder.Next(&entries[before], entries.size()),
              entries.size() - before);
  }
  std::vector<Record> records;
  std::vector<PageEntry> entries;
};

class PageEncoderTest : public testing::Test {
 protected:
  PageEncoderTest() { clock_.Start(false, {0, 1000000}, {}); }

  ClockScale clock_;
  Records out_;
  DefinitionTable definitions_{&clock_, &out_};
  SideStacks stacks_{&definitions_};
  MappingTable mappings_{0, &out_};
  PageEncoder encoder_{
      {getpid(), 4096, &clock_, &definitions_, &stacks_, &mappings_, &out_}};
};

TEST_F(PageEncoderTest, RandomEntriesComeBackOneByOne) {
  std::minstd_rand random;
  std::vector<PageEntry> expected;
  std::vector<uint32_t> stacks;
  for (uint32_t i = 1; i <= 50; ++i) {
    stacks.push_back(definitions_.InternStack(0, 1, i));
  }
  uint64_t time_ns = 0;
  for (int i = 0; i < 200000; ++i) {
    time_ns += random() % 5 == 0 ? random() % 100000 : 0;
    const uint64_t us = time_ns <= 1000000 ? 0 : (time_ns - 1000000) / 1000;
    const uint64_t page = (uint64_t{random()} << 16 | random() % 100) >> 4;
    const uint32_t tid = 1000 + random() % 3, stack = stacks[random() % 50];
    const uint32_t thread =
        definitions_.NativeThread(tid, 0, [] { return NativeThreadFacts(); });
    if (random() % 20 == 0) {
      PageMark mark = {time_ns, PageMark::kRange, PAGES_MOVED, tid,
                       stack,   page * 4096,      3 * 4096,    77 * 4096};
      encoder_.AddRange(mark, true);
      expected.push_back(
          {us, page, 3, 77, thread, stack, 0, 1, PAGES_MOVED, false});
    } else {
      const bool inferred = random() % 10 == 0;
      const bool collecting = random() % 10 == 0;
      const PageSample sample = {time_ns, page * 4096 + 5, 0, tid};
      encoder_.AddSample({&sample, time_ns, stack, inferred, false, collecting},
                         true);
      expected.push_back({us, page, 1, 0, thread, stack, 0, 1, PAGE_CAME,
                          inferred, 0, collecting});
    }
  }
  encoder_.EndBatch();
  ASSERT_EQ(out_.entries.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(out_.entries[i], expected[i]) << i;
  }
  EXPECT_GT(encoder_.page_events(), 180000u);
  EXPECT_GT(encoder_.inferred(), 10000u);
}

TEST_F(PageEncoderTest, WhoIsNotKnownIsCharged) {
  const uint32_t main = static_cast<uint32_t>(getpid());
  const PageSample first = {2000000, 4096, uint64_t{1} << 63, main};
  encoder_.AddSample({&first, 2000000, 0, true}, true);
  const PageSample second = {2000000, 8192, 0, main + 1000000};
  encoder_.AddSample({&second, 2000000, 0, true}, true);
  encoder_.EndBatch();
  std::vector<std::string> names;
  for (const Record& record : out_.records) {
    if (record.has_code()) names.push_back(record.code().name());
    if (record.has_thread()) names.push_back(record.thread().name());
    if (record.has_mapping()) names.push_back(record.mapping().name());
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"MainThread", "<interpreter>", "[kernel]",
                                      "native thread", "<native thread>"}));
  EXPECT_EQ(out_.entries[0].code_mapping, 1u);
  EXPECT_EQ(out_.entries[1].code_mapping, 0u);
}

TEST_F(PageEncoderTest, AHugePageIsItsFaultAndAllOfItsPages) {
  constexpr uint64_t kHuge = uint64_t{2} << 20;
  const PageSample sample = {2000000, 3 * kHuge + 8192, 0, 7};
  encoder_.AddSample({&sample, 2000000, 5, false}, true);
  encoder_.AddWith({&sample, 2000000, 5, false}, 3 * kHuge, kHuge);
  encoder_.EndBatch();
  ASSERT_EQ(out_.entries.size(), 2u);
  const PageEntry &fault = out_.entries[0], &huge = out_.entries[1];
  EXPECT_EQ(fault.page, 3 * 512 + 2u);
  EXPECT_EQ(fault.action, PAGE_CAME);
  EXPECT_FALSE(fault.inferred);
  EXPECT_EQ(huge.page, 3 * 512u);
  EXPECT_EQ(huge.action, PAGES_POPULATED);
  EXPECT_EQ(huge.pages, 512u);
  EXPECT_EQ(huge.stack, 5u);
  EXPECT_TRUE(huge.inferred);
  EXPECT_EQ(encoder_.page_events(), 1u);
}

TEST_F(PageEncoderTest, RangesAreWholePagesAndNothingIsNoRange) {
  PageMark mark = {2000000, PageMark::kRange, PAGES_UNMAPPED, 7, 1, 8192, 1, 0};
  encoder_.AddRange(mark, true);
  mark.bytes = 0;
  encoder_.AddRange(mark, true);
  mark.address = ~uint64_t{0} - 4095;
  mark.bytes = 8192;
  encoder_.AddRange(mark, true);
  encoder_.EndBatch();
  ASSERT_EQ(out_.entries.size(), 1u);
  EXPECT_EQ(out_.entries[0].page, 2u);
  EXPECT_EQ(out_.entries[0].pages, 1u);
}

TEST_F(PageEncoderTest, FromThenOnPagesHaveTheWeightUnlessTheyAreCertain) {
  const PageSample sample = {2000000, 4096, 0, 7};
  encoder_.AddSample({&sample, 2000000, 1, false}, true);
  encoder_.SetWeight(10);
  const auto populated = [](uint64_t address) {
    return PageMark{
        2000000, PageMark::kRange, PAGES_POPULATED, 7, 1, address, 8192, 0};
  };
  encoder_.AddSample({&sample, 2000000, 1, false}, false);
  encoder_.AddSample({&sample, 2000000, 1, false}, true);
  encoder_.AddRange(populated(40960), false);
  encoder_.AddRange(populated(81920), true);
  PageMark left = populated(4096);
  left.action = PAGES_UNMAPPED;
  encoder_.AddRange(left, true);
  encoder_.EndBatch();
  std::vector<PageBatch> batches;
  for (const Record& record : out_.records) {
    if (record.has_pages()) batches.push_back(record.pages());
  }
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].weight(), 0u);
  EXPECT_EQ(batches[0].certain_at_size(), 0);
  EXPECT_EQ(batches[1].weight(), 10u);
  const auto& at = batches[1].certain_at();
  EXPECT_EQ(std::vector<uint32_t>(at.begin(), at.end()),
            (std::vector<uint32_t>{1, 2}));  // the second and, 2 on, the fourth
}

TEST_F(PageEncoderTest, AnAnswerIsWrittenAsDistances) {
  ResidencyAnswer answer;
  answer.begin_ns = 3000000;
  answer.end_ns = 4000000;
  answer.rss_bytes = 123;
  answer.ranges = {{0x2000, 0x5000, 1, 0},
                   {0x5000, 0x6000, 1, Residency::FILE_BACKED},
                   {0x9000, 0xa000, 2, Residency::FILE_BACKED}};
  encoder_.WriteResidency(answer);
  encoder_.WriteLoss(5000000, 3, 4);
  encoder_.WriteFork(6000000, 4711);
  ASSERT_EQ(out_.records.size(), 3u);
  const Residency& r = out_.records[0].residency();
  EXPECT_EQ(r.begin_us(), 2000u);
  EXPECT_EQ(r.time_us(), 3000u);
  const auto list = [](const auto& column) {
    return std::vector<uint64_t>(column.begin(), column.end());
  };
  EXPECT_EQ(list(r.gap_pages()), (std::vector<uint64_t>{2, 0, 3}));
  EXPECT_EQ(list(r.pages()), (std::vector<uint64_t>{3, 1, 1}));
  EXPECT_EQ(list(r.mapping_at()), (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(list(r.mapping()), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(list(r.flags_at()), (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(list(r.flags()), (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(out_.records[1].page_loss().samples(), 3u);
  EXPECT_EQ(out_.records[1].page_loss().stacks(), 4u);
  EXPECT_EQ(out_.records[2].fork().time_us(), 5000u);
  EXPECT_EQ(out_.records[2].fork().child_pid(), 4711u);
}

}  // namespace
}  // namespace pymemrun
