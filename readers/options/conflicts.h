// Which options go together: declared where they are added, asked while they
// are parsed, and said in --help-all.
#ifndef PYMEMRUN_READERS_OPTIONS_CONFLICTS_H_
#define PYMEMRUN_READERS_OPTIONS_CONFLICTS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace pymemrun {

// All name options that were added before: "--csv", or one that has a value of
// some, "--by task|module". What breaks a rule is a usage error that names
// both.

// Each of `these` goes with none of `others`. `why`: where their names do not
// tell.
void Exclude(CLI::App* app, const std::vector<std::string>& these,
             const std::vector<std::string>& others,
             const std::string& why = "");
// At most one of these may be given.
void ExcludeEachOther(CLI::App* app, const std::vector<std::string>& names);
// Each of `these` needs one of the options, "--parents|--children" or
// "--of rss|heap". One that was not given has its default, see AddChoice().
void Need(CLI::App* app, const std::vector<std::string>& these,
          const std::string& needed);

// Whether the option goes with what has been parsed.
bool GoesWithGiven(CLI::App* app, const CLI::Option& option);

// Whether an option, or one of its values, is what was parsed. One that was not
// given has its default.
bool IsChosen(const CLI::App& app, const std::string& choice);

// A sentence that --help-all has behind the option's text, after the values, if
// any: "needs a run.", of "--by task|module".
void AddNote(CLI::App* app, const std::string& choice, const std::string& note);
// All that is to be said there of the option: what it does not go with and what
// it needs, and its notes; empty, or begins with a space.
std::string NotesOf(CLI::App* app, CLI::Option* option);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OPTIONS_CONFLICTS_H_
