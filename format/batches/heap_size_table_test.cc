#include "format/batches/heap_size_table.h"

#include <gtest/gtest.h>

namespace pymemrun {
namespace {

TEST(HeapSizeTableTest, ABinHoldsUpToItsPowerOfTwo) {
  EXPECT_EQ(HeapSizeBinOf(0), 0u);
  EXPECT_EQ(HeapSizeBinOf(1), 0u);
  EXPECT_EQ(HeapSizeBinOf(2), 1u);
  EXPECT_EQ(HeapSizeBinOf(3), 2u);
  EXPECT_EQ(HeapSizeBinOf(4), 2u);
  EXPECT_EQ(HeapSizeBinOf(5), 3u);
  EXPECT_EQ(HeapSizeBinOf(512), 9u);
  EXPECT_EQ(HeapSizeBinOf(513), 10u);
  EXPECT_EQ(HeapSizeBinOf(~uint64_t{0}), 63u);
}

TEST(HeapSizeTableTest, ColumnsAreRightAlignedAndEmptyBinsLeftOut) {
  HeapSizeBins bins = {};
  bins[0] = {138553, 6646};
  bins[1] = {2, 4};
  bins[4] = {10, 123};
  EXPECT_EQ(HeapSizeTable(bins),
            "-------------------------------------------\n"
            "HEAP USAGE SUMMARY\n"
            "  Size  Count Bytes\n"
            " 0 - 1 138553  6646\n"
            " 2 - 2      2     4\n"
            "3 - 16     10   123\n");
}

TEST(HeapSizeTableTest, NoAllocationLeavesTheHeadings) {
  EXPECT_EQ(HeapSizeTable({}),
            "-------------------------------------------\n"
            "HEAP USAGE SUMMARY\n"
            "Size Count Bytes\n");
}

TEST(HeapSizeTableTest, RatesRiseWithTheSizeAndBoundTheSamplesOfEachBin) {
  HeapSizeBins bins = {};
  bins[3] = {90'000'000, 1};
  bins[4] = {500, 1};  // as rare as those above, but below a frequent bin
  bins[7] = {9'000'001, 1};
  bins[10] = {100'000, 1};
  bins[14] = {10'000, 1};
  EXPECT_EQ(SuggestedHeapRates(bins), "{9:1e-4, 129:1e-3, 1025:0.1}");
  EXPECT_EQ(SuggestedHeapRates({}), "");
}

TEST(HeapSizeTableTest, TheReportEndsWithAnOptionToUse) {
  HeapSizeBins bins = {};
  EXPECT_NE(HeapSizeReport(bins).find("--heap all\n"), std::string::npos);
  bins[5] = {1'000'000, 1};
  EXPECT_NE(HeapSizeReport(bins).find("--heap-rates '{33:0.01}'\n"),
            std::string::npos);
}

}  // namespace
}  // namespace pymemrun
