/* Preloaded by preloaded_test.py. Calls each function that the launcher
 * interposes, from an IRELATIVE resolver, before the executable is relocated,
 * and again from a constructor, and says what each gave; an interpreter without
 * interposed functions says the same. Before each call a dlsym() fails: the
 * next one frees the text of that error. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faults/early_waits.h"

/* Those that libc declares no more. */
typedef void Handler(int);
Handler *bsd_signal(int number, Handler *handler);
Handler *__sysv_signal(int number, Handler *handler);

extern char **environ;

enum { PAGE = 4096, FAR = 4000 /* a descriptor */ };

static char nowhere[] = "/no/such/program";
static char *const one_argument[] = {nowhere, NULL};

/* Whether the block is there and can be written; frees it. */
static int block(void *memory, size_t size) {
  if (memory == NULL) return 0;
  memset(memory, 1, size);
  free(memory);
  return 1;
}

static void *map(void) {
  return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0);
}

static int zeros(void) { return open("/dev/zero", O_RDONLY); }

/* What a child that this made ends with. */
static int status_of(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

/* What `call` gives of a socket to which its peer has sent 3 bytes. */
static long of_sockets(long (*call)(int)) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -1;
  syscall(SYS_write, pair[0], "abc", 3);
  const long result = call(pair[1]);
  close(pair[0]);
  close(pair[1]);
  return result;
}

static sigset_t only(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

/* What `wait` gives while a SIGUSR1 is pending. */
static long of_pending(long (*wait)(const sigset_t *)) {
  const sigset_t set = only(SIGUSR1);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &set, &before);
  raise(SIGUSR1);
  const long result = wait(&set);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return result;
}

/* What setting a handler by that function shows of the one before. */
static long was_default(Handler *(*set)(int, Handler *)) {
  Handler *const before = set(SIGUSR2, SIG_IGN);
  Handler *const after = set(SIGUSR2, SIG_DFL);
  return before == SIG_DFL && after == SIG_IGN;
}

/* An exec that fails gives the errno of a program that is not there. */
#define FAILED_EXEC(call) return (call) == -1 ? errno : -1

static long call_close(void) { return close(zeros()) * 2 + close(FAR); }
static long call_write(void) { return write(FAR, "x", 1) - errno; }
static long call_dup2(void) { return dup2(2, FAR) - close(FAR); }
static long call_dup3(void) { return dup3(2, FAR, O_CLOEXEC) - close(FAR); }
static long call_close_range(void) {
  dup2(2, FAR);
  return close_range(FAR, FAR, 0) * 2 + close(FAR);
}
static long call_closefrom(void) {
  dup2(2, FAR);
  closefrom(FAR);
  return close(FAR);
}
static long call_fstat(void) {
  struct stat status;
  const int fd = zeros();
  const int result = fstat(fd, &status);
  close(fd);
  return result * 2 + S_ISCHR(status.st_mode);
}
static long call_fstat64(void) {
  struct stat64 status;
  const int fd = zeros();
  const int result = fstat64(fd, &status);
  close(fd);
  return result * 2 + S_ISCHR(status.st_mode);
}

static long call_execve(void) {
  FAILED_EXEC(execve(nowhere, one_argument, environ));
}
static long call_execv(void) { FAILED_EXEC(execv(nowhere, one_argument)); }
static long call_execvp(void) { FAILED_EXEC(execvp(nowhere, one_argument)); }
static long call_execvpe(void) {
  FAILED_EXEC(execvpe(nowhere, one_argument, environ));
}
static long call_fexecve(void) {
  FAILED_EXEC(fexecve(FAR, one_argument, environ));
}
static long call_execveat(void) {
  FAILED_EXEC(execveat(AT_FDCWD, nowhere, one_argument, environ, 0));
}
static long call_execl(void) {
  FAILED_EXEC(execl(nowhere, nowhere, (char *)NULL));
}
static long call_execlp(void) {
  FAILED_EXEC(execlp(nowhere, nowhere, (char *)NULL));
}
static long call_execle(void) {
  FAILED_EXEC(execle(nowhere, nowhere, (char *)NULL, environ));
}

