// The run file's name and creation.
#ifndef PYMEMRUN_LAUNCHER_SESSION_OUTPUT_FILE_H_
#define PYMEMRUN_LAUNCHER_SESSION_OUTPUT_FILE_H_

#include <sys/types.h>

#include <ctime>
#include <functional>
#include <string>

namespace pymemrun {

// What `{pid} {time} {name} {host}` in an output name stand for.
struct RunIdentity {
  pid_t pid = 0;
  time_t start = 0;
  std::string name;  // of the program, see ProgramName()
  std::string host;
};

// Asks what an existing run file calls itself: YYYYMMDD_HHMMSS_PID of its own
// start; empty for any other file. Slow: it starts a helper process.
using NameOfRunFile = std::function<std::string(const std::string& path)>;

struct OutputRequest {
  std::string pattern;  // as given; empty: run.pb with the renaming
  bool force = false;
  // Whether a name that is taken gets a number: nobody is there who could
  // choose another, and nothing may be overwritten.
  bool numbered = false;
  RunIdentity identity;
  NameOfRunFile name_of;
};

// `script.py` without folder and ending, a module's name, or `code`, `stdin`.
// Never empty and without a slash.
std::string ProgramName(const std::string& target_path);

// YYYYMMDD_HHMMSS_PID in local time.
std::string StartName(time_t start, pid_t pid);

// Replaces the four fields; other braces stay. A slash in a value becomes _.
// `pid`: instead of the identity's, if not empty.
std::string ExpandOutputName(const std::string& pattern,
                             const RunIdentity& identity,
                             const std::string& pid = "");

// The path with something added before its ending: `run-1.pb` of `run.pb`.
std::string NameWith(const std::string& added, const std::string& path);

inline constexpr int kNoDescriptors = -2;

// Creates the run file: new, mode 0600 whatever the umask, never through a
// symbolic link. On success returns a close-on-exec descriptor and sets *path
// to the absolute path; otherwise returns -1, or kNoDescriptors where it is
// their number that is limited, with one line in *error. A file that was there
// is renamed (the default name: to its own start), replaced (force, run files
// and empty ones only), each with the dumps of objects of its run; or left
// alone with another name for the new one (numbered: `run-1.pb` beside
// `run.pb`), or left alone and the call fails.
int CreateOutputFile(const OutputRequest& request, std::string* path,
                     std::string* error);

// The same at the absolute *path, numbered.
int CreateNumberedFile(const RunIdentity& identity, std::string* path,
                       std::string* error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_OUTPUT_FILE_H_
