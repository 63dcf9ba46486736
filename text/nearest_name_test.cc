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

TEST(ShortWordsTest, CutsWhatIsLongerThanAnyName) {
  const std::string usual = "unknown option '--opt'; did you mean -o?";
  EXPECT_EQ(ShortWords(usual), usual);
  EXPECT_EQ(ShortWords(""), "");
  const std::string longest(100, 'x');
  EXPECT_EQ(ShortWords(longest + " y"), longest + " y");
  EXPECT_EQ(ShortWords("a '" + std::string(100000, 'x') + "' b"),
            "a '" + std::string(99, 'x') + "...' b");
  EXPECT_EQ(ShortWords(std::string(101, 'x') + " y", 4096),
            std::string(101, 'x') + " y");
}

TEST(ShortWordsTest, CutsNoCharacterInTwo) {
  std::string word = "x";
  for (int i = 0; i < 100; ++i) word += "\u00e9";
  EXPECT_EQ(ShortWords(word), word.substr(0, 99) + "...");
}

TEST(ShortWordsTest, CutsAMessageOfManyWords) {
  std::string message;
  for (int i = 0; i < 1000; ++i) message += "ab ";
  EXPECT_EQ(ShortWords(message), message.substr(0, 1000) + "...");
}

}  // namespace
}  // namespace pymemrun
