/* An oracle for GIL events: runs a command, and asks the kernel when each of its
 * threads enters and leaves two functions of a library (uprobes). Needs root.
 *
 * usage: gil_probes LIBRARY TAKE_OFFSET DROP_OFFSET OUTPUT COMMAND...
 * Writes lines "time_ns thread what", what: take, taken, drop, dropped;
 * CLOCK_MONOTONIC. Exits 77 where there are no uprobes, else as the command. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPages = 256, kMost = 4 * 64 };

static const char* const kNames[] = {"take", "taken", "drop", "dropped"};
static struct perf_event_mmap_page* maps[kMost];
static int whats[kMost];
static int count;
static pid_t traced;

static uint64_t ReadNumber(const char* path, const char* format) {
  FILE* file = fopen(path, "r");
  unsigned value = 0;
  if (file == NULL || fscanf(file, format, &value) != 1) exit(77);
  fclose(file);
  return value;
}

static void Open(const char* library, uint64_t offset, int what) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = ReadNumber("/sys/bus/event_source/devices/uprobe/type", "%u");
  if (what & 1) {
    attr.config = 1ull << ReadNumber(
        "/sys/bus/event_source/devices/uprobe/format/retprobe", "config:%u");
  }
  attr.uprobe_path = (uint64_t)(uintptr_t)library;
  attr.probe_offset = offset;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  const int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus && count < kMost; ++cpu) {
    const int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
    if (fd < 0) {
      fprintf(stderr, "gil_probes: uprobe: %s\n", strerror(errno));
      kill(traced, SIGKILL);
      exit(77);
    }
    void* map = mmap(NULL, (kPages + 1) * 4096, PROT_READ | PROT_WRITE,
                     MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) exit(77);
    maps[count] = map;
    whats[count] = what;
    ++count;
  }
}

static void Drain(FILE* out) {
  for (int i = 0; i < count; ++i) {
    struct perf_event_mmap_page* page = maps[i];
    const char* data = (const char*)page + 4096;
    const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = page->data_tail;
    while (tail < head) {
      char record[256];
      struct perf_event_header header;
      for (size_t b = 0; b < sizeof header; ++b) {
        ((char*)&header)[b] = data[(tail + b) % (kPages * 4096)];
      }
      for (size_t b = 0; b < header.size && b < sizeof record; ++b) {
        record[b] = data[(tail + b) % (kPages * 4096)];
      }
      if (header.type == PERF_RECORD_SAMPLE) {
        uint32_t process, tid;
        uint64_t time_ns;
        memcpy(&process, record + sizeof header, 4);
        memcpy(&tid, record + sizeof header + 4, 4);
        memcpy(&time_ns, record + sizeof header + 8, 8);
        if (process == (uint32_t)traced) {
          fprintf(out, "%llu %u %s\n", (unsigned long long)time_ns, tid,
                  kNames[whats[i]]);
        }
      } else if (header.type == PERF_RECORD_LOST) {
        fprintf(stderr, "gil_probes: records were lost\n");
        exit(1);
      }
      tail += header.size;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
  }
}

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  int go[2];
  if (pipe(go) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(go[1]);
    if (read(go[0], &byte, 1) != 1) _exit(1);
    close(go[0]);
    execvp(argv[5], argv + 5);
    _exit(127);
  }
  traced = child;
  FILE* out = fopen(argv[4], "w");
  if (out == NULL) return 1;
  for (int what = 0; what < 4; ++what) {
    Open(argv[1], strtoull(argv[what < 2 ? 2 : 3], NULL, 0), what);
  }
  if (write(go[1], "", 1) != 1) return 1;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    Drain(out);
    const struct timespec nap = {0, 2000000};
    nanosleep(&nap, NULL);
  }
  Drain(out);
  fclose(out);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
