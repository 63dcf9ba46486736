// A Python module that counts, by itself, which blocks are alive and which line
// asked for them: a layer on CPython's allocators below the tracer's, for tests
// to compare with. Imported before the tracer puts its hooks in.
//
//   begin()         forgets what was allocated before
//   snapshot(name)  writes $HEAP_ORACLE/name: a line for each place, with tabs:
//                   file, line, blocks, bytes
//   churn(rounds, keep)  without the GIL: asks the raw allocator for blocks and
//                   frees them, except every `keep`th; 0: frees all
//   fail(n)         the nth request from here on gets no memory; 0: none
//   make(count, bytes), drop()  raw blocks made under the GIL, and freed
//                   without it
//
// At the C exit it writes the snapshot `end`.

#include <Python.h>
#include <stdlib.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

struct Place {
  const std::string* file;
  int line;
  bool operator<(const Place& other) const {
    return std::pair(file, line) < std::pair(other.file, other.line);
  }
};
struct Block {
  size_t size;
  Place place;
};

std::recursive_mutex g_mutex;
std::unordered_map<void*, Block>* g_live;
std::unordered_set<std::string>* g_files;
PyMemAllocatorEx g_below[3];
std::vector<void*> g_made;
// In the calling thread the allocator above counts the block already, or has
// asked for its own books.
thread_local bool t_inside = false;

// Requests up to the one that fails; 0: none does.
std::atomic<long> g_fails_in;

bool Fails() { return g_fails_in.load() > 0 && g_fails_in.fetch_sub(1) == 1; }

struct Inside {
  const bool before = t_inside;
  Inside() { t_inside = true; }
  ~Inside() { t_inside = before; }
};

template <typename T>
T Load(const void* base, size_t offset) {
  return *reinterpret_cast<T const*>(static_cast<const char*>(base) + offset);
}

// Whether the frame has come to the instruction where its line can be traced.
// One that has not is still being made; a generator's always has.
bool HasBegun(const void* frame) {
  const auto* code = Load<const PyCodeObject*>(frame, 32);
  const long at = Load<const char*>(frame, 56) - code->co_code_adaptive;
  return at / 2 >= code->_co_firsttraceable || Load<char>(frame, 69) == 1;
}

// Of the calling thread's innermost frame that has begun; CPython 3.11.
Place PlaceNow() {
  static const std::string none = "<interpreter>";
  PyThreadState* own = PyGILState_GetThisThreadState();
  const void* frame = own != nullptr ? own->cframe->current_frame : nullptr;
  while (frame != nullptr && !HasBegun(frame)) {
    frame = Load<const void*>(frame, 48);
  }
  if (frame == nullptr) return {&none, 0};
  auto* code = Load<PyCodeObject*>(frame, 32);
  const char* instruction = Load<const char*>(frame, 56);
  const long at = instruction - code->co_code_adaptive;
  const char* file =
      PyUnicode_IS_ASCII(code->co_filename)
          ? static_cast<const char*>(PyUnicode_DATA(code->co_filename))
          : "?";
  // What no line asked for is -1.
  const int line = PyCode_Addr2Line(code, static_cast<int>(at));
  return {&*g_files->insert(file).first, line < 0 ? 0 : line};
}

void Came(void* block, size_t size) {
  if (block == nullptr) return;
  const std::lock_guard lock(g_mutex);
  (*g_live)[block] = {size, PlaceNow()};
}

void Goes(void* block) {
  const std::lock_guard lock(g_mutex);
  g_live->erase(block);
}

void* Malloc(void* below, size_t size) {
  const auto* next = static_cast<PyMemAllocatorEx*>(below);
  if (t_inside) return next->malloc(next->ctx, size);
  if (Fails()) return nullptr;
  const Inside inside;
  void* block = next->malloc(next->ctx, size);
  Came(block, size);
  return block;
}

void* Calloc(void* below, size_t count, size_t each) {
  const auto* next = static_cast<PyMemAllocatorEx*>(below);
  if (t_inside) return next->calloc(next->ctx, count, each);
  if (Fails()) return nullptr;
  const Inside inside;
  void* block = next->calloc(next->ctx, count, each);
  Came(block, count * each);
  return block;
}

