#include "readers/options/command_line.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "readers/options/help_text.h"
#include "text/nearest_name.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

bool IsGiven(const CLI::Option& option) {
  return option.get_group() == kGivenOptions;
}

// `shown`: without those that are known only to be refused.
std::vector<std::string> LongOptions(const CLI::App& app, bool shown) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (shown && !IsShown(*option)) continue;
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// The command's name in "pymemreport heap", for example.
std::string LastWord(const std::string& text) {
  return text.substr(text.rfind(' ') + 1);
}

// The name of an option, or the last word of a positional one: "SELECT" of
// "FILE... SELECT".
std::string NameOf(const CLI::Option& option) {
  const std::string& words = option.get_option_text();
  const bool is_last = option.get_positional() && !option.results().empty() &&
                       option.results().back().empty();
  const bool are_several = words.find(' ') != std::string::npos;
  return is_last && are_several ? LastWord(words) : option.get_name();
}

// What is wrong with how often, or with what, options were given; empty:
// nothing.
std::string Problem(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 1 && option->count() > 1) {
      if (IsGiven(*option)) {
        return absl::StrCat(option->get_name(), " does not go with ",
                            LastWord(app.get_name()));
      }
      return absl::StrCat(option->get_name(), ": is given more than once");
    }
  }
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& values = option->results();
    if (option->get_items_expected_max() != 0 &&
        std::count(values.begin(), values.end(), "") > 0) {
      return absl::StrCat(NameOf(*option), ": expected a value, found ''");
    }
  }
  return "";
}

// What people call it elsewhere, and how it is called here. Options of other
// profilers, SQL and Unix tools.
std::string OtherName(absl::string_view name,
                      const std::vector<std::string>& known) {
  static constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
      {"--order", "--sort"},      {"--order-by", "--sort"},
      {"--sort-by", "--sort"},    {"--count", "--limit"},
      {"--num", "--limit"},       {"--lines", "--limit"},
      {"--max", "--limit"},       {"--top", "--limit"},
      {"--moment", "--at"},       {"--time", "--at"},
      {"--when", "--at"},         {"--peak", "--at"},
      {"--group", "--by"},        {"--group-by", "--by"},
      {"--path", "--file"},       {"--include", "--file"},
      {"--filter", "--file"},     {"--only", "--file"},
      {"--ignore", "--exclude"},  {"--colour", "--color"},
      {"--no-color", "--color"},  {"--tree", "--stacks"},
      {"--traceback", "--stacks"}};
  for (const auto& [other, ours] : kNames) {
    if (other == name && std::count(known.begin(), known.end(), ours) > 0) {
      return std::string(ours);
    }
  }
  return "";
}

// The first argument left over, said as an unknown option or argument.
void SayUnknown(const CLI::App& app, absl::string_view word,
                const Console& console) {
  if (word.empty() || word[0] != '-') {
    console.Usage(
        absl::StrCat("unexpected argument '", TerminalText(word), "'"));
    return;
  }
  const absl::string_view name = word.substr(0, word.find('='));
  const std::vector<std::string> known = LongOptions(app, /*shown=*/true);
  std::string nearest = OtherName(name, known);
  if (nearest.empty()) nearest = NearestName(std::string(name), known);
  console.Usage(absl::StrCat(
      "unknown option '", TerminalText(name), "'",
      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

// CLI11 puts some of its messages into several lines.
std::string OneLine(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\n", " "}});
}

// The first word that looks like an option and is unknown; empty: no such word.
std::string UnknownOption(const CLI::App& app,
                          const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = LongOptions(app, /*shown=*/false);
  for (const std::string& word : arguments) {
    const std::string name = word.substr(0, word.find('='));
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-' || absl::ascii_isdigit(word[1])) {
      continue;  // a negative number is a value
    }
    if (word[1] != '-') {
      if (app.get_option_no_throw(word.substr(0, 2)) == nullptr) return word;
    } else if (std::find(known.begin(), known.end(), name) == known.end()) {
      return word;
    }
  }
  return "";
}

std::string TextOf(const CLI::ParseError& error) {
  const std::string text = TerminalText(OneLine(error.what()));
  // CLI11 counts what is required.
  if (error.get_name() != "ArgumentMismatch") return text;
  return text.substr(0, text.find(':')) + ": expected a value, found none";
}

}  // namespace

bool IsShown(const CLI::Option& option) {
  const std::string& group = option.get_group();
  return !group.empty() && group != kGivenOptions && group != kUselessOptions;
}

// Extras are allowed, so that SayUnknown() can report an unknown word, and name
// the nearest option.
std::optional<int> ParseArguments(CLI::App* app,
                                  const std::vector<std::string>& arguments,
                                  const Console& console) {
  app->allow_extras();
  app->set_help_flag("-h,--help", "Print the usual options.")
      ->group(kMoreOptions);
  app->set_help_all_flag("--help-all", "Print all options.")
      ->group(kMoreOptions);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app->parse(reversed);
  } catch (const CLI::CallForVersion& version) {
    return PrintText(console, absl::StrCat(version.what(), "\n"));
  } catch (const CLI::ParseError& error) {
    // Also where an option before it has a wrong value.
    const bool all = app->count("--help-all") > 0;
    if (all || app->count("--help") > 0) {
      return PrintText(console, HelpText(app, all));
    }
    // An unknown option tells more than what CLI11 misses because of it.
    const std::string unknown = UnknownOption(*app, arguments);
    if (!unknown.empty()) {
      SayUnknown(*app, unknown, console);
      return kExitUsage;
    }
    std::string problem = Problem(*app);
    if (problem.empty()) problem = TextOf(error);
    console.Usage(problem);
    return kExitUsage;
  }
  const std::string problem = Problem(*app);
  if (!problem.empty()) {
    console.Usage(problem);
    return kExitUsage;
  }
  const std::vector<std::string> left = app->remaining();
  if (left.empty()) return std::nullopt;
  SayUnknown(*app, left.front(), console);
  return kExitUsage;
}

}  // namespace pymemrun
