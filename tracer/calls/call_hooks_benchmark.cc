// What a call of the profile callbacks costs, apart from what CPython does to
// make one: the whole tracer in an interpreter, on a script that calls the
// benchmarks. The ring's other end is here too.
#include <benchmark/benchmark.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer/base/hot_state.h"
#include "tracer/calls/call_hooks.h"
#include "tracer/calls/event_log.h"
#include "tracer/cpython/compat.h"
#include "tracer/ring/shared_region.h"
#include "tracer/session/parts.h"
#include "tracer/session/session.h"

namespace pymemrun {
namespace {

TraceConfig g_everything;  // min_drss_bytes 0
TraceConfig g_changes;     // a page or more, with one event of context
TraceConfig g_calls;       // the same, and calls are followed to their ends

ReplyPage* g_reply = nullptr;

void TakeAll() {
  const ControlPage* page = Hot().page;
  g_reply->tail.store(page->head.load(std::memory_order_relaxed),
                      std::memory_order_release);
}

int EmptyHook(PyObject*, PyFrameObject*, int, PyObject*) { return 0; }

constexpr int kEvents = 4;  // of one round
constexpr uint64_t kTakeEach = kRingSlots / 4 / kEvents;

// A Python function that calls a C function: four events of the frame that is
// running.
void Rounds(benchmark::State& state, Py_tracefunc hook) {
  PyFrameObject* frame = PyEval_GetFrame();
  PyObject* function = PyDict_GetItemString(PyEval_GetBuiltins(), "len");
  if (Hot().page == nullptr || function == nullptr) {
    return state.SkipWithError("not tracing");
  }
  benchmark::DoNotOptimize(hook);  // called as CPython calls it
  uint64_t rounds = 0;
  for (auto _ : state) {
    hook(nullptr, frame, PyTrace_CALL, Py_None);
    hook(nullptr, frame, PyTrace_C_CALL, function);
    hook(nullptr, frame, PyTrace_C_RETURN, function);
    hook(nullptr, frame, PyTrace_RETURN, Py_None);
    if (++rounds % kTakeEach == 0) TakeAll();
  }
  TakeAll();
  state.counters["time/event"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kEvents,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_EmptyHook(benchmark::State& state) { Rounds(state, EmptyHook); }
BENCHMARK(BM_EmptyHook);

void BM_Hook(benchmark::State& state, const TraceConfig* config) {
  if (!g_parts.log.Create(Hot(), config))
    return state.SkipWithError("no memory");
  Rounds(state, CallHooks::hook(g_parts.log));
}
BENCHMARK_CAPTURE(BM_Hook, everything, &g_everything);
BENCHMARK_CAPTURE(BM_Hook, changes, &g_changes);
BENCHMARK_CAPTURE(BM_Hook, calls, &g_calls);

// A block and its end, with all of the heap logged: two events. Run with the
// argument `heap`.
void BM_Block(benchmark::State& state) {
  uint64_t blocks = 0;
  for (auto _ : state) {
    PyObject_Free(PyObject_Malloc(32));
    if (++blocks % 1024 == 0) TakeAll();
  }
  TakeAll();
}

PyObject* Run(PyObject*, PyObject*) {
  benchmark::RunSpecifiedBenchmarks();
  Py_RETURN_NONE;
}

PyObject* MakeModule() {
  static PyMethodDef methods[] = {{"run", Run, METH_NOARGS, nullptr}, {}};
  static PyModuleDef module = {PyModuleDef_HEAD_INIT,
                               "_benchmarks",
                               nullptr,
                               -1,
                               methods,
                               nullptr,
                               nullptr,
                               nullptr,
                               nullptr};
  return PyModule_Create(&module);
}

int Main(bool heap) {
  RegionFds fds;
  ControlPage* page = SharedRegion::Create(true, RingSizes::kWhole, &fds);
  if (page == nullptr) return 1;
  void* const reply = mmap(nullptr, kReplyBytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED, fds.reply, 0);
  if (reply == MAP_FAILED) return 1;
  g_reply = static_cast<ReplyPage*>(reply);
  g_reply->collector_pid = static_cast<uint32_t>(getpid());  // it lives
  page->on_full = OnFull::kDrop;
  g_changes.min_drss_bytes = g_calls.min_drss_bytes = 4096;
  g_calls.min_call_drss_bytes = 1 << 30;
  if (heap) {
    g_everything.heap.mode = HeapMode::kAll;
    benchmark::RegisterBenchmark("BM_Block", BM_Block);
  }
  if (Session::Prepare(page, &g_everything) != nullptr) return 1;
  PyImport_AppendInittab("_benchmarks", MakeModule);
  char program[] = PYMEMRUN_PYTHON_EXECUTABLE;
  char option[] = "-c";
  char script[] = "import _benchmarks; _benchmarks.run()";
  char* arguments[] = {program, option, script};
  return Py_BytesMain(3, arguments);
}

}  // namespace
}  // namespace pymemrun

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  return pymemrun::Main(argc > 1 && strcmp(argv[1], "heap") == 0);
}
