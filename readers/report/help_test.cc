// What --help and --help-all of the readers' programs print.
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/report/report_command.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr size_t kLines = 24, kColumns = 80;

void ExpectAScreen(const Printed& printed, const std::string& of) {
  EXPECT_EQ(printed.code, 0) << of;
  const std::vector<std::string> lines = absl::StrSplit(printed.out, '\n');
  EXPECT_LE(lines.size(), kLines) << of;  // with the prompt's
  for (const std::string& line : lines) EXPECT_LE(line.size(), kColumns) << of;
  EXPECT_THAT(printed.out, HasSubstr("\nUsage: ")) << of;
  EXPECT_THAT(printed.out, HasSubstr("--help-all")) << of;
}

void ExpectNarrow(const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(line.size(), kColumns) << line;
  }
}

TEST(HelpTest, TheFirstScreenFits) {
  ExpectAScreen(Cat({"--help"}), "pymemcat");
  ExpectAScreen(Report({"--help"}), "pymemreport");
  for (const auto& command : ReportCommands()) {
    ExpectAScreen(Report({command->name(), "--help"}), command->name());
    EXPECT_THAT(Report({"--help"}).out, HasSubstr(" " + command->name()));
  }
}

TEST(HelpTest, TheFirstScreenNamesEachGroupOfOptions) {
  for (const auto& command : ReportCommands()) {
    CLI::App app;
    command->AddOptions(&app);
    const std::string text = Report({command->name(), "--help"}).out;
    for (const char* const group :
         {"--at", "--by", "--file", "--from", "--sort", "--task", "--thread"}) {
      if (app.get_option_no_throw(group) == nullptr) continue;
      if (app.get_option(group)->get_group().empty()) continue;  // refused
      EXPECT_THAT(text, HasSubstr(group)) << command->name();
    }
  }
  EXPECT_THAT(
      Report({"diff", "--help"}).out,
      HasSubstr("\nAlso --file, --sort; --help-all lists all options.\n"));
}

TEST(HelpTest, HelpAllNamesEveryOption) {
  const std::string all = Report({"--help-all"}).out;
  ExpectNarrow(all);
  EXPECT_THAT(all, StartsWith(Report({"--help"}).out));
  for (const auto& command : ReportCommands()) {
    CLI::App app;
    command->AddOptions(&app);
    const std::string text = Report({command->name(), "--help-all"}).out;
    ExpectNarrow(text);
    EXPECT_THAT(text, StartsWith(command->about().substr(0, 20)));
    for (const CLI::Option* option :
         static_cast<const CLI::App&>(app).get_options()) {
      if (option->get_group().empty()) continue;
      EXPECT_THAT(text, HasSubstr(option->get_name())) << command->name();
      EXPECT_NE(option->get_description(), "") << command->name();
    }
    EXPECT_THAT(text, HasSubstr("--help-all"));
    EXPECT_THAT(all, HasSubstr("Usage: pymemreport " + command->name()));
  }
}

TEST(HelpTest, OldNamesStandBehindAllOthers) {
  const std::string all = Report({"--help-all"}).out;
  for (const auto& command : ReportCommands()) {
    for (const OldName& old : command->OldNames()) {
      const Printed printed = Report({old.name, "--help"});
      ExpectAScreen(printed, old.name);
      EXPECT_THAT(printed.out, StartsWith("Old name of " + command->name() +
                                          (old.words.empty() ? "." : " --")));
      EXPECT_THAT(all, Not(HasSubstr("Usage: pymemreport " + old.name + " ")));
      EXPECT_THAT(all.substr(all.find("\nOld names:\n")),
                  HasSubstr("\n  " + old.name + "  "));
    }
  }
}

TEST(HelpTest, PymemcatToo) {
  const std::string text = Cat({"--help-all"}).out;
  ExpectNarrow(text);
  for (const char* option :
       {"--text",     "--csv",       "--jsonl",    "--raw",    "--summary",
        "--follow",   "--from",      "--to",       "--thread", "--file",
        "--function", "--what",      "--min-drss", "--every",  "--records",
        "--columns",  "--no-header", "--raw-text", "--net",    "--version",
        "--help"}) {
    EXPECT_THAT(text, HasSubstr(option));
  }
}

TEST(HelpTest, ComesBeforeWhatIsWrong) {
  EXPECT_EQ(Report({"top", "--by", "colour", "--help"}).out,
            Report({"top", "--help"}).out);
  EXPECT_EQ(Cat({"--help-all", "--from", "noon"}).code, 0);
}

