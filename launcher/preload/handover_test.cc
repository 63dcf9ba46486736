#include "launcher/preload/handover.h"

#include <gtest/gtest.h>

namespace pymemrun {
namespace {

TEST(HandoverTest, HoldsAnyBytes) {
  const std::vector<std::string> strings = {"--min-drss", "",      "a:b",
                                            "\xff\n",     "3:abc", "--"};
  std::vector<std::string> read = {"before"};
  ASSERT_TRUE(ReadHandoverText(HandoverText(strings), &read));
  EXPECT_EQ(read, strings);
  ASSERT_TRUE(ReadHandoverText("", &read));
  EXPECT_TRUE(read.empty());
}

TEST(HandoverTest, OtherTextsAreRefused) {
  std::vector<std::string> read;
  for (const char* text : {"1", ":", "x:a", "-1:a", "2:a", "1:ab", "1:a,",
                           "99999999999999999999:a"}) {
    EXPECT_FALSE(ReadHandoverText(text, &read)) << text;
  }
}

}  // namespace
}  // namespace pymemrun
