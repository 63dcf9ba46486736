#include "text/terminal_text.h"

#include <string>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(FirstRuneTest, ReadsScalarsOfEachLength) {
  EXPECT_EQ(FirstRune("a").value, 0x61u);
  EXPECT_EQ(FirstRune("\xc3\xa9").value, 0xe9u);
  EXPECT_EQ(FirstRune("\xe2\x82\xac").value, 0x20acu);
  EXPECT_EQ(FirstRune("\xf0\x9f\x98\x80").value, 0x1f600u);
  EXPECT_EQ(FirstRune("\xf0\x9f\x98\x80").size, 4);
}

TEST(FirstRuneTest, TellsSurrogatesFromScalars) {
  EXPECT_EQ(FirstRune("\xed\xb2\x80").kind, Rune::kSurrogate);
  EXPECT_EQ(FirstRune("\xed\xb2\x80").value, 0xdc80u);
  EXPECT_EQ(FirstRune("\xed\x9f\xbf").kind, Rune::kScalar);
}

TEST(FirstRuneTest, TakesOneByteOfWhatIsNoUtf8) {
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80",
                          "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5",
                          "\xe2\x82", "\xf0\x9f\x98", "\xc3", "\xff"}) {
    EXPECT_EQ(FirstRune(bad).kind, Rune::kBadByte) << bad;
    EXPECT_EQ(FirstRune(bad).size, 1) << bad;
  }
}

TEST(TerminalTextTest, KeepsWhatIsPrintable) {
  EXPECT_EQ(TerminalText("caf\xc3\xa9 \xf0\x9f\x98\x80 <lambda>"),
            "caf\xc3\xa9 \xf0\x9f\x98\x80 <lambda>");
}

TEST(TerminalTextTest, EscapesControls) {
  EXPECT_EQ(TerminalText("\x1b]0;x\x07"), "\\x1b]0;x\\x07");
  EXPECT_EQ(TerminalText(absl::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(TerminalText("\r\n\t\x7f"), "\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(TerminalText("\xc2\x9b"
                         "31m"),
            "\\x9b31m");
}

TEST(TerminalTextTest, EscapesWhatReorders) {
  EXPECT_EQ(TerminalText("\xe2\x80\xae"
                         "cod"),
            "\\u202ecod");
  EXPECT_EQ(TerminalText("\xe2\x81\xa6\xe2\x81\xa9"), "\\u2066\\u2069");
  EXPECT_EQ(TerminalText("\xe2\x80\xa8"), "\\u2028");
  EXPECT_EQ(TerminalText("\xe2\x80\x8f\xd8\x9c"), "\\u200f\\u061c");
}

TEST(TerminalTextTest, EscapesWhatTakesNoRoom) {
  EXPECT_EQ(TerminalText("a\xe2\x80\x8b"
                         "b"),
            "a\\u200bb");
  EXPECT_EQ(TerminalText("\xc2\xad\xef\xbb\xbf"), "\\u00ad\\ufeff");
  EXPECT_EQ(TerminalText("\xf3\xa0\x81\x81"), "\\U000e0041");
}

TEST(TerminalTextTest, EscapesSurrogatesAndBadBytes) {
  EXPECT_EQ(TerminalText("\xed\xb2\x80"), "\\udc80");
  EXPECT_EQ(TerminalText("\xff"), "\\xff");
}

TEST(TerminalTextTest, CountsColumnsNotBytes) {
  std::string out;
  EXPECT_EQ(AppendTerminalText("\xc3\xa9", &out), 1u);
  EXPECT_EQ(AppendTerminalText("\x1b", &out), 4u);
  EXPECT_EQ(ColumnsOf(out), 5u);
}

TEST(ShortTerminalTextTest, CutsBetweenCharactersAndSaysSo) {
  EXPECT_EQ(ShortTerminalText("/a/b.py", 16, true), "/a/b.py");
  EXPECT_EQ(ShortTerminalText("0123456789abcdefg", 16), "0123456789abc...");
  EXPECT_EQ(ShortTerminalText("0123456789abcdefg", 16, true),
            "...456789abcdefg");
  const std::string wide = "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2";
  EXPECT_EQ(ShortTerminalText(wide + wide, 16),
            "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2...");
  EXPECT_EQ(ShortTerminalText("\x1b" + wide + wide, 16, true),
            "...\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2");
}

}  // namespace
}  // namespace pymemrun