void* Realloc(void* below, void* old, size_t size) {
  const auto* next = static_cast<PyMemAllocatorEx*>(below);
  if (t_inside) return next->realloc(next->ctx, old, size);
  if (Fails()) return nullptr;
  const Inside inside;
  // Nobody else gets an address that it gives back before it is known here.
  const std::lock_guard lock(g_mutex);
  void* block = next->realloc(next->ctx, old, size);
  if (block != nullptr) g_live->erase(old);
  Came(block, size);
  return block;
}

void Free(void* below, void* block) {
  const auto* next = static_cast<PyMemAllocatorEx*>(below);
  if (!t_inside && block != nullptr) Goes(block);
  const Inside inside;
  next->free(next->ctx, block);
}

void Hook() {
  const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM,
                                          PYMEM_DOMAIN_OBJ};
  for (int i = 0; i < 3; ++i) {
    PyMem_GetAllocator(domains[i], &g_below[i]);
    PyMemAllocatorEx hook = {&g_below[i], Malloc, Calloc, Realloc, Free};
    PyMem_SetAllocator(domains[i], &hook);
  }
}

void Write(const char* name) {
  const std::lock_guard lock(g_mutex);
  std::map<Place, std::pair<size_t, size_t>> places;
  for (const auto& [address, block] : *g_live) {
    auto& [blocks, bytes] = places[block.place];
    ++blocks;
    bytes += block.size;
  }
  const char* folder = getenv("HEAP_ORACLE");
  if (folder == nullptr) return;
  FILE* file = fopen((std::string(folder) + "/" + name).c_str(), "w");
  if (file == nullptr) return;
  for (const auto& [place, sum] : places) {
    fprintf(file, "%s\t%d\t%zu\t%zu\n", place.file->c_str(), place.line,
            sum.first, sum.second);
  }
  fclose(file);
}

PyObject* Begin(PyObject*, PyObject*) {
  const std::lock_guard lock(g_mutex);
  g_live->clear();
  Py_RETURN_NONE;
}

PyObject* Snapshot(PyObject*, PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (text == nullptr) return nullptr;
  Write(text);
  Py_RETURN_NONE;
}

PyObject* Fail(PyObject*, PyObject* number) {
  const long n = PyLong_AsLong(number);
  if (n == -1 && PyErr_Occurred() != nullptr) return nullptr;
  g_fails_in.store(n);
  Py_RETURN_NONE;
}

PyObject* Churn(PyObject*, PyObject* args) {
  int rounds, keep;
  if (!PyArg_ParseTuple(args, "ii", &rounds, &keep)) return nullptr;
  Py_BEGIN_ALLOW_THREADS;
  void* last = nullptr;
  for (int i = 1; i <= rounds; ++i) {
    void* block = PyMem_RawMalloc(600 + i % 7 * 16);
    if (keep != 0 && i % keep == 0) continue;
    if (i % 3 == 0) {
      PyMem_RawFree(block);
      continue;
    }
    PyMem_RawFree(last);
    last = PyMem_RawRealloc(block, 700 + i % 5 * 32);
  }
  PyMem_RawFree(last);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyObject* Make(PyObject*, PyObject* args) {
  int count, bytes;
  if (!PyArg_ParseTuple(args, "ii", &count, &bytes)) return nullptr;
  for (int i = 0; i < count; ++i) {
    g_made.push_back(PyMem_RawMalloc(static_cast<size_t>(bytes)));
  }
  Py_RETURN_NONE;
}

PyObject* Drop(PyObject*, PyObject*) {
  std::vector<void*> made;
  made.swap(g_made);
  Py_BEGIN_ALLOW_THREADS;
  for (void* block : made) PyMem_RawFree(block);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyMethodDef g_methods[] = {{"begin", Begin, METH_NOARGS, nullptr},
                           {"snapshot", Snapshot, METH_O, nullptr},
                           {"fail", Fail, METH_O, nullptr},
                           {"churn", Churn, METH_VARARGS, nullptr},
                           {"make", Make, METH_VARARGS, nullptr},
                           {"drop", Drop, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};
PyModuleDef g_module = {PyModuleDef_HEAD_INIT,
                        "heap_oracle",
                        nullptr,
                        -1,
                        g_methods,
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_heap_oracle() {
  g_live = new std::unordered_map<void*, Block>;
  g_files = new std::unordered_set<std::string>;
  Hook();
  atexit([] { Write("end"); });
  return PyModule_Create(&g_module);
}
