// The object that is preloaded first. A program that is a CPython it starts
// anew, with the tracer of that version preloaded in its own place; any other
// program runs as if it were not there.
//
// It stands in LD_PRELOAD, which every program inherits: so it needs libc alone
// and no name of Python's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD"
#define HANDOVER "PYMEMRUN_PRELOADED"

typedef int Main(int, char**, char**);
typedef int Start(Main*, int, char**, void (*)(void), void (*)(void),
                  void (*)(void), void*);

static Main* g_main;

static void Say(const char* what, const char* detail) {
  char line[PATH_MAX + 256];
  const int size =
      snprintf(line, sizeof line, "pymemrun: %s%s; the program runs untraced\n",
               what, detail);
  const size_t most = size < (int)sizeof line ? (size_t)size : sizeof line - 1;
  if (size > 0 && write(STDERR_FILENO, line, most) < 0) return;
}

// This object's own path, as LD_PRELOAD has it.
static const char* OwnPath(void) {
  Dl_info info;
  return dladdr(&g_main, &info) != 0 ? info.dli_fname : NULL;
}

// The path of the tracer of that name beside this object. 0: it is missing.
static int FindTracer(const char* name, char* path, size_t size) {
  const char* own = OwnPath();
  const char* slash = own == NULL ? NULL : strrchr(own, '/');
  if (slash == NULL) return 0;
  const int length = snprintf(path, size, "%.*s/pymemrun-tracer-%s.so",
                              (int)(slash - own), own, name);
  return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

// The same for CPython `version`, "3.11.2 (main, ...".
static int TracerFor(const char* version, char* path, size_t size) {
  int major, minor;
  if (sscanf(version, "%d.%d", &major, &minor) != 2) return 0;
  const int threads = strstr(version, "free-threading") != NULL;
  char name[32];
  snprintf(name, sizeof name, "%d.%d%s", major, minor, threads ? "t" : "");
  if (FindTracer(name, path, size)) return 1;
  // Those that know no version's insides do for what has no tracer of its own.
  const int newer = major > 3 || minor > PYMEMRUN_NEWEST_MINOR;
  return (newer || threads) && FindTracer("any", path, size);
}

// LD_PRELOAD with `other` in the place of this object.
static char* Exchanged(const char* other) {
  const char* list = getenv(PRELOAD);
  const char* own = OwnPath();
  const char* at = list == NULL || own == NULL ? NULL : strstr(list, own);
  if (at == NULL) return NULL;
  char* text = NULL;
  const int length = asprintf(&text, "%.*s%s%s", (int)(at - list), list, other,
                              at + strlen(own));
  return length < 0 ? NULL : text;
}

// How this program was started: by its own path, or by that of a script that
// names it.
static const char* ExecutedPath(char* buffer, size_t size) {
  const char* path = (const char*)getauxval(AT_EXECFN);
  struct stat named, own;
  if (path != NULL && stat(path, &named) == 0 &&
      stat("/proc/self/exe", &own) == 0 && named.st_dev == own.st_dev &&
      named.st_ino == own.st_ino) {
    return path;
  }
  const ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
  if (length <= 0) return NULL;
  buffer[length] = '\0';
  return buffer;
}

// Does not return where the program starts anew.
static void StartTraced(const char* version, char** argv) {
  char tracer[PATH_MAX], buffer[PATH_MAX];
  char number[32] = "";
  sscanf(version, "%31s", number);
  if (!TracerFor(version, tracer, sizeof tracer)) {
    Say("cannot trace CPython ", number);
    return;
  }
  char* list = Exchanged(tracer);
  const char* path = ExecutedPath(buffer, sizeof buffer);
  if (list == NULL || path == NULL || setenv(PRELOAD, list, 1) != 0) {
    Say("the interpreter cannot be restarted", "");
    return;
  }
  execv(path, argv);
  Say("the interpreter cannot be restarted: ", strerror(errno));
}

// pymemrun itself is a CPython, too.
static int IsLauncher(void) {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return strcmp(strrchr(path, '/'), "/pymemrun") == 0;
}

static int ShimMain(int argc, char** argv, char** environment) {
  const char* (*version)(void) =
      (const char* (*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
  if (version != NULL && dlsym(RTLD_DEFAULT, "gnu_get_libc_version") == NULL) {
    // With musl this object runs, as it needs little. A tracer does not.
    Say("cannot trace a Python that uses a libc other than glibc", "");
  } else if (version != NULL && !IsLauncher()) {
    if (getenv(HANDOVER) != NULL) {
      StartTraced(version(), argv);
    } else {
      Say(PRELOAD " is set as `pymemrun env` prints it, but " HANDOVER,
          " is not set");
    }
  }
  return g_main(argc, argv, environment);
}

__attribute__((visibility("default"))) int __libc_start_main(
    Main* program, int argc, char** argv, void (*init)(void),
    void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  Start* start = (Start*)dlsym(RTLD_NEXT, "__libc_start_main");
  g_main = program;
  return start(ShimMain, argc, argv, init, fini, rtld_fini, stack_end);
}
