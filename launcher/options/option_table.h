// The table of our options. An option is one row: its place in the help, its
// name, and how its value is read. Used by options.cc and help_text.cc.
#ifndef PYMEMRUN_LAUNCHER_OPTIONS_OPTION_TABLE_H_
#define PYMEMRUN_LAUNCHER_OPTIONS_OPTION_TABLE_H_

#include <span>
#include <string>
#include <string_view>

#include "launcher/options/options.h"

namespace pymemrun {

// What must hold for an option to have an effect, and which option brings it.
struct Condition {
  const char* option;
  bool (*holds)(const Options& options);
};

// Traits of an option, to be or-ed.
inline constexpr unsigned kUsual = 1;       // it is on the first help screen
inline constexpr unsigned kRepeatable = 2;  // its variable separates by `:`
inline constexpr unsigned kHasLetter = 4;   // -x is short for --xyz VALUE
inline constexpr unsigned kNoVariable = 8;  // it has no PYMEMRUN_* variable
// It stands for several others, and each of those, if given too, wins.
inline constexpr unsigned kPreset = 16;

struct OptionRow {
  const char* group;  // its heading in --help-all; rows of a group are together
  const char* name;
  const char* value;  // what the help calls the value; nullptr: a flag
  const char* help;
  // Stores `value` ("" for flags). Returns false for a value that is not one;
  // `expected` then says what is.
  bool (*read)(const std::string& value, Options* options);
  const char* expected = "";
  const Condition* needs = nullptr;
  unsigned traits = 0;

  bool Is(unsigned trait) const { return (traits & trait) != 0; }
};

std::span<const OptionRow> OptionTable();

// The help that pymemrun prints, made from the option table.

// The name of the option's value on the first screen, which has no room for the
// words that it may be; empty: it has none.
std::string_view ShortValue(const OptionRow& row);

// What --help prints: usage, the usual options and examples, on a screen of 24
// lines and 80 columns.
std::string HelpText();

// What --help-all prints: every option, by groups, at most 80 columns wide.
std::string AllHelpText();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTIONS_OPTION_TABLE_H_
