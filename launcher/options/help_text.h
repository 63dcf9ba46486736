// The help that pymemrun prints, made from the option table.
#ifndef PYMEMRUN_LAUNCHER_OPTIONS_HELP_TEXT_H_
#define PYMEMRUN_LAUNCHER_OPTIONS_HELP_TEXT_H_

#include <string>
#include <string_view>

#include "launcher/options/option_table.h"

namespace pymemrun {

// The name of the option's value on the first screen, which has no room for the
// words that it may be; empty: it has none.
std::string_view ShortValue(const OptionRow& row);

// What --help prints: usage, the usual options and examples, on a screen of 24
// lines and 80 columns.
std::string HelpText();

// What --help-all prints: every option, by groups, at most 80 columns wide.
std::string AllHelpText();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTIONS_HELP_TEXT_H_
