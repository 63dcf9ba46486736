#include "launcher/python/python_choice.h"

#include <sys/stat.h>

#include "launcher/python/path_python.h"
#include "launcher/python/python_files.h"
#include "launcher/python/script_file.h"

namespace pymemrun {
namespace {

bool IsDirectory(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

const std::string kIsPython = " is Python ";

// Why this interpreter may not take the place of `file`, whose extension
// modules are those of its own version; empty: it may. Debian's upgrades leave
// environments behind that state an older 3.11.x; they lead to the interpreter
// that we are all the same, which the folder of the library tells.
std::string WhyNotEmbedded(const std::string& file, const PythonWishes& wishes,
                           const std::string& version) {
  if (version.empty()) return ": this pymemrun has no built-in interpreter";
  const std::string ours = VersionNumbers(version, 2);
  std::string found = PythonVersionOf(file);
  if (found.empty()) return ": its version is unknown";
  if (found != ours) return kIsPython + found;
  const std::string library = StandardLibraryOf(file, ours);
  if (!library.empty() && library == StandardLibraryOf(wishes.built_in, ours)) {
    return {};
  }
  found = ExactVersionOf(file, ours);
  if (found == VersionNumbers(version, 3)) return {};
  return found.empty() ? ": patchlevel.h is missing" : kIsPython + found;
}

// Settles how `choice` runs. Only the files are looked at. An interpreter of
// another version, or one that cannot be told, is not embedded but executed,
// unless only embedding is allowed.
bool Settle(const std::string& wished_by, const PythonWishes& wishes,
            const std::string& version, Delivery delivery, PythonChoice* choice,
            std::string* error) {
  const std::string& file = choice->file;
  if (!IsProgram(file)) {
    *error = wished_by + " is not an executable Python";
    return false;
  }
  const std::string why = WhyNotEmbedded(file, wishes, version);
  const bool refused = delivery == Delivery::kEmbed && !why.empty();
  const bool is_known = why.starts_with(kIsPython);
  if (!IsInterpreter(file) && !(refused && is_known)) {
    *error = wished_by + " is not a Python interpreter";
    return false;
  }
  choice->embedded = delivery != Delivery::kPreload && why.empty();
  if (refused)
    *error = wished_by + why + "; this pymemrun runs Python " + version;
  return !refused;
}

// The python of the .venv in the folder, or in the nearest one above. `folder`
// is absolute and without links, as getcwd(3) gives it.
std::string NearestEnvironment(std::string folder) {
  while (!folder.empty()) {
    const std::string python = folder + "/.venv/bin/python";
    if (IsRegularFile(python) && IsRegularFile(folder + "/.venv/pyvenv.cfg")) {
      return python;
    }
    folder.resize(folder.rfind('/'));
  }
  return {};
}

// The first of its files that others may change, and so what runs; empty: none.
std::string ForeignPartOf(const std::string& environment) {
  const std::string python = environment + "/bin/python";
  const std::string version = PythonVersionOf(python);
  const std::string packages =
      environment + "/lib/python" + version + "/site-packages";
  for (const std::string& part :
       {environment + "/pyvenv.cfg", python, HomeOf(python),
        StandardLibraryOf(python, version),
        IsDirectory(packages) ? packages : ""}) {
    const std::string found = part.empty() ? "" : OthersMayChange(part);
    if (!found.empty()) return found;
  }
  return {};
}

// Tries the sources one after the other, in the order of PythonWishes. What is
// named must work, or the run ends with an error. A python3 on PATH that cannot
// be used is passed over with a remark.
class Chooser {
 public:
  Chooser(const PythonWishes& wishes, const std::string& version,
          Delivery delivery, PythonChoice* choice, std::string* error)
      : wishes_(wishes),
        version_(version),
        delivery_(delivery),
        choice_(*choice),
        error_(*error),
        on_path_(
            FindPathPython(wishes.path, wishes.folder, wishes.pyenv_version)) {}

  // A virtual environment first on PATH is an active one, whatever made it so.
  // It counts before a .venv nearby, unless pymemrun itself is installed in it.
  bool Choose() {
    std::string wished_by;
    if (FindNamed(&wished_by)) return SettledAs(wished_by);
    const bool is_active =
        !HomeOf(on_path_.file).empty() &&
        DirectoryOf(on_path_.file) != DirectoryOf(wishes_.launcher);
    if (is_active && SettledOnPath()) return true;
    if (FindNearest(&wished_by) || FindBeside(&wished_by)) {
      return SettledAs(wished_by);
    }
    if (wishes_.built_in.empty()) return WithoutBuiltIn();
    const bool is_built_in =
        HomeOf(on_path_.file).empty() &&
        RealPath(on_path_.file) == RealPath(wishes_.built_in);
    if (!is_active && !is_built_in && SettledOnPath()) return true;
    Take(wishes_.built_in);
    choice_.embedded = delivery_ != Delivery::kPreload;
    return true;
  }

 private:
  bool Take(const std::string& python) {
    choice_.program = choice_.file = python;
    return true;
  }
  bool SettledAs(const std::string& wished_by) {
    return Settle(wished_by, wishes_, version_, delivery_, &choice_, &error_);
  }
  void Refuse(const std::string& why) {
    choice_.refused += (choice_.refused.empty() ? "" : "; ") + why;
  }

  // What is named: by an option, a variable or the script.
  bool FindNamed(std::string* wished_by) {
    if (!wishes_.option.empty()) {
      *wished_by = "--python " + wishes_.option;
      // A folder is taken as an environment's; a bare name is looked up.
      std::string program = wishes_.option;
      if (IsDirectory(program)) program += "/bin/python";
      Take(program);
      const bool bare = program.find('/') == std::string::npos;
      if (bare) choice_.file = OnPath(program, wishes_.path);
      return true;
    }
    const std::string python = wishes_.virtual_env + "/bin/python";
    if (!wishes_.virtual_env.empty() && IsRegularFile(python)) {
      *wished_by = "virtual environment " + wishes_.virtual_env;
      return Take(python);
    }
    const std::string named = InterpreterOf(wishes_.script);
    *wished_by = wishes_.script + ": " + named;
    return !named.empty() && Take(named);
  }

  // Whether python3 on PATH is settled; otherwise it is said why not.
  bool SettledOnPath() {
    std::string why = on_path_.problem;
    if (on_path_.file.empty() && why.empty()) return false;
    Take(on_path_.file);
    if (why.empty() &&
        Settle(on_path_.by, wishes_, version_, delivery_, &choice_, &why)) {
      const bool embedded = choice_.embedded || wishes_.why_not == nullptr;
      why = embedded ? "" : wishes_.why_not(choice_.file);
      if (why.empty()) return true;
    }
    Refuse(why);
    return false;
  }

  // The nearest .venv, if other users may not change what would run.
  bool FindNearest(std::string* wished_by) {
    const std::string python = NearestEnvironment(wishes_.folder);
    if (python.empty()) return false;
    const std::string folder = DirectoryOf(DirectoryOf(python));
    const std::string foreign = ForeignPartOf(folder);
    if (!foreign.empty()) {
      Refuse(folder + " is ignored, because other users may change " + foreign +
             " (--python " + folder + " selects it)");
      return false;
    }
    *wished_by = "virtual environment " + folder;
    if (!on_path_.file.empty()) {
      choice_.preferred =
          "runs " + python + ", from the nearest .venv; " + on_path_.by;
    }
    return Take(python);
  }

  // What was installed together with the launcher.
  bool FindBeside(std::string* wished_by) {
    const std::string bin = DirectoryOf(wishes_.launcher);
    if (wishes_.launcher.empty()) return false;
    if (IsRegularFile(bin + "/../pyvenv.cfg") &&
        IsRegularFile(bin + "/python")) {
      *wished_by = "virtual environment " + DirectoryOf(bin);
      return Take(bin + "/python");
    }
    *wished_by = bin + "/python3";
    return wishes_.built_in.empty() && IsRegularFile(*wished_by) &&
           Take(*wished_by);
  }

  // The last resort of a pymemrun without an interpreter, so errors are final.
  bool WithoutBuiltIn() {
    if (on_path_.file.empty()) {
      error_ = on_path_.problem.empty() ? "there is no python3 on PATH"
                                        : on_path_.problem;
      error_ += "; name a Python with --python";
      return false;
    }
    Take(on_path_.file);
    return SettledAs(on_path_.by);
  }

  const PythonWishes& wishes_;
  const std::string& version_;
  const Delivery delivery_;
  PythonChoice& choice_;
  std::string& error_;
  const PathPython on_path_;
};

}  // namespace

bool ChoosePython(const PythonWishes& wishes, const std::string& version,
                  Delivery delivery, PythonChoice* choice, std::string* error) {
  if (version.empty() && delivery == Delivery::kEmbed) {
    *error = "--delivery embed: this pymemrun has no built-in interpreter";
    return false;
  }
  *choice = {};
  if (!Chooser(wishes, version, delivery, choice, error).Choose()) return false;
  if (!choice->refused.empty()) {
    choice->refused += "; " + choice->program + " runs";
  }
  return true;
}

}  // namespace pymemrun
