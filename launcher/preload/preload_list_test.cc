#include <gtest/gtest.h>
#include <stdlib.h>

#include "launcher/preload/activation.h"

namespace pymemrun {
namespace {

TEST(PreloadListTest, OthersStay) {
  EXPECT_EQ(PreloadsWithout("/a.so", "/a.so"), "");
  EXPECT_EQ(PreloadsWithout("/a.so:/b.so", "/a.so"), "/b.so");
  EXPECT_EQ(PreloadsWithout("/b.so /a.so  /c.so:", "/a.so"), "/b.so:/c.so");
  EXPECT_EQ(PreloadsWithout("/aa.so:/a.sos", "/a.so"), "/aa.so:/a.sos");
  EXPECT_EQ(PreloadsWithout("", "/a.so"), "");
}

TEST(PreloadListTest, AnEmptyListIsNoVariable) {
  setenv(kPreloadVariable, "/a.so:/b.so", 1);
  const char* const text = getenv(kPreloadVariable);
  LeaveOutOfPreloads("/a.so");
  EXPECT_STREQ(getenv(kPreloadVariable), "/b.so");
  EXPECT_EQ(std::string(text, 11), std::string("/b.so\0\0\0\0\0\0", 11));
  LeaveOutOfPreloads("/b.so");
  EXPECT_EQ(getenv(kPreloadVariable), nullptr);
  LeaveOutOfPreloads("/b.so");
  EXPECT_EQ(getenv(kPreloadVariable), nullptr);
}

TEST(PreloadListTest, AnotherObjectTakesThePlace) {
  setenv(kPreloadVariable, "/x.so:/a.so", 1);
  ExchangeInPreloads("/a.so", "/longer/b.so");
  EXPECT_STREQ(getenv(kPreloadVariable), "/x.so:/longer/b.so");
  unsetenv(kPreloadVariable);
  ExchangeInPreloads("/a.so", "/b.so");
  EXPECT_EQ(getenv(kPreloadVariable), nullptr);
}

}  // namespace
}  // namespace pymemrun
