#include "readers/options/option_values.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "format/stream/byte_io.h"
#include "gtest/gtest.h"
#include "readers/options/command_line.h"

namespace pymemrun {
namespace {

TEST(ParseBytesTest, ReadsSizesAndSaysWhatIsNone) {
  EXPECT_EQ(*ParseBytes("4KiB"), 4096u);
  EXPECT_EQ(
      ParseBytes("0.0001K").status().message(),
      "'0.0001K' is not a whole number of bytes, such as 4096, 4KiB or 1M");
}

TEST(ParseNumberTest, SaysTheRange) {
  EXPECT_EQ(*ParseNumber("24", 1, 24), 24u);
  EXPECT_EQ(ParseNumber("25", 1, 24).status().message(),
            "expected a number from 1 to 24, found '25'");
  EXPECT_EQ(ParseNumber("-1", 0).status().message(),
            "expected a number from 0 on, found '-1'");
}

TEST(ExpectedOneOfTest, ListsTheWords) {
  EXPECT_EQ(ExpectedOneOf({"a", "b", "c"}, "x").message(),
            "expected a, b or c, found 'x'");
}

// What is said of these words; empty: nothing is wrong.
std::string Said(const std::vector<std::string>& words) {
  CLI::App app;
  std::string by, limit;
  bool csv = false, stacks = false, deep = false;
  app.add_option("--by", by);
  app.add_option("--limit", limit);
  app.add_flag("--csv", csv);
  app.add_flag("--stacks", stacks);
  app.add_flag("--deep", deep);
  ExcludeEachOther(&app, {"--csv", "--stacks"});
  Exclude(&app, {"--deep"}, {"--limit"});
  ExcludeValues(&app, "--by", {"task"}, {"--stacks"});
  Need(&app, {"--deep"}, "--stacks");
  int pipe_fds[2];
  EXPECT_EQ(pipe(pipe_fds), 0);
  FdSink nowhere(-1);
  const Console console = {"tool", &nowhere, -1, pipe_fds[1]};
  const std::optional<int> ended = ParseArguments(&app, words, console);
  close(pipe_fds[1]);
  char said[256] = "";
  const ssize_t size = read(pipe_fds[0], said, sizeof(said));
  close(pipe_fds[0]);
  EXPECT_EQ(ended.value_or(0), size > 0 ? 2 : 0);
  const std::string text(said, size > 0 ? static_cast<size_t>(size) : 0);
  return text.substr(0, text.find(" (tool --help"));
}

TEST(ConflictTest, OneLineNamesBoth) {
  EXPECT_EQ(Said({"--csv", "--stacks"}),
            "tool: --csv does not go with --stacks");
  EXPECT_EQ(Said({"--deep", "--stacks", "--limit", "3"}),
            "tool: --limit 3 does not go with --deep");
  EXPECT_EQ(Said({"--deep"}), "tool: --deep goes with --stacks alone");
}

TEST(ConflictTest, AValueMayBeWhatDoesNotGo) {
  EXPECT_EQ(Said({"--by", "task", "--stacks"}),
            "tool: --by task does not go with --stacks");
  EXPECT_EQ(Said({"--by", "task", "--csv"}), "");
  EXPECT_EQ(Said({"--stacks", "--by", "line"}), "");
}

}  // namespace
}  // namespace pymemrun
