#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/option_table.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void ExpectNarrow(const std::string& text) {
  for (const std::string& line : LinesOf(text)) {
    EXPECT_LE(line.size(), 80u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(HelpTextTest, TheFirstScreenFitsATerminalOf24Lines) {
  const std::string help = HelpText();
  ExpectNarrow(help);
  EXPECT_LE(LinesOf(help).size(), 24u) << help;
  EXPECT_THAT(help, StartsWith("pymemrun runs a Python program"));
  for (const char* part : {"\nUsage: pymemrun [options]", "\nExamples:\n",
                           "--help-all", "man pymemrun"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
}

TEST(HelpTextTest, TheFirstScreenHasTheSixUsualOptions) {
  int usual = 0;
  for (const OptionRow& row : OptionTable()) {
    const std::string line = std::string(" --") + row.name +
                             (row.value ? " " : "") +
                             std::string(ShortValue(row));
    EXPECT_EQ(HelpText().find(line + "  ") != std::string::npos, row.Is(kUsual))
        << line;
    usual += row.Is(kUsual);
  }
  EXPECT_EQ(usual, 6);
  EXPECT_THAT(HelpText(), HasSubstr("\n  -o, --output PATH   Write the run "
                                    "file to PATH (run.pb).\n"));
}

TEST(HelpTextTest, EveryOptionStandsInAllHelpWithItsValue) {
  const std::string help = AllHelpText();
  ExpectNarrow(help);
  for (const OptionRow& row : OptionTable()) {
    std::string option = std::string(" --") + row.name;
    if (row.value) option += std::string(" ") + row.value;
    EXPECT_THAT(help, HasSubstr(option)) << option;
  }
  EXPECT_THAT(help, HasSubstr("separate several patterns with\n`:`"));
}

TEST(HelpTextTest, EachGroupHasOneHeading) {
  std::set<std::string_view> seen;
  std::string_view group;
  for (const OptionRow& row : OptionTable()) {
    if (row.group == group) continue;
    group = row.group;
    EXPECT_TRUE(seen.insert(group).second) << group;
    EXPECT_THAT(AllHelpText(),
                HasSubstr("\n\n" + std::string(group) + ":\n  -"));
  }
}

// A reader takes a sentence in at once.
TEST(HelpTextTest, NoSentenceHasMoreThan25Words) {
  for (const OptionRow& row : OptionTable()) {
    std::string_view rest = row.help;
    EXPECT_TRUE(rest.ends_with('.')) << row.name;
    while (!rest.empty()) {
      const std::string_view sentence = rest.substr(0, rest.find(". "));
      rest.remove_prefix(std::min(rest.size(), sentence.size() + 2));
      EXPECT_LT(std::count(sentence.begin(), sentence.end(), ' '), 25)
          << row.name << ": " << sentence;
    }
  }
}

}  // namespace
}  // namespace pymemrun