static long call_munmap(void) { return munmap(map(), PAGE); }
static long call_madvise(void) {
  void *const memory = map();
  const int result = madvise(memory, PAGE, MADV_DONTNEED);
  munmap(memory, PAGE);
  return result;
}
static long call_mmap(void) {
  char *const memory = map();
  if (memory == MAP_FAILED) return -1;
  memory[0] = 1;
  return munmap(memory, PAGE);
}
static long call_mmap64(void) {
  char *const memory = mmap64(NULL, PAGE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return -1;
  memory[0] = 1;
  return munmap(memory, PAGE);
}
static long call_mremap(void) {
  char *const memory = mremap(map(), PAGE, 2 * PAGE, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) return -1;
  memory[PAGE] = 1;
  return munmap(memory, 2 * PAGE);
}
static long call_brk(void) { return brk((char *)sbrk(0) + PAGE); }
static long call_sbrk(void) {
  const char *const end = sbrk(PAGE);
  return (const char *)sbrk(-PAGE) - end;
}
static long call_malloc_trim(void) { return malloc_trim(0) >= 0; }
static long call_free(void) {
  free(NULL);
  return block(calloc(1, 100), 100) + block(malloc(1 << 20), 1 << 20);
}
static long call_realloc(void) {
  char *memory = realloc(NULL, 10);
  memset(memory, 7, 10);
  memory = realloc(memory, 1 << 20);
  const int kept = memory[9];
  return kept * 10 + block(memory, 1 << 20);
}
static long call_malloc(void) { return block(malloc(100), 100); }
static long call_calloc(void) {
  const char *const memory = calloc(10, 10);
  return memory[99] * 10 + block((void *)memory, 100);
}
static long call_memalign(void) {
  void *const memory = memalign(256, 100);
  return (long)((uintptr_t)memory % 256) + block(memory, 100);
}
static long call_aligned_alloc(void) {
  void *const memory = aligned_alloc(256, 256);
  return (long)((uintptr_t)memory % 256) + block(memory, 256);
}
static long call_posix_memalign(void) {
  void *memory = NULL;
  return posix_memalign(&memory, 256, 100) * 2 + block(memory, 100);
}
static long call_valloc(void) { return block(valloc(100), 100); }
static long call_pvalloc(void) { return block(pvalloc(100), 100); }

static long call_sigaction(void) {
  struct sigaction before;
  return sigaction(SIGUSR2, NULL, &before) * 2 + (before.sa_handler == SIG_DFL);
}
static long call_signal(void) { return was_default(signal); }
static long call_bsd_signal(void) { return was_default(bsd_signal); }
static long call_ssignal(void) { return was_default(ssignal); }
static long call_sysv_signal(void) { return was_default(sysv_signal); }
static long call___sysv_signal(void) { return was_default(__sysv_signal); }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static long call_siginterrupt(void) { return siginterrupt(SIGUSR2, 1); }
#pragma GCC diagnostic pop
static long call_sigprocmask(void) {
  sigset_t now;
  return sigprocmask(SIG_BLOCK, NULL, &now) * 2 + sigismember(&now, SIGUSR1);
}
static long call_pthread_sigmask(void) {
  sigset_t now;
  return pthread_sigmask(SIG_BLOCK, NULL, &now) * 2 +
         sigismember(&now, SIGUSR1);
}
static long pending(const sigset_t *set) {
  sigset_t now;
  const int result = sigpending(&now) * 2 + sigismember(&now, SIGUSR1);
  int number;
  sigwait(set, &number);
  return result;
}
static long call_sigpending(void) { return of_pending(pending); }
static int handled;
static void handle(int number) { handled = number; }
static long suspended(const sigset_t *set) {
  sigset_t mask;
  (void)set;
  sigemptyset(&mask);
  Handler *const before = signal(SIGUSR1, handle);
  handled = 0;
  const int result = sigsuspend(&mask);
  signal(SIGUSR1, before);
  return handled * 10 + result;
}
static long call_sigsuspend(void) { return of_pending(suspended); }
static long call_raise(void) { return raise(0) + raise(SIGCHLD); }
static long call_pthread_kill(void) { return pthread_kill(pthread_self(), 0); }
static long waited(const sigset_t *set) {
  int number = -1;
  return sigwait(set, &number) * 100 + number;
}
static long call_sigwait(void) { return of_pending(waited); }
static long waited_info(const sigset_t *set) { return sigwaitinfo(set, NULL); }
static long call_sigwaitinfo(void) { return of_pending(waited_info); }
static long waited_time(const sigset_t *set) {
  const struct timespec patience = {1, 0};
  return sigtimedwait(set, NULL, &patience);
}
static long call_sigtimedwait(void) { return of_pending(waited_time); }

static void *returned(void *argument) { return argument; }
static long call_pthread_create(void) {
  pthread_t thread;
  void *result = NULL;
  int number = 5;
  if (pthread_create(&thread, NULL, returned, &number) != 0) return -1;
  pthread_join(thread, &result);
  return result == &number;
}
static long call_posix_spawn(void) {
  char *command[] = {"true", NULL};
  char *none[] = {NULL};
  pid_t child = -1;
  const int result =
      posix_spawn(&child, "/bin/true", NULL, NULL, command, none);
  return result * 2 + status_of(child);
}
static long call_posix_spawnp(void) {
  char *command[] = {"false", NULL};
  char *none[] = {NULL};
  pid_t child = -1;
  const int result =
      posix_spawnp(&child, "/bin/false", NULL, NULL, command, none);
  return result * 2 + status_of(child);
}
static long of_fork(pid_t child, void (*end)(int)) {
  if (child == 0) end(6);
  return child < 0 ? -1 : status_of(child);
}
static long call__exit(void) { return of_fork(vfork(), _exit); }
static long call__Exit(void) { return of_fork(vfork(), _Exit); }
static long call_fork(void) { return of_fork(fork(), _exit); }
static long call_forkpty(void) {
  int terminal = -1;
  const long status = of_fork(forkpty(&terminal, NULL, NULL, NULL), _exit);
  close(terminal);
  return status;
}
static long call_system(void) { return system("exit 3"); }
static long call_popen(void) {
  FILE *const pipe = popen("exit 4", "r");
  return pipe == NULL ? -1 : pclose(pipe);
}

static char room[2 * PAGE];
static long of_zeros(ssize_t (*take)(int)) {
  const int fd = zeros();
  const ssize_t result = take(fd);
  close(fd);
  return result;
}
static ssize_t taken(int fd) { return read(fd, room, PAGE); }
static long call_read(void) { return of_zeros(taken); }
static ssize_t taken_at(int fd) { return pread(fd, room, PAGE, 0); }
static long call_pread(void) { return of_zeros(taken_at); }
static ssize_t taken_at_64(int fd) { return pread64(fd, room, PAGE, 0); }
static long call_pread64(void) { return of_zeros(taken_at_64); }
static long received(int fd) { return recv(fd, room, sizeof(room), 0); }
static long call_recv(void) { return of_sockets(received); }
static long received_from(int fd) {
  return recvfrom(fd, room, sizeof(room), 0, NULL, NULL);
}
static long call_recvfrom(void) { return of_sockets(received_from); }
static long call_fread(void) {
  FILE *const file = fopen("/dev/zero", "r");
  if (file == NULL) return -1;
  const size_t result = fread(room, 2, PAGE, file);
  fclose(file);
  return (long)result;
}

struct Call {
  const char *name;
  long (*make)(void);
};

/* All of launcher/interposed_symbols.txt: one that has no call here does not
 * compile. */
static const struct Call calls[] = {
#define INTERPOSED(name) {#name, call_##name},
#include "tests/early_calls/interposed_calls.inc"
};

/* Whether libc itself cannot take that call before it is initialised: a thread,
 * a fork and a FILE need more of it. */
static int is_for_later(const char *name) {
  return strncmp(name, "fork", 4) == 0 || strcmp(name, "pthread_create") == 0 ||
         strcmp(name, "popen") == 0 || strcmp(name, "fread") == 0;
}

/* By system calls alone, for nothing of stdio is there yet. */
static void say(const char *text) { syscall(SYS_write, 1, text, strlen(text)); }
static void say_number(long number) {
  char digits[24];
  char *at = digits + sizeof(digits) - 1;
  unsigned long rest = (unsigned long)(number < 0 ? -number : number);
  *at = '\0';
  do {
    *--at = (char)('0' + rest % 10);
  } while ((rest /= 10) != 0);
  if (number < 0) *--at = '-';
  say(at);
}

static void call_all(const char *where, int early) {
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); ++i) {
    if (early && is_for_later(calls[i].name)) continue;
    say(where);
    say(calls[i].name);
    say(" ");
    if (!early) dlsym(RTLD_NEXT, "no_such_function");
    say_number(calls[i].make());
    say("\n");
  }
}

static int resolved(void) { return 1; }
static int (*resolve(void))(void) {
  call_all("resolver: ", 1);
  return resolved;
}
static int chosen(void) __attribute__((ifunc("resolve")));

__attribute__((constructor)) static void construct(void) {
  unsetenv("LD_PRELOAD"); /* not for the programs that it starts */
  if (chosen()) call_all("constructor: ", 0);
}
