// Splits the argument vector of `pymemrun` into our options and the
// interpreter's arguments, by CPython's own grammar. Knows the syntax only;
// options.h knows what our options mean.
#ifndef PYMEMRUN_LAUNCHER_OPTIONS_COMMAND_LINE_H_
#define PYMEMRUN_LAUNCHER_OPTIONS_COMMAND_LINE_H_

#include <string>
#include <vector>

namespace pymemrun {

// One of our options as the grammar sees it: `--name`, with a value or not.
struct OptionName {
  const char* name;  // without the dashes
  bool takes_value;
  bool has_letter = false;  // -n stands for --name. REQUIRES: takes_value
};

struct OwnArgument {
  size_t option;      // index into the names given to SplitCommandLine
  std::string value;  // empty for flags
};

enum class ProgramForm {
  kScript,  // a file, directory or zip
  kModule,  // -m
  kCode,    // -c
  kStdin,   // `-`, or nothing at all
  kNone,    // no user code: the interpreter prints (-h, -V), or refuses
};

struct CommandLine {
  std::vector<OwnArgument> own;
  // The interpreter's arguments, without argv[0]: what `python3` would be
  // given.
  std::vector<std::string> python;
  ProgramForm form = ProgramForm::kStdin;
  std::string target;    // path, module or code, as the form says
  size_t script_at = 0;  // where a script's path is in `python`
};

// Splits argv[1..argc). Short options are the interpreter's, in clusters and
// with attached values, except the letters of our options. Ours may stand
// between the interpreter's, also after a `--`, which is dropped; a second `--`
// is the interpreter's own. From the script, -m, -c or - on nothing is read.
// On success returns true. Returns false, with one line in *error, for a long
// option that neither side knows or whose value is missing.
bool SplitCommandLine(int argc, const char* const* argv,
                      const std::vector<OptionName>& names,
                      CommandLine* command_line, std::string* error);

// The same, where the script's path is a Python's: the words behind it are that
// interpreter's arguments, none is ours. REQUIRES: the form is kScript.
void TakeWordsOfInterpreter(CommandLine* command_line);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTIONS_COMMAND_LINE_H_
