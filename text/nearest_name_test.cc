#include "text/nearest_name.h"

#include <gtest/gtest.h>

namespace pymemrun {
namespace {

const std::vector<std::string> kNames = {"--min-drss",  "--thread", "--text",
                                         "--version",   "--output", "--on-full",
                                         "--verify-rss"};

TEST(NearestNameTest, FindsTypingErrors) {
  EXPECT_EQ(NearestName("--min-dress", kNames), "--min-drss");
  EXPECT_EQ(NearestName("--threads", kNames), "--thread");
  EXPECT_EQ(NearestName("--cvs", {"--to", "--csv"}), "--csv");
}

TEST(NearestNameTest, PrefersNamesThatBeginSo) {
  EXPECT_EQ(NearestName("--min", kNames), "--min-drss");
  EXPECT_EQ(NearestName("--out", kNames), "--output");
  EXPECT_EQ(NearestName("--verify", kNames), "--verify-rss");
  EXPECT_EQ(NearestName("ve", {"serve", "verify-rss"}), "verify-rss");
}

TEST(NearestNameTest, TakesLettersOfAnyCase) {
  EXPECT_EQ(NearestName("--MIN-DRSS", kNames), "--min-drss");
  EXPECT_EQ(NearestName("--Out", kNames), "--output");
}

TEST(NearestNameTest, FindsNothingForWhatIsLikeNone) {
  EXPECT_EQ(NearestName("--zzzzzzzzzz", kNames), "");
  EXPECT_EQ(NearestName("v", {"verify-rss"}), "");
  EXPECT_EQ(NearestName("--sort", {"--json", "--at", "--to"}), "");
  EXPECT_EQ(NearestName("--foo", {"--to"}), "");
  EXPECT_EQ(NearestName(std::string(100000, 'x'), kNames), "");
}

}  // namespace
}  // namespace pymemrun
