#include "launcher/options/options.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "launcher/options/option_table.h"

namespace pymemrun {
namespace {

std::string VariableName(const OptionRow& row) {
  std::string name = std::string("PYMEMRUN_") + row.name;
  for (char& c : name) c = c == '-' ? '_' : std::toupper(c);
  return name;
}

bool Read(const OptionRow& row, const std::string& origin,
          const std::string& value, Options* options, std::string* error) {
  if (row.read(value, options)) return true;
  *error = origin + ": '" + value + "' is not " + row.expected;
  return false;
}

// The usual words for yes and no. An empty variable is as one that is not set.
bool ReadFlagVariable(const OptionRow& row, const std::string& name,
                      std::string value, Options* options, std::string* error) {
  if (value.empty() || value == "0" || value == "no" || value == "false") {
    return true;
  }
  if (value == "1" || value == "yes" || value == "true") {
    return row.read("", options);
  }
  *error = name + ": '" + value + "' is not 0 or 1";
  return false;
}

// A variable of a repeatable option is a list like $PATH; empty pieces are
// skipped.
bool ReadVariable(const OptionRow& row, const Environment& environment,
                  Options* options, std::string* error) {
  std::string name = VariableName(row);
  const char* text = environment(name.c_str());
  if (text == nullptr) return true;
  if (row.value == nullptr) {
    return ReadFlagVariable(row, name, text, options, error);
  }
  std::string_view rest = text;
  if (rest.empty()) return true;  // as if it were not set
  if (!row.Is(kRepeatable)) return Read(row, name, text, options, error);
  while (!rest.empty()) {
    size_t colon = rest.find(':');
    std::string piece(rest.substr(0, colon));
    if (!piece.empty() && !Read(row, name, piece, options, error)) return false;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return true;
}

// An option that somebody writes for this run must have an effect; a variable
// may stand for many runs. So only options of the command line are checked.
bool CheckEffect(const std::vector<OwnArgument>& given, const Options& options,
                 std::string* error) {
  for (const OwnArgument& argument : given) {
    const OptionRow& row = OptionTable()[argument.option];
    if (row.needs == nullptr || row.needs->holds(options)) continue;
    *error = std::string("--") + row.name + " has no effect without " +
             row.needs->option;
    return false;
  }
  return true;
}

// Those of options that the command line does not have. A preset on the command
// line also hides the variables of other presets.
bool ReadVariables(const std::vector<OwnArgument>& given,
                   const Environment& environment, Options* options,
                   std::string* error) {
  const auto is_given = [&given](const auto& matches) {
    return std::any_of(
        given.begin(), given.end(),
        [&](const OwnArgument& argument) { return matches(argument.option); });
  };
  const bool has_preset =
      is_given([](size_t option) { return OptionTable()[option].Is(kPreset); });
  for (size_t i = 0; i < OptionTable().size(); ++i) {
    const OptionRow& row = OptionTable()[i];
    if (is_given([i](size_t option) { return option == i; }) ||
        row.Is(kNoVariable) || (has_preset && row.Is(kPreset))) {
      continue;
    }
    if (!ReadVariable(row, environment, options, error)) return false;
  }
  return true;
}

// The command line's; presets first, so that their order does not count.
bool ReadGiven(const std::vector<OwnArgument>& given, Options* options,
               std::string* error) {
  for (const bool presets : {true, false}) {
    const OptionRow* preset = nullptr;
    for (const OwnArgument& argument : given) {
      const OptionRow& row = OptionTable()[argument.option];
      if (row.Is(kPreset) != presets) continue;
      const std::string origin = std::string("--") + row.name;
      if (!Read(row, origin, argument.value, options, error)) return false;
      if (!presets) continue;
      if (preset != nullptr && preset != &row) {
        *error =
            "give one of --" + std::string(preset->name) + " and " + origin;
        return false;
      }
      preset = &row;
    }
  }
  return true;
}

}  // namespace

// Defaults, variables, the command line: each overrides what was there before.
bool ReadOptions(int argc, const char* const* argv,
                 const Environment& environment, Options* options,
                 CommandLine* command_line, std::string* error) {
  std::vector<OptionName> names;
  for (const OptionRow& row : OptionTable()) {
    names.push_back({row.name, row.value != nullptr, row.Is(kHasLetter)});
  }
  if (!SplitCommandLine(argc, argv, names, command_line, error)) return false;
  options->min_drss_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (!ReadVariables(command_line->own, environment, options, error)) {
    return false;
  }
  if (!ReadGiven(command_line->own, options, error)) return false;
  const bool usable = options->help || options->help_all || options->version ||
                      CheckEffect(command_line->own, *options, error);
  if (!RecordsHeap(options->heap)) options->heap.native = false;
  // With a threshold few events are logged, so their stacks cost little. A
  // report needs them to name the user's own line behind a library's.
  options->stacks |= options->min_drss_bytes > 0;
  return usable;
}

}  // namespace pymemrun
