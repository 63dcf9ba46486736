// Calls that make a thread, or a program: both begin with SIGTRAP as the caller
// has it, in the program's view (tracer/sigtrap/trap_signal.h).
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/base/interposed_state.h"
#include "tracer/interpose/started_programs.h"
#include "tracer/sigtrap/kernel_signals.h"
#include "tracer/sigtrap/trap_exec.h"
#include "tracer/sigtrap/trap_pending.h"
#include "tracer/sigtrap/trap_state.h"

namespace pymemrun {
namespace {

using ThreadFunction = void*(void*);

// Arguments of a thread that starts with SIGTRAP blocked. They are on the stack
// of its creator, which waits until they were read.
struct ThreadStart {
  ThreadFunction* function;
  void* argument;
  std::atomic<uint32_t> read;
};

void* BeginBlocked(void* start) {
  auto* from = static_cast<ThreadStart*>(start);
  ThreadFunction* const function = from->function;
  void* const argument = from->argument;
  std::atomic<uint32_t>* const read = &from->read;
  TrapMask::SetOnly(true);
  ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  read->store(1, std::memory_order_release);
  syscall(SYS_futex, read, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  return function(argument);
}

// Returns when the thread has read its arguments from this stack.
int CreateBlocked(pthread_t* thread, const pthread_attr_t* attributes,
                  ThreadFunction* function, void* argument) {
  ThreadStart start = {function, argument, 0};
  // The new thread inherits the real mask. Until it has noted that SIGTRAP is
  // blocked for it, none may arrive.
  ChangeRealMask(SIG_BLOCK, kTrapBit);
  const int result =
      PYMEMRUN_NEXT(pthread_create)(thread, attributes, BeginBlocked, &start);
  const int saved = errno;
  ChangeRealMask(SIG_UNBLOCK, kTrapBit);
  if (result != 0) return result;
  while (start.read.load(std::memory_order_acquire) == 0) {
    syscall(SYS_futex, &start.read, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  }
  errno = saved;
  return 0;
}

// Whether a thread made now, with these attributes, has SIGTRAP blocked.
bool BeginsBlocked(const pthread_attr_t* attributes) {
  sigset_t mask;
  if (attributes != nullptr &&
      pthread_attr_getsigmask_np(attributes, &mask) == 0) {
    return (FirstWord(&mask) & kTrapBit) != 0;
  }
  return TrapMask::blocked();
}

// Counts a child that libc has made. Not in a vfork child.
void CountChild(char* const* environment) {
  if (TracedPage() != nullptr) CountStarted(environment);
}

}  // namespace
}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE int pthread_create(pthread_t* thread,
                                      const pthread_attr_t* attributes,
                                      ThreadFunction* function,
                                      void* argument) noexcept {
  if (!TrapState::IsVirtual() || !BeginsBlocked(attributes)) {
    return PYMEMRUN_NEXT(pthread_create)(thread, attributes, function,
                                         argument);
  }
  return CreateBlocked(thread, attributes, function, argument);
}

PYMEMRUN_INTERPOSE int posix_spawn(pid_t* pid, const char* path,
                                   const posix_spawn_file_actions_t* actions,
                                   const posix_spawnattr_t* attributes,
                                   char* const* argv, char* const* envp) {
  const TrapForSpawn spawn;
  const int error =
      PYMEMRUN_NEXT(posix_spawn)(pid, path, actions, attributes, argv, envp);
  if (error == 0) CountChild(envp);
  return error;
}

PYMEMRUN_INTERPOSE int posix_spawnp(pid_t* pid, const char* file,
                                    const posix_spawn_file_actions_t* actions,
                                    const posix_spawnattr_t* attributes,
                                    char* const* argv, char* const* envp) {
  const TrapForSpawn spawn;
  const int error =
      PYMEMRUN_NEXT(posix_spawnp)(pid, file, actions, attributes, argv, envp);
  if (error == 0) CountChild(envp);
  return error;
}

PYMEMRUN_INTERPOSE int system(const char* command) {
  const TrapForSpawn spawn;
  const int result = PYMEMRUN_NEXT(system)(command);
  if (command != nullptr && result != -1) CountChild(environ);
  return result;
}

PYMEMRUN_INTERPOSE FILE* popen(const char* command, const char* mode) {
  const TrapForSpawn spawn;
  FILE* const stream = PYMEMRUN_NEXT(popen)(command, mode);
  if (stream != nullptr) CountChild(environ);
  return stream;
}
