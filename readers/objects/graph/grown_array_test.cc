#include <cstdint>
#include <limits>

#include "gtest/gtest.h"
#include "readers/objects/graph/graph_arrays.h"

// Sanitizers read these: no memory is what malloc gives, not the test's end.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace pymemrun {
namespace {

TEST(GrownArray, KeepsWhatWasPutIn) {
  GrownArray<uint64_t> array;
  for (uint64_t i = 0; i < 100000; ++i) array.push_back(i * i);
  const uint64_t more[] = {7, 8, 9};
  array.append(more, 3);
  ASSERT_EQ(array.size(), 100003u);
  for (uint64_t i = 0; i < 100000; ++i) ASSERT_EQ(array[i], i * i);
  EXPECT_EQ(array[100002], 9u);
  const absl::Span<const uint64_t> span = array;
  EXPECT_EQ(span.size(), 100003u);
  array.resize(5);
  EXPECT_EQ(array.end() - array.begin(), 5);
  array.resize(300000);
  EXPECT_EQ(array[4], 16u);
}

TEST(GrownArray, ThrowsWhenThereIsNoMemory) {
  GrownArray<uint64_t> array;
  EXPECT_THROW(array.resize(std::numeric_limits<size_t>::max() / 2),
               std::bad_alloc);
  EXPECT_THROW(array.resize(size_t{1} << 58), std::bad_alloc);
  EXPECT_EQ(array.size(), 0u);
}

}  // namespace
}  // namespace pymemrun
