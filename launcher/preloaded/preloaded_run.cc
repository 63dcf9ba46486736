#include <Python.h>
// Python.h wants to be first.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/options.h"
#include "launcher/preload/activation.h"
#include "launcher/preload/handover.h"
#include "launcher/preload/preload_list.h"
#include "launcher/preloaded/limits.h"
#include "launcher/preloaded/preloaded_run.h"
#include "launcher/python/python_files.h"
#include "launcher/session/message.h"
#include "launcher/session/own_files.h"
#include "launcher/session/pending_interrupt.h"
#include "launcher/session/trace_start.h"
#include "launcher/session/user_code.h"
#include "tracer/cpython/abilities.h"
#include "tracer/cpython/lifetime.h"
#include "tracer/cpython/replaced_functions.h"

namespace pymemrun {
namespace {

constexpr int kUsage = 2;
constexpr char kShim[] = "/pymemrun-preload.so";

// Once the runtime is there, it keeps what is to be called at its end.
int OnAudit(const char* event, PyObject*, void*) {
  if (std::strncmp(event, "cpython.run_", 12) == 0) {
    Py_AtExit(HoldInterrupt);
    PymemrunUnlinkAuditHook(OnAudit);
  }
  return 0;
}

// Whether this object was made for the interpreter that it is in. The launcher
// goes by the names of files.
bool IsForInterpreter() {
  if (kAnyPython) return true;
  using Version = const char*();
  auto* const get =
      reinterpret_cast<Version*>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  const std::string_view version = get == nullptr ? "" : get();
  const std::string ours =
      std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION);
  return VersionNumbers(version, 2) == ours &&
         (version.find("free-threading") != std::string_view::npos) ==
             kFreeThreaded;
}

// Starts the program anew with what finds the right object. Returns where that
// fails.
void GiveWay(const std::string& own, char** argv) {
  ExchangeInPreloads(own, DirectoryOf(own) + kShim);
  execv(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), argv);
  Say(std::string("the interpreter cannot be started anew: ") +
      std::strerror(errno) + kRunsUntraced);
}

// What is in our variables and options, and how the interpreter was called.
std::vector<const char*> CommandLineOf(const std::vector<std::string>& ours,
                                       int argc, char** argv) {
  std::vector<const char*> words = {"pymemrun"};
  for (const std::string& word : ours) words.push_back(word.c_str());
  words.push_back("--");
  words.insert(words.end(), argv + 1, argv + argc);
  return words;
}

// `python -m pymemrun` starts the launcher, which makes a run of its own.
bool StartsLauncher(const CommandLine& command_line) {
  return command_line.form == ProgramForm::kModule &&
         command_line.target == "pymemrun";
}

// Why there is no run. A program that nobody started by pymemrun runs on.
void SayNoRun(const Handover& told, const std::string& why) {
  Say(told.once ? why : why + kRunsUntraced);
}

// Whether the program may run.
bool StartPreloaded(const Handover& told, int argc, char** argv) {
  // Both live until the process ends, the tracer points into them.
  static Options* const options = new Options;
  static CommandLine* const command_line = new CommandLine;
  const std::vector<const char*> words =
      CommandLineOf(told.options, argc, argv);
  std::string error;
  Limits limits;
  if (!ReadOptions(static_cast<int>(words.size()), words.data(), secure_getenv,
                   options, command_line, &error)) {
    SayNoRun(told, error);
    return false;
  }
  if (!HasUserCode(*command_line) || StartsLauncher(*command_line)) return true;
  std::string version = Py_GetVersion();
  version = version.substr(0, version.find(' '));
  if (!KeepWithinLimits(version, options, &limits, &error)) {
    SayNoRun(told, error);
    return false;
  }
  // Who started it by other means did not ask, and may read standard error.
  if (told.once && !limits.notice.empty()) Say(limits.notice);
  const TraceRequest request = {
      options, command_line,        argv[0],   version, "",
      true,    limits.not_recorded, !told.once};
  PymemrunReplaceFunctions();
  if (!StartTracing(request)) return false;
  PySys_AddAuditHook(OnAudit, nullptr);
  const std::string output = StartedProgramsOutput();
  // Where it was told by the environment, that stays.
  if (told.once && !output.empty()) {
    TraceStartedPrograms(DirectoryOf(OwnPath()) + kShim, *command_line, output);
  }
  return true;
}

}  // namespace

int RunPreloadedMain(ProgramMain* program, int argc, char** argv,
                     char** environment) {
  const char* const handover = getenv(kHandoverVariable);
  Handover told;
  if (handover == nullptr || argc < 1) return program(argc, argv, environment);
  RememberStandardError();
  if (!ReadHandoverText(handover, &told)) {
    Say(std::string(kHandoverVariable) + " is not as `pymemrun env` prints it" +
        kRunsUntraced);
    return program(argc, argv, environment);
  }
  const std::string own = OwnPath();
  if (!IsForInterpreter()) {
    GiveWay(own, argv);
    return program(argc, argv, environment);
  }
  if (told.once) {
    ForgetVariable(kHandoverVariable);
    LeaveOutOfPreloads(own);
  } else {
    ExchangeInPreloads(own, DirectoryOf(own) + kShim);
  }
  // Whom nobody started by pymemrun runs in any case.
  if (!StartPreloaded(told, argc, argv) && told.once) return kUsage;
  const int status = program(argc, argv, environ);
  LetInterruptGo();
  return status;
}

}  // namespace pymemrun
