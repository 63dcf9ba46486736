// The first of our code to run in an interpreter that this shared object is
// preloaded into: libc's function that calls main. Then the launcher's work
// where the interpreter is not part of pymemrun.

// Python.h wants to be first.
#include <Python.h>
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
#include "launcher/python/python_files.h"
#include "launcher/session/exit_report.h"
#include "launcher/session/message.h"
#include "launcher/session/own_files.h"
#include "launcher/session/trace_start.h"
#include "launcher/session/user_code.h"
#include "tracer/cpython/abilities.h"
#include "tracer/cpython/lifetime.h"
#include "tracer/cpython/replaced_functions.h"

namespace pymemrun {
namespace {

// What cannot be recorded of the interpreter that this object was made for.
struct Limits {
  std::string not_recorded;  // what, and why; empty: all can be
  std::string notice;        // one line that says so; empty: nothing to say
};

// Coroutines of old versions, and of those that are not known, tell nothing.
void LeaveOutTasks(const std::string& why, Options* options, Limits* limits) {
  if (!options->traces.has(Trace::kTasks)) return;
  options->traces.Set(Trace::kTasks, false);
  limits->notice += limits->notice.empty() ? "--trace tasks: " + why : "";
  limits->notice += "; task steps are not recorded";
}

void LeaveOutGil(const std::string& why, bool free_threaded, Options* options,
                 Limits* limits) {
  if (!options->traces.has(Trace::kGil)) return;
  options->traces.Set(Trace::kGil, false);
  limits->notice += limits->notice.empty() ? "--trace gil: " + why : "";
  limits->notice +=
      free_threaded ? "; no waits for its locks" : "; no GIL events";
}

// Calls cannot be traced, and of an interpreter that nothing is known of no
// heap but C code's. `free_threaded`: that is why.
bool LeaveOutCalls(const std::string& why, bool free_threaded, Options* options,
                   Limits* limits, std::string* error) {
  const bool only_calls =
      options->traces.has(Trace::kCalls) &&
      !options->traces.has_any(
          {Trace::kPages, Trace::kCounters, Trace::kStates, Trace::kGil});
  if (options->trace_given && only_calls) {
    *error = "--trace calls: " + why;
    return false;
  }
  if (kAnyPython) {
    options->heap.domains = 0;
    options->heap.native = options->heap.mode != HeapMode::kOff;
    limits->not_recorded = "Python's calls, stacks and heap: " + why;
    limits->notice = why + ": recording only pages and native heap";
  } else {
    limits->not_recorded = "calls: " + why;
    if (options->traces.has(Trace::kCalls)) {
      limits->notice = why + ": recording pages and heap, no calls";
    }
  }
  options->traces.Set(Trace::kCalls, false);
  if (kAnyPython) LeaveOutGil(why, free_threaded, options, limits);
  LeaveOutTasks(why, options, limits);
  return true;
}

// Takes out of `options` what cannot be recorded of CPython `version`. False,
// with one line in *error, where nothing else was asked for.
bool KeepWithinLimits(const std::string& version, Options* options,
                      Limits* limits, std::string* error) {
  const std::string name = "CPython " + VersionNumbers(version, 2);
  if (!kTracesCalls) {
    const bool free_threaded =
        std::string_view(Py_GetVersion()).find("free-threading") !=
        std::string_view::npos;
    const char* const is = free_threaded
                               ? " is free-threaded"
                               : " is newer than this pymemrun supports";
    return LeaveOutCalls(name + is, free_threaded, options, limits, error);
  }
  if (!kTracesTasks) LeaveOutTasks(name + " is too old", options, limits);
  return true;
}

constexpr int kUsage = 2;
constexpr char kShim[] = "/pymemrun-preload.so";

// CPython raises "cpython.run_file", "cpython.run_module" and so on just before
// the user's code. By then the runtime exists, which Py_AtExit() needs.
// Functions registered first are called last, so this one is. It is needed
// once: the hook removes itself.
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
  Say(std::string("the interpreter cannot be restarted: ") +
      std::strerror(errno) + kRunsUntraced);
}

// Reads what is in our variables and options, and how the interpreter was
// called. These two are read apart: `--version` is an option of both.
bool ReadWords(const std::vector<std::string>& ours, int argc, char** argv,
               Options* options, CommandLine* command_line,
               std::string* error) {
  std::vector<const char*> words = {"pymemrun"};
  for (const std::string& word : ours) words.push_back(word.c_str());
  if (!ReadOptions(static_cast<int>(words.size()), words.data(), secure_getenv,
                   options, command_line, error)) {
    return false;
  }
  command_line->python.assign(argv + 1, argv + argc);
  TakeWordsOfInterpreter(0, command_line);
  return true;
}

// `python -m pymemrun` starts the launcher, which makes a run of its own.
bool StartsLauncher(const CommandLine& command_line) {
  return command_line.form == ProgramForm::kModule &&
         command_line.target == "pymemrun";
}

// Says why there is no run. A program that was not started by pymemrun
// continues.
void SayNoRun(const Handover& told, const std::string& why) {
  Say(told.once ? why : why + kRunsUntraced);
}

// Whether the program may run. Reads the options, leaves out what this CPython
// does not allow, and starts tracing. All this is before the interpreter's
// main, with one thread.
bool StartPreloaded(const Handover& told, int argc, char** argv) {
  // Both live until the process ends, the tracer points into them.
  static Options* const options = new Options;
  static CommandLine* const command_line = new CommandLine;
  std::string error;
  Limits limits;
  if (!ReadWords(told.options, argc, argv, options, command_line, &error)) {
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

using ProgramMain = int(int argc, char** argv, char** environment);

// Calls an interpreter's `main`, and before it does what the launcher itself
// does where it embeds one, as the handover (activation.h) says. Without one it
// only calls. Returns what main does, or 2 where the program may not run.
// REQUIRES: one thread, the interpreter is not initialised.
int RunPreloadedMain(ProgramMain* program, int argc, char** argv,
                     char** environment) {
  const char* const handover = getenv(kHandoverVariable);
  Handover told;
  if (handover == nullptr || argc < 1) return program(argc, argv, environment);
  RememberStandardError();
  if (!ReadHandoverText(handover, &told)) {
    Say(std::string(kHandoverVariable) + " is not what `pymemrun env` prints" +
        kRunsUntraced);
    return program(argc, argv, environment);
  }
  const std::string own = OwnPath();
  if (!IsForInterpreter()) {
    GiveWay(own, argv);
    return program(argc, argv, environment);
  }
  // The program and its children must not see what was only for this process.
  // Otherwise started programs are traced, too: they may be other CPythons, and
  // the shim finds out which.
  if (told.once) {
    ForgetVariable(kHandoverVariable);
    LeaveOutOfPreloads(own);
  } else {
    ExchangeInPreloads(own, DirectoryOf(own) + kShim);
  }
  // A program that was not started by pymemrun runs in any case.
  if (!StartPreloaded(told, argc, argv) && told.once) return kUsage;
  const int status = program(argc, argv, environ);
  LetInterruptGo();
  return status;
}

// libc calls Main() with the three arguments of a main function, so the
// program's own main is kept here.
ProgramMain* g_program = nullptr;

int Main(int argc, char** argv, char** environment) {
  return RunPreloadedMain(g_program, argc, argv, environment);
}

}  // namespace
}  // namespace pymemrun

// A program's entry code calls __libc_start_main() with its main function. The
// dynamic linker binds that call to the first object that has the name: this
// one, as it is preloaded. RTLD_NEXT finds libc's (dlsym(3)).
extern "C" __attribute__((visibility("default"))) int __libc_start_main(
    pymemrun::ProgramMain* program, int argc, char** argv, void (*init)(),
    void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  using Start = decltype(__libc_start_main);
  auto* const start =
      reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "__libc_start_main"));
  pymemrun::g_program = program;
  return start(pymemrun::Main, argc, argv, init, fini, rtld_fini, stack_end);
}
