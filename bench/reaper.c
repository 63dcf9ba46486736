// reaper REPORT COMMAND [ARGS...]: runs the command, waits for every process
// that it leaves behind too, and writes one line for each to REPORT:
//
//   pid comm wall_s cpu_s peak_rss_bytes status
//
// wall_s is from the command's start to this process's end, cpu_s includes the
// children it waited for, status is that of a shell (128 + the signal). Exits 0
// when the command could be started. A program of its own because a process
// begins its life with the peak RSS of the one that started it: a Python
// interpreter would hide every figure below its own.
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double Seconds(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

// The name of a process that has ended and is not yet waited for; its blanks
// are replaced, so that the line has six words.
static void ReadName(pid_t pid, char* name, size_t size) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
  FILE* file = fopen(path, "r");
  if (file == NULL || fgets(name, (int)size, file) == NULL) strcpy(name, "?");
  if (file != NULL) fclose(file);
  name[strcspn(name, "\n")] = '\0';
  for (char* c = name; *c != '\0'; ++c) {
    if (*c == ' ') *c = '_';
  }
}

// Waits for one process, whichever ends next. Returns 0 when no process is
// left.
static int ReapOne(double start, FILE* report) {
  siginfo_t info;
  while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return 0;
  }
  const double wall = Now() - start;
  char name[32];
  ReadName(info.si_pid, name, sizeof(name));
  struct rusage usage;
  int status;
  if (wait4(info.si_pid, &status, 0, &usage) < 0) return 0;
  fprintf(report, "%d %s %.6f %.6f %lld %d\n", (int)info.si_pid, name, wall,
          Seconds(usage.ru_utime) + Seconds(usage.ru_stime),
          (long long)usage.ru_maxrss * 1024,
          WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  FILE* report = fopen(argv[1], "we");
  if (report == NULL) return 2;
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const double start = Now();
  pid_t pid;
  const int error = posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ);
  if (error != 0) {
    fprintf(stderr, "reaper: %s: %s\n", argv[2], strerror(error));
    return 1;
  }
  // The command's line comes first to be found, whoever ends first.
  fprintf(report, "%d\n", (int)pid);
  while (ReapOne(start, report)) {
  }
  return fclose(report) == 0 ? 0 : 1;
}