TEST(HelpTest, OldNamesListOnlyWhatTheyTake) {
  const std::string flow = Report({"flow", "--help-all"}).out;
  for (const char* refused : {"--by ", "--event", "--peak ", "--min "}) {
    EXPECT_THAT(flow, Not(HasSubstr(std::string("\n  ") + refused))) << refused;
  }
  EXPECT_THAT(flow, HasSubstr("\n  --thread"));
  EXPECT_THAT(Report({"tree", "--help-all"}).out,
              Not(HasSubstr("\n  --reserved")));
  const std::string counters = Report({"counters", "--help-all"}).out;
  for (const char* refused : {"--owner", "--by ", "--task", "--peaks"}) {
    EXPECT_THAT(counters, Not(HasSubstr(std::string("\n  ") + refused)));
  }
  EXPECT_THAT(counters, HasSubstr("\n  --limit"));
  EXPECT_THAT(Report({"peaks", "--help-all"}).out, HasSubstr("\n  --by "));
}

TEST(HelpTest, TheFirstLineSaysWhatACommandDoes) {
  for (const auto& command : ReportCommands()) {
    const std::string text = Report({command->name(), "--help"}).out;
    EXPECT_EQ(text[text.find("\n\n") - 1], '.') << command->name();
  }
  EXPECT_THAT(Report({"timeline", "--help-all"}).out,
              HasSubstr("List at most N runs of --gc"));
}

// What an old name stands for is said in the first sentence alone.
TEST(HelpTest, OldNamesSpeakOfThemselves) {
  for (const auto& command : ReportCommands()) {
    for (const OldName& old : command->OldNames()) {
      const std::string all = Report({old.name, "--help-all"}).out;
      const size_t first = all.find(". ");
      for (const std::string& word : old.words) {
        if (word[0] != '-') continue;
        EXPECT_EQ(all.find(word + " ", first), std::string::npos)
            << old.name << ": " << word << "\n"
            << all;
      }
    }
  }
  const std::string tables = Report({"tables", "--help"}).out;
  EXPECT_THAT(tables, HasSubstr("Lists the tables of SQL"));
  EXPECT_THAT(tables, HasSubstr("Usage: pymemreport tables [FILE] [options]"));
  EXPECT_THAT(tables, Not(HasSubstr("SELECT")));
  const std::string off = Report({"offgil", "--help"}).out;
  EXPECT_THAT(off, HasSubstr("Prints the stacks of threads"));
  EXPECT_THAT(off, HasSubstr("A row for each frame."));
  EXPECT_THAT(off, Not(HasSubstr("--rows")));
}

TEST(HelpTest, SaysWhatOptionsDoByDefault) {
  const auto limit = [](const std::string& command) {
    const std::string help =
        absl::StrJoin(absl::StrSplit(Report({command, "--help-all"}).out,
                                     absl::ByAnyChar(" \n"), absl::SkipEmpty()),
                      " ");
    return help.substr(help.find("--limit N List at most N ") + 25, 120);
  };
  EXPECT_THAT(limit("top"), StartsWith("places (0: all). Default 20; CSV, "
                                       "JSON: all. "));
  EXPECT_THAT(limit("heap"),
              StartsWith("places (0: all). Default 20, with --as tree 30, with "
                         "--as snapshot all; CSV, JSON: all. "));
  EXPECT_THAT(limit("tree"), StartsWith("places (0: all). Default 30; "));
  EXPECT_THAT(limit("snapshot"), StartsWith("places (0: all, the default). "));
  EXPECT_THAT(limit("calls"),
              StartsWith("calls (0: all). Default all, places 20, lines of "
                         "--peak and --event 10,000; CSV, JSON: all. "));
  EXPECT_THAT(limit("flow"), StartsWith("places (0: all). Default 20; "));
  EXPECT_THAT(limit("gil"),
              StartsWith("rows (0: all). Default 20, with --off 30; "));
  EXPECT_THAT(limit("offgil"), StartsWith("frames (0: all). Default 30; "));
  const std::string tasks = Report({"tasks", "--help"}).out;
  for (const char* word :
       {"time (default", "longest (", "(RSS added)", "heap ("}) {
    EXPECT_THAT(tasks, HasSubstr(word));
  }
  EXPECT_THAT(Report({"top", "--help"}).out,
              HasSubstr("Sort by a column of the table: the largest"));
}

}  // namespace
}  // namespace pymemrun
