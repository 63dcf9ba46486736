#include "tracer/base/safe_read.h"

#include <sys/mman.h>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

constexpr size_t kPage = 4096;

class SafeReadTest : public testing::Test {
 protected:
  ~SafeReadTest() override { munmap(pages_, 3 * kPage); }

  // The one in the middle is not there.
  char* const pages_ = static_cast<char*>(
      mmap(nullptr, 3 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const int gone_ = munmap(pages_ + kPage, kPage);
};

TEST_F(SafeReadTest, ReadsWhatIsThere) {
  char copy[16];
  EXPECT_TRUE(ReadSafely(pages_, copy, sizeof copy));
  EXPECT_FALSE(ReadSafely(pages_ + kPage, copy, sizeof copy));
  EXPECT_FALSE(ReadSafely(pages_ + kPage - 8, copy, sizeof copy));
}

TEST_F(SafeReadTest, FindsPagesThatAreThere) {
  ReadablePages readable;
  EXPECT_TRUE(readable.Has(pages_, kPage));
  EXPECT_FALSE(readable.Has(pages_ + kPage, 1));
  EXPECT_FALSE(readable.Has(pages_ + kPage - 1, 2));
  EXPECT_TRUE(readable.Has(pages_ + 2 * kPage, kPage));
  EXPECT_FALSE(readable.Has(nullptr, 8));
  EXPECT_FALSE(readable.Has(reinterpret_cast<void*>(UINTPTR_MAX - 4), 8));
}

TEST_F(SafeReadTest, AsksOnceForEachPage) {
  ReadablePages readable;
  EXPECT_TRUE(readable.Has(pages_, 1));
  munmap(pages_, kPage);
  EXPECT_TRUE(readable.Has(pages_ + 100, 8));
  EXPECT_FALSE(ReadablePages().Has(pages_ + 100, 8));
}

}  // namespace
}  // namespace pymemrun
