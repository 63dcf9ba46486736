/* Preloaded: as many CPUs as MANY_CPUS says. Those that are not there have a
 * page-fault counter that counts nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long cpus(void) {
  const char* text = getenv("MANY_CPUS");
  return text != NULL ? atol(text) : 64;
}

long sysconf(int name) {
  static long (*next)(int);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "sysconf");
  return name == _SC_NPROCESSORS_CONF ? cpus() : next(name);
}

long syscall(long number, ...) {
  static long (*next)(long, ...);
  long a, b, c, d, e, f;
  va_list list;
  va_start(list, number);
  a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
  d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
  va_end(list);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "syscall");
  if (number == SYS_perf_event_open && c >= 0) {
    static long (*real)(int);
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "sysconf");
    const long there = real(_SC_NPROCESSORS_CONF);
    if (c >= there) {
      struct perf_event_attr attr = *(struct perf_event_attr*)a;
      attr.disabled = 1;
      return next(number, (long)&attr, b, c % there, d, e, f);
    }
  }
  return next(number, a, b, c, d, e, f);
}
