#include "collector/session/answer_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/objects/pipe_read.h"
#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

constexpr int kBeatMs = 50;
constexpr int kFileFd = 3;  // in the program
constexpr size_t kMostTextBytes = 2000;

bool IsAnswered(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
         static_cast<uint64_t>(info.st_size) <= kMostAnsweredBytes;
}

// The program's: none of the traced one's variables, except for the charset.
std::vector<std::string> Environment(int columns) {
  std::vector<std::string> all = {absl::StrCat("COLUMNS=", columns)};
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = getenv(name);
    if (value != nullptr) all.push_back(absl::StrCat(name, "=", value));
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> pointers;
  for (std::string& each : *strings) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts it with `out_fd` for its output. Below 0: it did not start.
pid_t Start(const std::string& program, int file_fd, int out_fd, int columns) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out_fd, 1);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, file_fd, kFileFd);
  posix_spawn_file_actions_addclosefrom_np(&files, kFileFd + 1);
  // Opened anew by its inode, whatever its name is by now.
  std::vector<std::string> words = {program, "report", "--brief",
                                    absl::StrCat("/proc/self/fd/", kFileFd)};
  std::vector<std::string> variables = Environment(columns);
  pid_t pid = -1;
  if (posix_spawn(&pid, program.c_str(), &files, nullptr,
                  Pointers(&words).data(), Pointers(&variables).data()) != 0) {
    pid = -1;
  }
  posix_spawn_file_actions_destroy(&files);
  return pid;
}

void LetItDieFirst(pid_t pid) {
  const std::string path = absl::StrCat("/proc/", pid, "/oom_score_adj");
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "1000", 4) < 0) {
  }
  close(fd);
}

// All that comes until `end_ns`; empty if it is no whole answer.
std::string ReadUntil(uint64_t end_ns, int fd, absl::FunctionRef<void()> beat) {
  std::string text;
  while (MonotonicNs() < end_ns && text.size() <= kMostTextBytes) {
    beat();
    char buffer[4096];
    const ssize_t size = ReadPipe(fd, buffer, sizeof(buffer), kBeatMs);
    if (size < 0 && errno != EINTR && errno != EAGAIN) return "";
    if (size == 0) return text;
    text.append(buffer, std::max<ssize_t>(size, 0));
  }
  return "";
}

}  // namespace

std::string AskForAnswer(const std::string& program, int file_fd, int columns,
                         int most_ms, absl::FunctionRef<void()> beat) {
  int fds[2];
  if (program.empty() || !IsAnswered(file_fd) || pipe2(fds, O_CLOEXEC) != 0) {
    return "";
  }
  const uint64_t end_ns = MonotonicNs() + uint64_t{1000000} * most_ms;
  const pid_t pid = Start(program, file_fd, fds[1], columns);
  close(fds[1]);
  std::string text;
  int status = -1;
  if (pid > 0) {
    LetItDieFirst(pid);
    text = ReadUntil(end_ns, fds[0], beat);
    if (text.empty()) kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  close(fds[0]);
  return status == 0 ? text : "";
}

}  // namespace pymemrun
