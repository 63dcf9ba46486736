// Options with values of a type. Used by the readers' command lines.
#ifndef PYMEMRUN_READERS_OPTIONS_OPTION_VALUES_H_
#define PYMEMRUN_READERS_OPTIONS_OPTION_VALUES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "readers/options/conflicts.h"

namespace pymemrun {

// "4096", "4KiB", "1M", "1.5GiB", see ParseSize().
absl::StatusOr<uint64_t> ParseBytes(absl::string_view text);

// A whole number from `least` to `most`.
absl::StatusOr<uint64_t> ParseNumber(absl::string_view text, uint64_t least,
                                     uint64_t most = UINT64_MAX);

// "'noon' is not a time, ...".
absl::Status IsNot(absl::string_view text, absl::string_view expected);
// "expected a time, found 'noon'".
absl::Status Expected(absl::string_view expected, absl::string_view found);
// "expected svg or csv, found 'png'".
absl::Status ExpectedOneOf(const std::vector<absl::string_view>& names,
                           absl::string_view found);

// Adds an option whose value `parse`, which gives a StatusOr, reads into
// *target. What it refuses is a usage error: "--name: message".
template <typename T, typename Parse>
CLI::Option* AddParsed(CLI::App* app, const std::string& name, T* target,
                       Parse parse, const std::string& value_name,
                       const std::string& help) {
  return app
      ->add_option_function<std::string>(
          name,
          [name, target, parse](const std::string& text) {
            auto value = parse(text);
            if (!value.ok()) {
              throw CLI::ValidationError(name,
                                         std::string(value.status().message()));
            }
            *target = *std::move(value);
          },
          help)
      ->option_text(value_name);
}

// The words that an option takes, and what they mean.
template <typename T>
using Choices = std::vector<std::pair<absl::string_view, T>>;

// What the word means. Fails for a word that is not there.
template <typename T>
absl::StatusOr<T> ParseChoice(absl::string_view text,
                              const Choices<T>& choices) {
  std::vector<absl::string_view> words;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    words.push_back(word);
  }
  return ExpectedOneOf(words, text);
}

// Adds an option whose value is one of some words. The one that *target has is
// the default.
template <typename T>
CLI::Option* AddChoice(CLI::App* app, const std::string& name, T* target,
                       Choices<T> choices, const std::string& value_name,
                       const std::string& help) {
  const auto parse = [choices](absl::string_view text) {
    return ParseChoice(text, choices);
  };
  CLI::Option* const option =
      AddParsed(app, name, target, parse, value_name, help);
  std::string words;
  for (const auto& [word, value] : choices) {
    words.append(words.empty() ? "" : "|").append(word.data(), word.size());
    if (value == *target) option->default_str(std::string(word));
  }
  return option->type_name(words);  // --help-all has it
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OPTIONS_OPTION_VALUES_H_
