#include "readers/watch/traced_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

extern char** environ;

namespace pymemrun {
namespace {

// The descriptors of a collector, as the launcher arranges them
// (collector/session/collector_start.h), and the start of its name.
constexpr int kOutputFd = 4, kPidFd = 5;
constexpr absl::string_view kCollector = "pymemrun-coll";
constexpr absl::string_view kProgram = "/pymemrun-collector";

// The start of a small file in /proc. The fields needed are all in its first
// 1,024 bytes.
std::string Contents(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  char buffer[1024];
  const ssize_t size = read(fd, buffer, sizeof buffer);
  close(fd);
  return std::string(buffer, size < 0 ? 0 : size);
}

// The user ids of a process: real, effective, saved; empty if it has ended.
std::vector<uint64_t> UsersOf(const std::string& process) {
  std::vector<uint64_t> users;
  const std::string status = Contents(absl::StrCat(process, "/status"));
  for (const absl::string_view line : absl::StrSplit(status, '\n')) {
    if (!absl::StartsWith(line, "Uid:\t")) continue;
    for (const absl::string_view word : absl::StrSplit(line.substr(5), '\t')) {
      uint64_t user = 0;
      if (absl::SimpleAtoi(word, &user) && users.size() < 3) {
        users.push_back(user);
      }
    }
  }
  return users;
}

// Whether the process may act for the program's user: it has the same user, or
// root, which may have started the program. Any process can take a collector's
// name.
bool MayCollect(const std::string& process, pid_t pid) {
  const std::vector<uint64_t> of = UsersOf(absl::StrCat("/proc/", pid));
  const std::vector<uint64_t> by = UsersOf(process);
  return !by.empty() && std::all_of(by.begin(), by.end(), [&of](uint64_t user) {
    return user == 0 || std::find(of.begin(), of.end(), user) != of.end();
  });
}

// The collector has a pidfd of its process. The "Pid:" line of its fdinfo names
// that process, see pidfd_open(2). Another user's /proc/PID/fdinfo cannot be
// read.
bool Collects(const std::string& process, pid_t pid) {
  if (!absl::StartsWith(Contents(absl::StrCat(process, "/comm")), kCollector) ||
      !MayCollect(process, pid)) {
    return false;
  }
  const std::string info = Contents(absl::StrCat(process, "/fdinfo/", kPidFd));
  for (const absl::string_view line : absl::StrSplit(info, '\n')) {
    if (!absl::StartsWith(line, "Pid:")) continue;
    int64_t of = 0;
    return absl::SimpleAtoi(line.substr(4), &of) && of == pid;
  }
  return false;
}

// The file's name; if that is gone, or another file has it, the path of the
// descriptor.
std::string OutputOf(const std::string& process) {
  const std::string link = absl::StrCat(process, "/fd/", kOutputFd);
  char path[PATH_MAX];
  const ssize_t size = readlink(link.c_str(), path, sizeof path);
  if (size <= 0 || size == sizeof path) return "";
  const std::string name(path, size);
  struct stat named, open_file;
  const bool same =
      stat(name.c_str(), &named) == 0 && stat(link.c_str(), &open_file) == 0 &&
      named.st_dev == open_file.st_dev && named.st_ino == open_file.st_ino;
  return same ? name : link;
}

// In the folder of this program, or of its build; otherwise from PATH.
std::string FindLauncher() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  const absl::string_view own(path, size <= 0 ? 0 : size);
  const absl::string_view folder = own.substr(0, own.rfind('/') + 1);
  for (const char* const place : {"", "../launcher/", "../../bin/"}) {
    const std::string found = absl::StrCat(folder, place, "pymemrun");
    if (!own.empty() && access(found.c_str(), X_OK) == 0) return found;
  }
  return "pymemrun";
}

// Starts the words in a session of their own, so a hang-up or Ctrl-C of this
// terminal does not reach them. All signals have their usual effect there: this
// program ignores some. Returns 0, or errno.
int Spawn(std::vector<std::string> words, const std::string& output,
          pid_t* pid) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(
      &files, 1, output.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
  // One open file for both streams. By O_APPEND all that write to it add at its
  // end.
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
  sigset_t usual;
  sigfillset(&usual);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  const int error =
      posix_spawnp(pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

// Looks at the processes one by one: linear in their number.
absl::StatusOr<TracedBy> CollectorOf(pid_t pid) {
  DIR* const processes = opendir("/proc");
  TracedBy found;
  while (processes != nullptr && found.run_file.empty()) {
    const dirent* const entry = readdir(processes);
    if (entry == nullptr) break;
    const std::string process = absl::StrCat("/proc/", entry->d_name);
    if (!absl::SimpleAtoi(entry->d_name, &found.collector) ||
        !Collects(process, pid)) {
      continue;
    }
    found.run_file = OutputOf(process);
  }
  if (processes != nullptr) closedir(processes);
  if (!found.run_file.empty()) return found;
  return absl::NotFoundError(
      "expected one of your processes that pymemrun is tracing, found none");
}

absl::StatusOr<std::string> RunFileOf(pid_t pid) {
  auto found = CollectorOf(pid);
  if (!found.ok()) return found.status();
  return std::move(found->run_file);
}

// Any process can set its own comm, so here the program's file is compared,
// too. That file may have been replaced since.
bool IsCollectorOf(pid_t collector, pid_t pid) {
  const std::string process = absl::StrCat("/proc/", collector);
  char path[PATH_MAX];
  const ssize_t size =
      readlink(absl::StrCat(process, "/exe").c_str(), path, sizeof path);
  absl::string_view program(path, size <= 0 ? 0 : size);
  absl::ConsumeSuffix(&program, " (deleted)");
  return absl::EndsWith(program, kProgram) && Collects(process, pid);
}

// mkdtemp() makes a folder that only its owner may enter, so no other user can
// replace the files.
absl::StatusOr<std::unique_ptr<StartedRun>> StartedRun::Start(
    const std::vector<std::string>& words) {
  const char* const temporary = getenv("TMPDIR");
  std::string folder =
      absl::StrCat(temporary == nullptr || *temporary == 0 ? "/tmp" : temporary,
                   "/pymemrun-watch.XXXXXX");
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat(folder, ": ", strerror(errno)));
  }
  auto run = absl::WrapUnique(new StartedRun);
  run->run_path_ = absl::StrCat(folder, "/run.pb");
  run->output_path_ = absl::StrCat(folder, "/output.txt");
  std::vector<std::string> all = {FindLauncher(), "--quiet", "-o",
                                  run->run_path_};
  all.insert(all.end(), words.begin(), words.end());
  const int error = Spawn(std::move(all), run->output_path_, &run->pid_);
  if (error == 0) return run;
  unlink(run->output_path_.c_str());
  rmdir(folder.c_str());
  return absl::UnavailableError(
      absl::StrCat("pymemrun cannot be started: ", strerror(error)));
}

// waitpid() reaps the process, so the code is kept.
std::optional<int> StartedRun::ExitCode() {
  int status = 0;
  if (!code_.has_value() && waitpid(pid_, &status, WNOHANG) == pid_) {
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return code_;
}

}  // namespace pymemrun
