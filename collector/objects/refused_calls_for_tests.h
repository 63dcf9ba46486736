// For tests: what runs where a filter refuses system calls, as sandboxes do.
#ifndef PYMEMRUN_COLLECTOR_OBJECTS_REFUSED_CALLS_FOR_TESTS_H_
#define PYMEMRUN_COLLECTOR_OBJECTS_REFUSED_CALLS_FOR_TESTS_H_

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

namespace pymemrun {

// From here on these calls fail with EPERM in this process and its children.
inline bool RefuseCalls(const std::vector<int>& numbers) {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int number : numbers) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                              static_cast<unsigned>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program = {static_cast<unsigned short>(filter.size()),
                        filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Runs `body` in a forked child that such a filter binds. Its exit status: 0
// where no expectation failed, 3 where there are no filters here.
inline int RunWithoutCalls(const std::vector<int>& numbers,
                           const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (!RefuseCalls(numbers)) _exit(3);
    alarm(60);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OBJECTS_REFUSED_CALLS_FOR_TESTS_H_
