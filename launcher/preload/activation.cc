#include "launcher/preload/activation.h"

#include <algorithm>
#include <cstdlib>

#include "launcher/options/option_table.h"
#include "launcher/preload/handover.h"
#include "launcher/preload/preload_list.h"

namespace pymemrun {
namespace {

// Options that were for the launcher alone.
bool IsForLauncher(std::string_view name) {
  return name == "python" || name == "delivery";
}

}  // namespace

std::vector<std::string> WordsFor(const CommandLine& command_line) {
  std::vector<std::string> words;
  for (const OwnArgument& argument : command_line.own) {
    const OptionRow& row = OptionTable()[argument.option];
    if (IsForLauncher(row.name)) continue;
    words.push_back(std::string("--") + row.name);
    if (row.value != nullptr) words.back() += "=" + argument.value;
  }
  return words;
}

std::string PreloadsWith(const std::string& object, std::string_view users) {
  if (users.empty()) return object;
  const bool is_sanitizer = users.find("san.so") != std::string_view::npos;
  return is_sanitizer ? std::string(users) + ":" + object
                      : object + ":" + std::string(users);
}

std::string HandoverForMany(const CommandLine& command_line,
                            const std::string& output) {
  std::vector<std::string> words = WordsFor(command_line);
  const auto has = [&](std::string_view option) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      return word.starts_with(option);
    });
  };
  if (!has("--output=")) words.push_back("--output=" + output);
  if (!has("--quiet")) words.push_back("--quiet");
  return HandoverText({false, words});
}

void TraceStartedPrograms(const std::string& shim,
                          const CommandLine& command_line,
                          const std::string& output) {
  CommandLine without = command_line;
  std::erase_if(without.own, [](const OwnArgument& argument) {
    const std::string_view name = OptionTable()[argument.option].name;
    return name == "output" || name == "force";
  });
  const char* const users = getenv(kPreloadVariable);
  setenv(kPreloadVariable,
         PreloadsWith(shim, users == nullptr ? "" : users).c_str(), 1);
  setenv(kHandoverVariable, HandoverForMany(without, output).c_str(), 1);
}

}  // namespace pymemrun
