#include <gtest/gtest.h>

#include "launcher/preload/activation.h"

namespace pymemrun {
namespace {

TEST(HandoverTest, HoldsAnyBytes) {
  for (const bool once : {false, true}) {
    const Handover handover = {
        once, {"--min-drss", "", "a:b", "\xff\n", "3:abc", "--"}};
    Handover read = {!once, {"before"}};
    ASSERT_TRUE(ReadHandoverText(HandoverText(handover), &read));
    EXPECT_EQ(read.once, once);
    EXPECT_EQ(read.options, handover.options);
  }
}

TEST(HandoverTest, OtherTextsAreRefused) {
  Handover read;
  for (const char* text : {"", "1", ":", "x:a", "-1:a", "2:a", "1:ab", "1:a,",
                           "1:a", "4:once1", "99999999999999999999:a"}) {
    EXPECT_FALSE(ReadHandoverText(text, &read)) << text;
  }
}

}  // namespace
}  // namespace pymemrun
