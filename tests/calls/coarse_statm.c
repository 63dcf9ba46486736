/* Preloaded by tests: RSS as kernels before 6.2 show it, which tell of a
 * thread's pages 64 at a time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STEP 64

static int is_statm(int fd) {
  char link[64], path[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size <= 0) return 0;
  path[size] = '\0';
  return strncmp(path, "/proc/", 6) == 0 && strstr(path, "/statm") != NULL;
}

ssize_t pread(int fd, void* buffer, size_t size, off_t offset) {
  static ssize_t (*next)(int, void*, size_t, off_t);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "pread");
  const ssize_t got = next(fd, buffer, size, offset);
  unsigned long all, resident;
  char* text = buffer;
  if (got <= 0 || (size_t)got >= size || !is_statm(fd)) return got;
  text[got] = '\0';
  if (sscanf(text, "%lu %lu", &all, &resident) != 2) return got;
  return snprintf(text, size, "%lu %lu 0 0 0 0 0\n", all,
                  resident / STEP * STEP);
}
