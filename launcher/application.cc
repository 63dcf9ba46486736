// pymemrun: runs a Python program as python does, and records its memory. The
// order of things in a run.
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/option_table.h"
#include "launcher/options/options.h"
#include "launcher/preload/delivery.h"
#include "launcher/python/python_choice.h"
#include "launcher/python/python_files.h"
#include "launcher/python/script_file.h"
#include "launcher/python_runtime.h"
#include "launcher/session/message.h"
#include "launcher/session/own_files.h"
#include "launcher/session/trace_start.h"
#include "launcher/session/unasked.h"
#include "launcher/session/user_code.h"
#include "launcher/test_variables.h"
#include "text/nearest_name.h"

namespace pymemrun {
namespace {

constexpr int kUsage = 2;

std::string Variable(const char* name) {
  const char* text = secure_getenv(name);  // nothing in set-user-ID programs
  return text == nullptr ? "" : text;
}

// The path that execve(2) was called with (getauxval(3)), with links in it:
// beside a link may be the virtual environment that pymemrun belongs to.
std::string ExecutedPath() {
  const char* path = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return path == nullptr ? "" : path;
}

std::string CurrentFolder() {
  char folder[PATH_MAX];
  return getcwd(folder, sizeof folder) != nullptr ? folder : "";
}

// A full disk or a closed pipe shows only at the flush.
int Print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) {
    return 0;
  }
  Say(std::string("standard output: ") + std::strerror(errno));
  return 1;
}

// The wishes that do not depend on the command line.
PythonWishes WishesOf(const EmbeddedPython& embedded) {
  return {"",
          Variable("VIRTUAL_ENV"),
          "",
          CurrentFolder(),
          ExecutedPath(),
          embedded.executable,
          Variable("PATH"),
          Variable("PYENV_VERSION"),
          WhyNotTraced};
}

// What the command line says of the Python: by an option, or by what stands in
// the script's place. `pymemrun python3 x.py` runs x.py, and `pymemrun pytest`
// the program of that name, with its Python. The program is looked for beside
// the Python that would run anyway, and then on PATH. If it is found on PATH,
// its own first line says which Python runs.
bool AddWishes(const std::string& version, Delivery delivery,
               CommandLine* command_line, PythonWishes* wishes,
               std::string* error) {
  if (command_line->form != ProgramForm::kScript) return true;
  const std::string word = command_line->target;
  if (NamesInterpreter(word)) {
    const bool is_any = word == "python" || word == "python3";
    if (!is_any && !wishes->option.empty()) {
      *error =
          "--python " + wishes->option + " and " + word + " both name a Python";
      return false;
    }
    if (!is_any) wishes->option = word;
    command_line->python.erase(command_line->python.begin() +
                               command_line->script_at);
    TakeWordsOfInterpreter(command_line->script_at, command_line);
  } else if (NamesProgram(word)) {
    PythonChoice choice;
    if (!ChoosePython(*wishes, version, delivery, &choice, error)) return false;
    const std::string bin = DirectoryOf(choice.file);
    const std::string found = FindProgram(word, bin, wishes->path, error);
    if (found.empty()) return false;
    command_line->target = command_line->python[command_line->script_at] =
        found;
    if (DirectoryOf(found) != bin && wishes->option.empty()) {
      wishes->option = InterpreterOf(found);
    }
  }
  if (command_line->form == ProgramForm::kScript) {
    wishes->script = command_line->target;
  }
  return true;
}

// For a Python that is not embedded, the version is read from its files.
std::string VersionText(const PythonChoice& choice) {
  const EmbeddedPython embedded = PythonEmbedded();
  const std::string version =
      choice.embedded ? embedded.version : PythonVersionOf(choice.file);
  const std::string traced = TracedVersions();
  return std::string("pymemrun ") + PYMEMRUN_VERSION + " (CPython " +
         (version.empty() ? "" : version + ", ") + choice.program + ", " +
         (choice.embedded ? embedded.link : "preloaded") + ")\n" +
         (traced.empty() ? "" : "preloads into CPython " + traced + "\n");
}

constexpr char kActivationHelp[] =
    "pymemrun env prints shell commands that set LD_PRELOAD and "
    "PYMEMRUN_PRELOADED.\nEvery CPython started with these variables is "
    "traced, "
    "and every CPython that it\nstarts. Other programs are not affected.\n\n"
    "Usage: eval \"$(pymemrun env [options])\"\n\n"
    "Without -o the run files are run.{pid}.pb. The options are those of "
    "pymemrun;\n`pymemrun --help-all` lists them.\n\n"
    "Examples:\n"
    "  eval \"$(pymemrun env --light -o '/tmp/run.{pid}.pb')\"\n"
    "  unset LD_PRELOAD PYMEMRUN_PRELOADED    trace no further programs\n";

