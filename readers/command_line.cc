#include "readers/command_line.h"

#include <errno.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "format/nearest_name.h"
#include "format/terminal_text.h"

namespace pymemrun {
namespace {

std::vector<std::string> LongOptions(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// An option that was given an empty value; empty: none was.
std::string EmptyOption(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_items_expected_max() == 0) continue;
    const std::vector<std::string>& values = option->results();
    if (std::count(values.begin(), values.end(), "") > 0) {
      return option->get_name();
    }
  }
  return "";
}

// An option that takes one value and was given several times; empty: none was.
std::string RepeatedOption(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 1 && option->count() > 1) {
      return option->get_name();
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
  const std::string nearest = NearestName(std::string(name), LongOptions(app));
  console.Usage(absl::StrCat(
      "unknown option '", TerminalText(name), "'",
      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

int OutputResult(const Console& console, const absl::Status& status) {
  if (status.ok() || ReaderHasGone(console)) return kExitOk;
  console.Say(
      absl::StrCat("standard output: ", TerminalText(status.message())));
  return kExitFailed;
}

}  // namespace

void Console::Say(absl::string_view message) const {
  FdSink(err_fd)
      .Append(absl::StrCat(program, ": ", message, "\n"))
      .IgnoreError();
}

void Console::Usage(absl::string_view message) const {
  Say(absl::StrCat(message, " (", program, " --help tells more)"));
}

std::optional<int> ParseArguments(CLI::App* app,
                                  const std::vector<std::string>& arguments,
                                  const Console& console) {
  app->allow_extras();
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return PrintText(console, app->help());
  } catch (const CLI::CallForVersion& version) {
    return PrintText(console, absl::StrCat(version.what(), "\n"));
  } catch (const CLI::ParseError& error) {
    // An unknown option tells more than what CLI11 misses because of it.
    const std::vector<std::string> known = LongOptions(*app);
    for (const std::string& word : arguments) {
      const std::string name = word.substr(0, word.find('='));
      if (word == "--") break;
      if (word.size() > 2 && word.compare(0, 2, "--") == 0 &&
          std::find(known.begin(), known.end(), name) == known.end()) {
        SayUnknown(*app, word, console);
        return kExitUsage;
      }
    }
    const std::string repeated = RepeatedOption(*app);
    console.Usage(
        repeated.empty()
            ? TerminalText(absl::StrReplaceAll(error.what(), {{"\n", " "}}))
            : absl::StrCat(repeated, ": is given more than once"));
    return kExitUsage;
  }
  const std::string empty = EmptyOption(*app);
  if (!empty.empty()) {
    console.Usage(absl::StrCat(empty, ": expected a value, found ''"));
    return kExitUsage;
  }
  const std::vector<std::string> left = app->remaining();
  if (left.empty()) return std::nullopt;
  SayUnknown(*app, left.front(), console);
  return kExitUsage;
}

int SayResult(const Console& console, absl::string_view name,
              const absl::Status& status, const ReadResult& result) {
  if (!status.ok()) {
    console.Say(absl::StrCat(name, ": ", TerminalText(status.message())));
    return kExitFailed;
  }
  if (result.damages > 0) return kExitFailed;
  if (result.torn) {
    console.Say(absl::StrCat(
        name, ": byte ", result.torn_offset,
        ": the file ends inside a frame; everything before it was read"));
  } else if (!result.has_footer && !result.stopped) {
    console.Say(absl::StrCat(
        name, ": no footer: the run did not end cleanly, or still goes on"));
  }
  return kExitOk;
}

void DamageTeller::Say(const StreamReader::Damage& damage) {
  if (count_++ >= kMaxSaid) return;
  console_->Say(absl::StrCat(name_, ": byte ", damage.offset, ": ",
                             TerminalText(damage.status.message())));
}

DamageTeller::~DamageTeller() {
  if (count_ <= kMaxSaid) return;
  const int more = count_ - kMaxSaid;
  console_->Say(absl::StrCat(
      name_, ": ", more,
      more == 1 ? " more place is damaged" : " more places are damaged"));
}

bool ReaderHasGone(const Console& console) {
  return console.out->last_errno() == EPIPE;
}

int PrintText(const Console& console, absl::string_view text) {
  return OutputResult(console, console.out->Append(text));
}

int FinishOutput(const Console& console, OutputBuffer* output) {
  return OutputResult(console, output->Flush());
}

}  // namespace pymemrun
