#include "launcher/preload/activation.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "launcher/options/option_table.h"

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

// AddressSanitizer refuses to start if another library comes before it. In all
// other cases ours is first, so that calls reach it first.
std::string PreloadsWith(const std::string& object, std::string_view users) {
  if (users.empty()) return object;
  const bool is_sanitizer = users.find("san.so") != std::string_view::npos;
  return is_sanitizer ? std::string(users) + ":" + object
                      : object + ":" + std::string(users);
}

// A shell or a build starts many Pythons at a time. None of them may print an
// end report into its output, and each needs a file of its own.
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

// --output and --force were for this process's file. Others get the pattern.
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

std::string PreloadsWithout(std::string_view list, std::string_view object) {
  std::string rest;
  while (!list.empty()) {
    const size_t end = list.find_first_of(kPreloadSeparators);
    const std::string_view one = list.substr(0, end);
    list.remove_prefix(one.size() + (end != std::string_view::npos));
    if (one.empty() || one == object) continue;
    if (!rest.empty()) rest += ':';
    rest += one;
  }
  return rest;
}

// The text is changed in place: setenv(3) would leave the old one in the memory
// that /proc/self/environ shows (proc_pid_environ(5)). Programs that look
// there, or pass it on, must not find pymemrun.
void LeaveOutOfPreloads(const std::string& object) {
  char* const list = getenv(kPreloadVariable);
  if (list == nullptr) return;
  const std::string rest = PreloadsWithout(list, object);
  if (rest.empty()) return ForgetVariable(kPreloadVariable);
  // It is shorter, or the same.
  const size_t size = std::strlen(list);
  std::memset(list, 0, size);
  rest.copy(list, std::min(size, rest.size()));
}

// The new name may be longer, so it cannot be written in place.
void ExchangeInPreloads(const std::string& object, const std::string& other) {
  const char* const list = getenv(kPreloadVariable);
  if (list == nullptr) return;
  std::string text = list;
  const size_t at = text.find(object);
  if (at == std::string::npos) return;
  text.replace(at, object.size(), other);
  setenv(kPreloadVariable, text.c_str(), 1);
}

// The text "NAME=value" begins one byte and the name before the value.
void ForgetVariable(const char* name) {
  char* const value = getenv(name);
  if (value == nullptr) return;
  unsetenv(name);
  char* const text = value - std::strlen(name) - 1;
  std::memset(text, 0, std::strlen(text));
}

namespace {

constexpr std::string_view kOnce = "once", kStays = "stays";

// Strings as netstrings: length in bytes, a colon, the bytes.
bool ReadStrings(std::string_view text, std::vector<std::string>* strings) {
  while (!text.empty()) {
    size_t size = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, size);
    if (error != std::errc() || at == end || *at != ':') return false;
    text.remove_prefix(static_cast<size_t>(at - text.data()) + 1);
    if (text.size() < size) return false;
    strings->emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return true;
}

void AddString(std::string_view string, std::string* text) {
  text->append(std::to_string(string.size())).append(":").append(string);
}

}  // namespace

std::string HandoverText(const Handover& handover) {
  std::string text;
  AddString(handover.once ? kOnce : kStays, &text);
  for (const std::string& option : handover.options) AddString(option, &text);
  return text;
}

bool ReadHandoverText(std::string_view text, Handover* handover) {
  std::vector<std::string> strings;
  if (!ReadStrings(text, &strings) || strings.empty()) return false;
  handover->once = strings[0] == kOnce;
  handover->options.assign(strings.begin() + 1, strings.end());
  return handover->once || strings[0] == kStays;
}

}  // namespace pymemrun
