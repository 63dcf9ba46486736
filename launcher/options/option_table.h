// The option table: one row per option, with its place in the help, its name,
// and how its value is read.
#ifndef PYMEMRUN_LAUNCHER_OPTIONS_OPTION_TABLE_H_
#define PYMEMRUN_LAUNCHER_OPTIONS_OPTION_TABLE_H_

#include <span>
#include <string>
#include <string_view>

#include "launcher/options/options.h"

namespace pymemrun {

// A condition without which an option has no effect, and the option that makes
// it true.
struct Condition {
  const char* option;
  bool (*holds)(const Options& options);
};

// Traits of an option, combined by |.
inline constexpr unsigned kUsual = 1;       // it is on the first help screen
inline constexpr unsigned kRepeatable = 2;  // its variable separates by `:`
inline constexpr unsigned kHasLetter = 4;   // -x is short for --xyz VALUE
inline constexpr unsigned kNoVariable = 8;  // it has no PYMEMRUN_* variable
// A preset for several other options; those given, too, take precedence.
inline constexpr unsigned kPreset = 16;

struct OptionRow {
  const char* group;  // heading in --help-all; groups are contiguous
  const char* name;
  const char* value;  // name of the value in the help; nullptr: a flag
  const char* help;
  // Stores `value` ("" for flags). Returns false for an invalid value;
  // `expected` then describes valid ones.
  bool (*read)(const std::string& value, Options* options);
  const char* expected = "";
  const Condition* needs = nullptr;
  unsigned traits = 0;

  bool Is(unsigned trait) const { return (traits & trait) != 0; }
};

std::span<const OptionRow> OptionTable();

// Short name of the value for the first screen of help; empty for a flag.
std::string_view ShortValue(const OptionRow& row);

// Text of --help: usage, usual options and examples, in 24 lines of at most 80
// columns.
std::string HelpText();

// Text of --help-all: all options by group, in lines of at most 80 columns.
std::string AllHelpText();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTIONS_OPTION_TABLE_H_
