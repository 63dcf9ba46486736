#include "readers/options/help_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "readers/options/command_line.h"
#include "readers/options/conflicts.h"

namespace pymemrun {
namespace {

constexpr size_t kColumns = 80;

// "-o, --output PATH"; with `words`, "--color auto|always|never".
std::string NameOf(const CLI::Option& option, bool words) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  if (names.empty()) return option.get_name(/*positional=*/true);
  std::string type = option.get_type_name();
  type.resize(std::min(type.find(':'), type.size()));  // rules stand behind it
  const std::string name = absl::StrJoin(names, ", ");
  // If the words do not fit a line, the meaning lists them.
  const bool has_words = type.find('|') != std::string::npos &&
                         2 + name.size() + 1 + type.size() <= kColumns;
  const std::string value =
      words && has_words ? type : option.get_option_text();
  return absl::StrCat(name, value.empty() ? "" : " ", value);
}

std::string UsageOf(const CLI::App& app) {
  std::string usage = absl::StrCat("Usage: ", app.get_name());
  for (const CLI::Option* option : app.get_options()) {
    const std::string& value = option->get_option_text();
    if (!option->get_positional() || value.empty()) continue;
    absl::StrAppend(&usage, " ", value);
  }
  return usage + " [options]\n";
}

// The words in lines. Each after the first begins with `margin`.
std::string Wrapped(absl::string_view words, const std::string& margin) {
  std::string text;
  size_t column = margin.size();
  for (const absl::string_view word : absl::StrSplit(words, ' ')) {
    const bool is_first = column == margin.size();
    if (!is_first && column + 1 + word.size() > kColumns) {
      absl::StrAppend(&text, "\n", margin, word);
      column = margin.size() + word.size();
    } else {
      absl::StrAppend(&text, is_first ? "" : " ", word);
      column += word.size() + (is_first ? 0 : 1);
    }
  }
  return text;
}

// The first of each group of options that several commands have.
constexpr const char* kLeads[] = {"--at",   "--by",   "--file",  "--from",
                                  "--sort", "--task", "--thread"};

// What tells of the options that the help leaves out.
std::string MoreText(const CLI::App& app) {
  std::vector<std::string> also;
  for (const char* const name : kLeads) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option != nullptr && option->get_group() == kMoreOptions) {
      also.emplace_back(name);
    }
  }
  return also.empty()
             ? absl::StrCat(app.get_name(), " --help-all lists all options.")
             : absl::StrCat("Also ", absl::StrJoin(also, ", "),
                            "; --help-all lists all options.");
}

}  // namespace

void SetUsualOptions(CLI::App* app, const std::vector<std::string>& names) {
  for (CLI::Option* option :
       app->get_options([](const CLI::Option*) { return true; })) {
    const std::string name = option->get_name(option->get_positional());
    if (option->get_positional() || option->get_group().empty()) continue;
    const bool is_usual =
        std::find(names.begin(), names.end(), name) != names.end();
    option->group(is_usual ? "Options" : kMoreOptions);
  }
}

std::string HelpRow(const std::string& name, const std::string& meaning,
                    size_t name_width) {
  std::string begin = "  " + name;
  const bool fits = begin.size() + 2 <= name_width;
  begin.resize(fits ? name_width : begin.size(), ' ');
  const std::string margin(name_width, ' ');
  return absl::StrCat(begin, fits ? "" : "\n" + margin,
                      Wrapped(meaning, margin), "\n");
}

// The texts of options are those given to CLI11, but its formatter knows no
// rules and no short help.
std::string HelpText(CLI::App* app, bool all) {
  std::string text;
  for (const absl::string_view paragraph :
       absl::StrSplit(app->get_description(), "\n\n")) {
    if (!all && !text.empty()) break;
    absl::StrAppend(&text, Wrapped(paragraph, ""), "\n\n");
  }
  absl::StrAppend(&text, UsageOf(*app), "\n");
  for (CLI::Option* option :
       app->get_options([](CLI::Option*) { return true; })) {
    if (!IsShown(*option)) continue;
    if (all || option->get_group() != kMoreOptions) {
      text += HelpRow(NameOf(*option, all),
                      absl::StrCat(option->get_description(),
                                   all ? NotesOf(app, option) : ""));
    }
  }
  if (!all) {
    absl::StrAppend(&text, "\n", Wrapped(MoreText(*app), ""), "\n");
  }
  return text;
}

}  // namespace pymemrun
