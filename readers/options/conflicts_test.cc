#include "readers/options/conflicts.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "format/stream/byte_io.h"
#include "gtest/gtest.h"
#include "readers/options/command_line.h"
#include "readers/options/option_values.h"

namespace pymemrun {
namespace {

struct Example {
  Example() {
    AddChoice<int>(&app, "--of", &of, {{"rss", 0}, {"heap", 1}}, "WHAT", "");
    app.add_option("--by", by);
    app.add_option("--limit", limit);
    app.add_flag("--csv", csv);
    app.add_flag("--stacks", stacks);
    app.add_flag("--deep", deep);
    ExcludeEachOther(&app, {"--csv", "--stacks"});
    Exclude(&app, {"--deep"}, {"--limit"});
    Exclude(&app, {"--by task|thread"}, {"--stacks"});
    Need(&app, {"--deep"}, "--stacks|--csv");
    Need(&app, {"--by line"}, "--of rss");
    AddNote(&app, "--by", "needs a run.");
  }
  std::string Notes(const std::string& name) {
    return NotesOf(&app, app.get_option(name));
  }

  CLI::App app;
  int of = 0;
  std::string by, limit;
  bool csv = false, stacks = false, deep = false;
};

// What is said of these words; empty: nothing is wrong.
std::string Said(const std::vector<std::string>& words) {
  Example example;
  int pipe_fds[2];
  EXPECT_EQ(pipe(pipe_fds), 0);
  FdSink nowhere(-1);
  const Console console = {"tool", &nowhere, -1, pipe_fds[1]};
  const std::optional<int> ended = ParseArguments(&example.app, words, console);
  close(pipe_fds[1]);
  char said[256] = "";
  const ssize_t size = read(pipe_fds[0], said, sizeof(said));
  close(pipe_fds[0]);
  EXPECT_EQ(ended.value_or(0), size > 0 ? 2 : 0);
  const std::string text(said, size > 0 ? static_cast<size_t>(size) : 0);
  return text.substr(0, text.find(" (see tool --help"));
}

TEST(ConflictTest, OneLineNamesBoth) {
  EXPECT_EQ(Said({"--csv", "--stacks"}),
            "tool: --csv does not go with --stacks");
  EXPECT_EQ(Said({"--deep", "--stacks", "--limit", "3"}),
            "tool: --limit 3 does not go with --deep");
  EXPECT_EQ(Said({"--deep"}), "tool: --deep needs --stacks or --csv");
}

TEST(ConflictTest, AValueMayBeWhatDoesNotGo) {
  EXPECT_EQ(Said({"--by", "task", "--stacks"}),
            "tool: --by task does not go with --stacks");
  EXPECT_EQ(Said({"--by", "task", "--csv"}), "");
  EXPECT_EQ(Said({"--stacks", "--by", "line"}), "");
  EXPECT_EQ(Said({"--of", "rss", "--by", "line"}), "");
  EXPECT_EQ(Said({"--by", "line", "--of", "heap"}),
            "tool: --by line needs --of rss");
}

TEST(ConflictTest, HelpSaysThem) {
  Example example;
  EXPECT_EQ(example.Notes("--stacks"), " Not with --by task|thread or --csv.");
  EXPECT_EQ(example.Notes("--by"),
            " task, thread: not with --stacks. line: needs --of rss. Needs a "
            "run.");
  EXPECT_EQ(example.Notes("--deep"),
            " Not with --limit. Needs --stacks or --csv.");
  EXPECT_EQ(example.Notes("--of"), "");
}

}  // namespace
}  // namespace pymemrun