// `pymemrun env [options]`.
int PrintActivation(int argc, char** argv) {
  Options options;
  CommandLine command_line;
  std::string text, error;
  if (!ReadOptions(argc, argv, secure_getenv, &options, &command_line,
                   &error)) {
    // It is said.
  } else if (options.help_all) {
    return Print(AllHelpText());
  } else if (options.help ||
             command_line.python == std::vector<std::string>{"-h"}) {
    return Print(kActivationHelp);
  } else if (!command_line.python.empty()) {
    error = "env takes only options, found '" + command_line.python[0] + "'";
  } else if (ActivationCommands(command_line, &text, &error)) {
    return Print(text);
  }
  Say(ShortWords(error));
  return kUsage;
}

// `pymemrun kernel COMMAND [options]`: the package's program, in the Python
// that is to be the kernel's. It reads the words. Only --python is looked at
// here, as it decides which Python that is.
int RunKernelCommand(int argc, char** argv) {
  constexpr std::string_view kPython = "--python";
  const EmbeddedPython embedded = PythonEmbedded();
  PythonWishes wishes = WishesOf(embedded);
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == kPython && i + 1 < argc) {
      wishes.option = argv[i + 1];
    } else if (word.starts_with(std::string(kPython) + "=")) {
      wishes.option = word.substr(kPython.size() + 1);
    }
  }
  PythonChoice choice;
  std::string error;
  if (!ChoosePython(wishes, embedded.version, Delivery::kAuto, &choice,
                    &error)) {
    Say(error);
    return kUsage;
  }
  if (!choice.refused.empty()) Say(choice.refused);
  const std::string package = FindPackage();
  const std::string file = choice.file.empty() ? choice.program : choice.file;
  const std::string program = package + "/jupyter/kernel_spec.py";
  if (package.empty()) {
    error = "kernel: the Python package pymemrun is missing";
  } else {
    const std::string launcher = OwnPath();
    std::vector<const char*> words = {choice.program.c_str(), program.c_str(),
                                      launcher.c_str()};
    words.insert(words.end(), argv + 1, argv + argc);
    words.push_back(nullptr);
    execv(file.c_str(), const_cast<char**>(words.data()));
    error = file + ": " + std::strerror(errno);
  }
  Say(error);
  return kUsage;
}

// Reads the options, chooses the python, starts tracing where user code will
// run, and runs the interpreter. Returns the exit status: the program's own, 2
// for wrong usage of pymemrun. REQUIRES: called first in main, by one thread.
int RunApplication(int argc, char** argv) {
  RememberStandardError();
  // Commands, not options: only as the very first word, so scripts of these
  // names run as ./env.
  if (argc > 1 && std::strcmp(argv[1], "env") == 0) {
    return PrintActivation(argc - 1, argv + 1);
  }
  if (argc > 1 && std::strcmp(argv[1], "kernel") == 0) {
    return RunKernelCommand(argc - 1, argv + 1);
  }
  // Both live until the process ends, the tracer points into them. Static, so
  // that a leak checker, which may be preloaded, finds who holds them.
  static Options* const options = new Options;
  static CommandLine* const command_line = new CommandLine;
  const EmbeddedPython embedded = PythonEmbedded();
  PythonStart start;
  std::string error;
  PythonWishes wishes = WishesOf(embedded);
  TestVariables test;
  bool usable =
      ReadTestVariables(OwnPath(), &test, &error) &&
      ReadOptions(argc, argv, secure_getenv, options, command_line, &error);
  if (usable && options->help_all) return Print(AllHelpText());
  if (usable && options->help) return Print(HelpText());
  wishes.option = options->python;
  PythonChoice choice;
  usable = usable && AddWishes(embedded.version, options->delivery,
                               command_line, &wishes, &error);
  if (!usable || !ChoosePython(wishes, embedded.version, options->delivery,
                               &choice, &error)) {
    Say(ShortWords(error));
    return kUsage;
  }
  if (options->version) return Print(VersionText(choice));
  if (!choice.refused.empty()) Say(choice.refused);
  if (!options->quiet && !choice.preferred.empty()) Say(choice.preferred);
  // Limits so low that this program, with an interpreter and a tracer in it,
  // might not start: a plain Python may.
  if (HasUserCode(*command_line) && FitsPlainPythonOnly()) {
    Say(std::string(WhyNoRoom()) + kRunsUntraced);
    PythonChoice plain = choice;
    if (choice.embedded) plain.file = embedded.executable;
    RunPreloaded(plain, *command_line, false);  // else ours is tried
  }
  if (!choice.embedded) {
    Say(RunPreloaded(choice, *command_line, HasUserCode(*command_line)));
    return kUsage;
  }
  start.program = choice.program;
  start.arguments = command_line->python;
  if (test.executable_is_ours) start.test_executable = OwnPath();
  const TraceRequest request = {options, command_line, start.program,
                                embedded.version, test.collector};
  return RunPython(start, HasUserCode(*command_line) ? &request : nullptr);
}

}  // namespace
}  // namespace pymemrun

int main(int argc, char** argv) { return pymemrun::RunApplication(argc, argv); }
