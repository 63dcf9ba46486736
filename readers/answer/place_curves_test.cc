#include "readers/answer/place_curves.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "readers/answer/answer.h"
#include "readers/heap/heap_history.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

// Each step between would be a look at all that is alive.
TEST(PlaceCurvesTest, EndWithTheRunWhateverTimesEventsClaim) {
  constexpr uint64_t kFarUs = uint64_t{1} << 50;
  StringSink bytes;
  RunBuilder builder(&bytes);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  const uint32_t stack =
      builder.AddStack(0, builder.AddCode("/src/a.py", "f", 1), 3);
  builder.AddHeap({AllocEvent(1000, 0x1000, 64, stack),
                   AllocEvent(kFarUs, 0x2000, 4096, stack)});
  builder.Flush();
  TempFile path(bytes.contents());
  const Console console{"test", nullptr};
  const auto file = RereadFile::Open(path.path(), console);
  Answer answer;
  answer.facts.OnHeader(header);
  PlaceCurves curves;
  ASSERT_TRUE(
      ReadPlaceCurves(file.get(), answer, GroupBy::kLine, {1000, 10}, &curves));
  const auto* const history =
      dynamic_cast<const HeapHistoryReplay*>(curves.names.get());
  ASSERT_NE(history, nullptr);
  EXPECT_EQ(history->Result(1).time_us.size(), 10u);
  ASSERT_EQ(curves.bytes.size(), 1u);
  const std::vector<double> expected = {0, 64, 64, 64, 64, 64, 64, 64, 64, 64};
  EXPECT_EQ(curves.bytes.begin()->second, expected);
}

}  // namespace
}  // namespace pymemrun
