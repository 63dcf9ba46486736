#include "launcher/options/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<OptionName> kNames = {
    {"output", true, true}, {"min-drss", true}, {"quiet", false}};

struct Result {
  bool ok;
  CommandLine line;
  std::string error;
};

Result Split(std::vector<const char*> words) {
  words.insert(words.begin(), "pymemrun");
  Result result;
  result.ok = SplitCommandLine(static_cast<int>(words.size()), words.data(),
                               kNames, &result.line, &result.error);
  return result;
}

struct FormCase {
  std::vector<const char*> words;
  ProgramForm form;
  std::string target;
  std::vector<std::string> python;
};

TEST(CommandLineTest, FormsAndTargetsFollowTheInterpretersGrammar) {
  const FormCase cases[] = {
      {{"s.py", "a", "--quiet"},
       ProgramForm::kScript,
       "s.py",
       {"s.py", "a", "--quiet"}},
      {{}, ProgramForm::kStdin, "", {}},
      {{"-", "a"}, ProgramForm::kStdin, "", {"-", "a"}},
      {{"-m", "m", "-x"}, ProgramForm::kModule, "m", {"-m", "m", "-x"}},
      {{"-mm"}, ProgramForm::kModule, "m", {"-mm"}},
      {{"-c", "code", "-m"}, ProgramForm::kCode, "code", {"-c", "code", "-m"}},
      {{"-Ic", "code"}, ProgramForm::kCode, "code", {"-Ic", "code"}},
      {{"-Iccode"}, ProgramForm::kCode, "code", {"-Iccode"}},
      {{"-W", "ignore", "s"}, ProgramForm::kScript, "s", {"-W", "ignore", "s"}},
      {{"-Wignore", "s"}, ProgramForm::kScript, "s", {"-Wignore", "s"}},
      {{"-X", "dev", "s"}, ProgramForm::kScript, "s", {"-X", "dev", "s"}},
      {{"-bbX", "dev", "-OO", "s"},
       ProgramForm::kScript,
       "s",
       {"-bbX", "dev", "-OO", "s"}},
      {{"--", "-m", "test"}, ProgramForm::kModule, "test", {"-m", "test"}},
      {{"--", "--", "-m"}, ProgramForm::kScript, "-m", {"--", "-m"}},
      {{"--", "--"}, ProgramForm::kStdin, "", {"--"}},
      {{"--", "--", "-"}, ProgramForm::kStdin, "", {"--", "-"}},
      {{"--check-hash-based-pycs", "always", "s"},
       ProgramForm::kScript,
       "s",
       {"--check-hash-based-pycs", "always", "s"}},
      {{"", "x"}, ProgramForm::kScript, "", {"", "x"}},
  };
  for (const FormCase& c : cases) {
    Result result = Split(c.words);
    EXPECT_TRUE(result.ok) << result.error;
    EXPECT_EQ(result.line.form, c.form) << testing::PrintToString(c.python);
    EXPECT_EQ(result.line.target, c.target);
    EXPECT_EQ(result.line.python, c.python);
  }
}

TEST(CommandLineTest, NoUserCodeWhereTheInterpreterPrintsOrRefuses) {
  const std::vector<std::vector<const char*>> lines = {
      {"-h"},
      {"-V", "s.py"},
      {"-?"},
      {"-Z", "s.py"},
      {"-J"},
      {"--help-env"},
      {"-c"},
      {"-m"},
      {"-W"},
      {"-IV"},
      {"-:"},
      {"-VV", "-c", "1"},
      {"--help-xoptions"},
      {"--check-hash-based-pycs", "often"},
      {"--check-hash-based-pycs"}};
  for (const auto& words : lines) {
    Result result = Split(words);
    EXPECT_TRUE(result.ok);
    EXPECT_EQ(result.line.form, ProgramForm::kNone) << words[0];
    EXPECT_EQ(result.line.python,
              std::vector<std::string>(words.begin(), words.end()));
  }
}

