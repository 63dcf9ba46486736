#include "tracer/objects/dump_child.h"

#include "tracer/cpython/objects/object_graph.h"

#ifndef PYMEMRUN_NO_OBJECTS
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>
#include <new>

#include "tracer/base/clock.h"
#include "tracer/cpython/allocator_layers.h"
#include "tracer/objects/child_memory.h"
#include "tracer/objects/child_process.h"
#include "tracer/objects/object_pipe.h"
#include "tracer/objects/object_walk.h"

namespace pymemrun {
namespace {

// Address space for what the interpreter allocates in the copy. Pages that are
// not touched cost nothing.
constexpr size_t kHeapBytes = size_t{256} << 20;
constinit ChildHeap g_heap;

void* Allocate(void*, size_t bytes) { return g_heap.Allocate(bytes); }

void* AllocateZeros(void*, size_t count, size_t bytes) {
  return g_heap.AllocateZeros(count, bytes);
}

void* Reallocate(void*, void* block, size_t bytes) {
  return g_heap.Reallocate(block, bytes);
}

// Blocks of the parent are not freed.
void Free(void*, void* block) { g_heap.Free(block); }

// From here on the interpreter allocates from this heap in all domains. Other
// threads of the parent may have held the locks of any other allocator.
void UseChildAllocator() {
  g_heap.Open(kHeapBytes);
  const PyMemAllocatorEx allocator = {nullptr, Allocate, AllocateZeros,
                                      Reallocate, Free};
  for (const PyMemAllocatorDomain domain :
       {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ}) {
    AllocatorLayers::Replace(domain, allocator);
  }
}

// Values of ObjectsEnd::Outcome.
constexpr uint32_t kComplete = 0;
constexpr uint32_t kCrashed = 1;
constexpr uint32_t kNoMemory = 2;

// Used only in the child.
constinit ObjectPipe g_pipe;
ObjectWalk* g_walk = nullptr;
uint64_t g_begin_ns = 0;
bool g_waits = false;  // for its collector

// Sends the end and exits. Async-signal-safe: also called when the copy
// crashes.
[[noreturn]] void End(uint32_t outcome, uint32_t signal) {
  ObjectEndWire end = {};
  end.duration_us = (MonotonicNs() - g_begin_ns) / 1000;
  end.outcome = outcome;
  end.signal = signal;
  if (outcome != kComplete && g_walk != nullptr) {
    end.at_address = g_walk->at_address();
    end.at_type = g_walk->at_type();
  }
  g_pipe.Put(ObjectMessage::kEnd, &end, sizeof(end), nullptr, 0);
  g_pipe.Flush();
  if (g_waits) {
    syscall(SYS_close, g_pipe.fd());
    ChildProcess::WaitForCollector();
  }
  _exit(0);
}

void Crashed(int signal) { End(kCrashed, static_cast<uint32_t>(signal)); }

void OutOfMemory() { End(kNoMemory, 0); }

// Used before the pipe exists, so nothing can be reported.
void Quit() { _exit(1); }

[[noreturn]] void TellNoCollector(ObjectStatus* status, int error) {
  status->start_errno = static_cast<uint32_t>(error);
  status->done.store(1, std::memory_order_release);
  syscall(SYS_futex, &status->done, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  _exit(1);
}

// Returns the write end of the pipe that the collector reads.
int StartCollector(const DumpOrder& order, ObjectStatus* status,
                   int status_fd) {
  int ends[2];
  if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0) TellNoCollector(status, errno);
  constexpr int kPipeBytes = 1 << 20;  // as much as everybody may have
  syscall(SYS_fcntl, ends[1], F_SETPIPE_SZ, kPipeBytes);
  const bool replaces = order.replaces != nullptr;
  const char* const argv[] = {"pymemrun-collector", "--objects",
                              replaces ? order.file : nullptr, order.replaces,
                              nullptr};
  const int error = ChildProcess::StartCollector(order.collector, argv, ends[0],
                                                 order.output, status_fd);
  if (error != 0) TellNoCollector(status, error);
  ChildProcess::CloseAllBut(ends[1], ends[1], ends[1]);
  return ends[1];
}

}  // namespace

// The order matters: expendable first, as the program waits for that. Then the
// pipe, so that failures can be reported. At last the allocator and the walk.
void RunDumpChild(const DumpOrder& order, ObjectStatus* status, int status_fd) {
  g_child_out_of_memory = Quit;
  g_begin_ns = order.begin.monotonic_ns;
  g_waits = order.orphans;
  ChildProcess::BecomeExpendable();
  status->writer.store(static_cast<uint32_t>(getpid()),
                       std::memory_order_release);
  syscall(SYS_futex, &status->writer, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  ChildProcess::Detach();
  ChildProcess::CloseAllBut(order.output, status_fd, status_fd);
  g_pipe.Open(StartCollector(order, status, status_fd));
  g_pipe.PutLarge(ObjectMessage::kLaunchText, order.launch_text,
                  order.launch_bytes);
  g_pipe.Put(ObjectMessage::kBegin, &order.begin, sizeof(order.begin), nullptr,
             0);
  g_pipe.Flush();
  g_child_out_of_memory = OutOfMemory;
  ChildProcess::CatchCrashes(Crashed);
  UseChildAllocator();
  g_walk = new (MapChildMemory(sizeof(ObjectWalk))) ObjectWalk(&g_pipe);
  g_walk->Run();
  End(kComplete, 0);
}

}  // namespace pymemrun
#endif
