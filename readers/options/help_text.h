// What --help and --help-all print.
#ifndef PYMEMRUN_READERS_OPTIONS_HELP_TEXT_H_
#define PYMEMRUN_READERS_OPTIONS_HELP_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace pymemrun {

// The group of the options that --help leaves out, to fit a screen of 24 x 80.
inline constexpr char kMoreOptions[] = "More options";
// Puts all options but these into that group.
void SetUsualOptions(CLI::App* app, const std::vector<std::string>& names);

// What the program does, its usage, its options, 80 characters wide. An empty
// line stands between paragraphs of the description. Not `all`: of these the
// first, of the options the usual ones, without what they do not go with.
std::string HelpText(CLI::App* app, bool all);

// A row of two columns, 80 characters wide: a name, and what it means.
std::string HelpRow(const std::string& name, const std::string& meaning,
                    size_t name_width = 21);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OPTIONS_HELP_TEXT_H_