TEST(CommandLineTest, OwnOptionsStandBetweenTheInterpreters) {
  Result result = Split({"-I", "--min-drss", "4K", "-X", "dev", "--quiet", "-o",
                         "a.pb", "--", "--min-drss=0", "-O", "s.py", "-o"});
  ASSERT_TRUE(result.ok);
  ASSERT_EQ(result.line.own.size(), 4u);
  EXPECT_EQ(result.line.own[0].value, "4K");
  EXPECT_EQ(result.line.own[1].option, 2u);
  EXPECT_EQ(result.line.own[2].value, "a.pb");
  EXPECT_EQ(result.line.own[3].value, "0");
  EXPECT_THAT(result.line.python,
              ElementsAre("-I", "-X", "dev", "-O", "s.py", "-o"));
}

// Names of pymemrun's own options mean nothing there.
TEST(CommandLineTest, AnInterpretersWordsAreReadByItsGrammar) {
  const FormCase cases[] = {
      {{"--version"}, ProgramForm::kNone, "", {}},
      {{"--help"}, ProgramForm::kNone, "", {}},
      {{"--help-all"}, ProgramForm::kNone, "", {}},
      {{"--help-env"}, ProgramForm::kNone, "", {}},
      {{"--help-xoptions"}, ProgramForm::kNone, "", {}},
      {{"--quiet", "s"}, ProgramForm::kNone, "", {}},
      {{"-o", "s"}, ProgramForm::kNone, "", {}},
      {{"--check-hash-based-pycs", "always", "s"},
       ProgramForm::kScript,
       "s",
       {}},
      {{"--", "--quiet"}, ProgramForm::kScript, "--quiet", {}},
      {{"s", "--version"}, ProgramForm::kScript, "s", {}},
      {{"-m", "m", "--help"}, ProgramForm::kModule, "m", {}},
      {{}, ProgramForm::kStdin, "", {}},
  };
  for (const FormCase& c : cases) {
    CommandLine line;
    line.python = {"-I"};
    line.python.insert(line.python.end(), c.words.begin(), c.words.end());
    const std::vector<std::string> python = line.python;
    TakeWordsOfInterpreter(1, &line);
    EXPECT_EQ(line.form, c.form) << testing::PrintToString(c.words);
    EXPECT_EQ(line.target, c.target);
    EXPECT_EQ(line.python, python);
    if (c.form == ProgramForm::kScript) {
      EXPECT_EQ(line.python[line.script_at], c.target);
    }
  }
}

TEST(CommandLineTest, AnOptionMayHaveALetter) {
  EXPECT_EQ(Split({"-oa.pb"}).line.own[0].value, "a.pb");
  EXPECT_EQ(Split({"-o", "a.pb"}).line.own[0].value, "a.pb");
  EXPECT_EQ(Split({"--output=a=b"}).line.own[0].value, "a=b");
}

TEST(CommandLineTest, UnknownLongOptionNamesTheNearest) {
  Result result = Split({"--min-drs", "1", "s.py"});
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.error, "unknown option --min-drs; did you mean --min-drss?");
  EXPECT_THAT(Split({"--qiet"}).error, HasSubstr("--quiet"));
  EXPECT_THAT(Split({"--help-envs"}).error, HasSubstr("--help-env"));
  EXPECT_THAT(Split({"--out"}).error, HasSubstr("mean --output?"));
  EXPECT_THAT(Split({"--MIN-DRSS"}).error, HasSubstr("mean --min-drss?"));
  EXPECT_EQ(Split({"--zzzzzzzz"}).error,
            "unknown option --zzzzzzzz; --help-all lists all options");
}

TEST(CommandLineTest, MissingAndSurplusValuesAreErrors) {
  EXPECT_EQ(Split({"--min-drss"}).error, "option --min-drss needs a value");
  EXPECT_EQ(Split({"-o"}).error, "option -o needs a value");
  EXPECT_EQ(Split({"--quiet=1"}).error, "option --quiet takes no value");
}

}  // namespace
}  // namespace pymemrun
