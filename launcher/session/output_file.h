// Name and creation of the run file.
#ifndef PYMEMRUN_LAUNCHER_SESSION_OUTPUT_FILE_H_
#define PYMEMRUN_LAUNCHER_SESSION_OUTPUT_FILE_H_

#include <sys/types.h>

#include <ctime>
#include <functional>
#include <string>

namespace pymemrun {

// Values of {pid}, {time}, {name} and {host} in an output name.
struct RunIdentity {
  pid_t pid = 0;
  time_t start = 0;
  std::string name;  // see ProgramName()
  std::string host;
};

// Returns YYYYMMDD_HHMMSS_PID of the start of an existing run file; empty for
// any other file. Slow, as it starts a helper process.
using NameOfRunFile = std::function<std::string(const std::string& path)>;

struct OutputRequest {
  std::string pattern;  // as given; empty: run.pb with the renaming
  bool force = false;
  // If the name is taken, adds a number: no user is there to choose another
  // name, and nothing may be overwritten.
  bool numbered = false;
  RunIdentity identity;
  NameOfRunFile name_of;
};

// Name of the program: a script without folder and extension, the name of a
// module, or `code`, `stdin`. Never empty and without a slash.
std::string ProgramName(const std::string& target_path);

// YYYYMMDD_HHMMSS_PID in local time.
std::string StartName(time_t start, pid_t pid);

// Expands the four fields; other braces stay. A slash in a value becomes _.
// `pid` replaces that of the identity unless empty.
std::string ExpandOutputName(const std::string& pattern,
                             const RunIdentity& identity,
                             const std::string& pid = "");

// Inserts `added` before the extension: `run-1.pb` from `run.pb`.
std::string NameWith(const std::string& added, const std::string& path);

inline constexpr int kNoDescriptors = -2;

// Creates a new run file with mode 0600 independent of the umask, never through
// a symbolic link. Returns a close-on-exec descriptor and sets *path to the
// absolute path. On failure returns -1, or kNoDescriptors if too many are open,
// with one line in *error.
//
// An existing file is renamed to its own start time (default name); or replaced
// (force; only run files and empty files); or kept, and the new file gets a
// number (numbered: `run-1.pb` beside `run.pb`); or kept, and the call fails.
// Object dumps of its run are renamed or removed with it.
int CreateOutputFile(const OutputRequest& request, std::string* path,
                     std::string* error);

// The same for the absolute *path, numbered.
int CreateNumberedFile(const RunIdentity& identity, std::string* path,
                       std::string* error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_OUTPUT_FILE_H_
