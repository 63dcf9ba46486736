// Splits the arguments of `pymemrun` into its own options and those of the
// interpreter, by the grammar of CPython. Knows only syntax; options.h has the
// meaning of options.
#ifndef PYMEMRUN_LAUNCHER_OPTIONS_COMMAND_LINE_H_
#define PYMEMRUN_LAUNCHER_OPTIONS_COMMAND_LINE_H_

#include <string>
#include <vector>

namespace pymemrun {

// An option of pymemrun for the grammar: `--name`, with or without a value.
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
  kStdin,   // `-`, or no argument
  kNone,    // no user code: -h, -V, or an error
};

struct CommandLine {
  std::vector<OwnArgument> own;
  // Arguments of the interpreter, without argv[0].
  std::vector<std::string> python;
  ProgramForm form = ProgramForm::kStdin;
  std::string target;    // path, module or code, by `form`
  size_t script_at = 0;  // index of the script in `python`
};

// Splits argv[1..argc). Short options belong to the interpreter, in clusters
// and with attached values, except the letters of pymemrun. Options of pymemrun
// may be among those of the interpreter, also after a `--`, which is removed; a
// second `--` belongs to the interpreter. The script, -m, -c or - ends the
// options. Returns false with one line in *error for an unknown long option or
// a missing value.
bool SplitCommandLine(int argc, const char* const* argv,
                      const std::vector<OptionName>& names,
                      CommandLine* command_line, std::string* error);

// Corrects what is said of the program: the words from python[at] on are all of
// a Python interpreter's command line, and none is an option of pymemrun. What
// the interpreter will refuse has the form kNone.
void TakeWordsOfInterpreter(size_t at, CommandLine* command_line);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTIONS_COMMAND_LINE_H_
