// The interpreter has a pointer to the list gc.callbacks. It is redirected to a
// list of the tracer with one function, which calls the entries of the
// program's list as the interpreter does. The program cannot reach this list:
// the collector does not know it, and the module gc gets the list of the
// program when it is created.
#define Py_BUILD_CORE 1
#include "tracer/cpython/gc/gc_runs.h"

#include <string.h>

#ifdef Py_GIL_DISABLED
int PymemrunHearsGcRuns(void) { return 0; }
void PymemrunPrepareGcRuns(void) {}
int PymemrunWatchGcRuns(const PymemrunGcHeard* heard) {
  (void)heard;
  return 0;
}
void PymemrunForgetGcRuns(void) {}
#else
#include "internal/pycore_interp.h"

static PymemrunGcHeard g_heard;
static PyObject* g_ours;      // the list; NULL: none was made yet
static PyObject* g_programs;  // the other; NULL: the interpreter has it
static int g_prepared;

static struct _gc_runtime_state* Gc(void) {
  return &PyInterpreterState_Main()->gc;
}

static void Swap(void) {
  PyObject* const programs = Gc()->callbacks;
  Gc()->callbacks = g_ours;
  g_programs = programs;
}

static void SwapBack(void) {
  if (g_programs == NULL) return;
  Gc()->callbacks = g_programs;
  g_programs = NULL;
}

// As the interpreter says that a callback raised.
static void SayUnraisable(PyObject* callback) {
#if PY_VERSION_HEX < 0x030E0000
  PyErr_WriteUnraisable(callback);
#else
  PyErr_FormatUnraisable("Exception ignored while calling GC callback %R",
                         callback);
#endif
}

// As invoke_gc_callback() of CPython calls them: by their order now, which they
// may change, each kept alive for its call.
static void CallPrograms(PyObject* const* arguments) {
  for (Py_ssize_t i = 0; g_programs != NULL && i < PyList_GET_SIZE(g_programs);
       ++i) {
    PyObject* const callback = PyList_GET_ITEM(g_programs, i);
    Py_INCREF(callback);
    PyObject* const result = PyObject_Vectorcall(callback, arguments, 2, NULL);
    if (result == NULL) {
      SayUnraisable(callback);
    } else {
      Py_DECREF(result);
    }
    Py_DECREF(callback);
  }
}

// The values are in the order in which they were put there.
static PymemrunGcRun RunIn(PyObject* info) {
  PymemrunGcRun run = {0, 0, 0};
  uint64_t values[3] = {0, 0, 0};
  Py_ssize_t at = 0;
  PyObject* value = NULL;
  for (int i = 0; i < 3 && PyDict_Next(info, &at, NULL, &value); ++i) {
    const long long number = PyLong_Check(value) ? PyLong_AsLongLong(value) : 0;
    if (number > 0) values[i] = (uint64_t)number;
  }
  run.generation = (uint32_t)values[0];
  run.collected = values[1];
  run.uncollectable = values[2];
  return run;
}

static int NewestCount(void) {
#if PY_VERSION_HEX < 0x030E0000
  return Gc()->generations[0].count;
#else
  return 0;
#endif
}

static void SetNewestCount(int count) {
#if PY_VERSION_HEX < 0x030E0000
  Gc()->generations[0].count = count;
#else
  (void)count;
#endif
}

// Frees the dict at once, instead of keeping it for the next one.
static void FreeInfo(PyObject* info) {
  PyObject_GC_UnTrack(info);
  Py_SET_TYPE(info, &PyDict_Type);
  PyObject_GC_Del(info);
}

static PyTypeObject g_info_type;

// References to the dict if no callback has kept it: that of the interpreter,
// and until 3.11 that of the call.
#if PY_VERSION_HEX < 0x030C0000
enum { kInfoReferences = 2 };
#else
enum { kInfoReferences = 1 };
#endif

// Without callbacks of the program the dict exists only for the tracer. A full
// run has freed the dicts kept for reuse, so this one counts as new, and must
// not be kept: the counts of the collector must be as without the tracer.
static void LetInfoGo(PyObject* info, uint32_t generation) {
  if (generation != 2 || PyList_GET_SIZE(g_programs) != 0) return;
  if (!PyDict_CheckExact(info) || Py_REFCNT(info) != kInfoReferences) {
    return;
  }
  if (g_info_type.tp_dealloc == NULL) {
    g_info_type = PyDict_Type;
    g_info_type.tp_dealloc = FreeInfo;
  }
  PyDict_Clear(info);
  Py_SET_TYPE(info, &g_info_type);
}

static PyObject* OnPhase(PyObject* self, PyObject* const* arguments,
                         Py_ssize_t count) {
  (void)self;
  if (count != 2 || g_programs == NULL) Py_RETURN_NONE;
  PyObject* const info = arguments[1];
  const char* const phase = PyUnicode_AsUTF8(arguments[0]);
  if (phase != NULL && strcmp(phase, "stop") == 0) {
    const PymemrunGcRun run = RunIn(info);
    g_heard.ends(&run);
    CallPrograms(arguments);
    if (g_programs != NULL) LetInfoGo(info, run.generation);
  } else {
    CallPrograms(arguments);
    g_heard.begins();
  }
  Py_RETURN_NONE;
}

static PyMethodDef g_method = {"pymemrun", (PyCFunction)(void*)OnPhase,
                               METH_FASTCALL, NULL};

int PymemrunHearsGcRuns(void) { return 1; }

int PymemrunWatchGcRuns(const PymemrunGcHeard* heard) {
  g_heard = *heard;
  if (!g_prepared || g_programs != NULL) return g_programs != NULL;
  const int count = NewestCount();
  if (Gc()->callbacks == NULL) Gc()->callbacks = PyList_New(0);
  PyObject* const function = PyCFunction_New(&g_method, NULL);
  g_ours = function == NULL ? NULL : PyList_New(1);
  const int made = g_ours != NULL && Gc()->callbacks != NULL;
  if (made) {
    PyList_SET_ITEM(g_ours, 0, function);
    PyObject_GC_UnTrack(g_ours);
    PyObject_GC_UnTrack(function);
    Swap();
  } else {
    Py_XDECREF(function);
    PyErr_Clear();
  }
  SetNewestCount(count);
  return made;
}

void PymemrunForgetGcRuns(void) {
  SwapBack();
  g_ours = NULL;  // the interpreter may be in the middle of it
}

// The module gc takes the interpreter's list when it is made. Each import of it
// anew makes one.
static PyObject* (*g_real_init)(void);

static int IsMain(void) {
  return PyThreadState_Get()->interp == PyInterpreterState_Main();
}

static int BeforeGcIsMade(PyObject* module) {
  (void)module;
  if (g_ours != NULL && IsMain()) SwapBack();
  return 0;
}

static int GcIsMade(PyObject* module) {
  (void)module;
  if (g_ours != NULL && g_programs == NULL && IsMain()) Swap();
  return 0;
}

enum { kMostSlots = 16 };

// Its definition with ours around what fills it.
static PyObject* Surrounded(PyModuleDef* real) {
  static PyModuleDef definition;
  static PyModuleDef_Slot slots[kMostSlots + 3];
  if (definition.m_slots == NULL) {
    int count = 0;
    slots[count++] =
        (PyModuleDef_Slot){Py_mod_exec, (void*)(uintptr_t)BeforeGcIsMade};
    for (const PyModuleDef_Slot* slot = real->m_slots;
         slot != NULL && slot->slot != 0 && count <= kMostSlots; ++slot) {
      slots[count++] = *slot;
    }
    slots[count++] =
        (PyModuleDef_Slot){Py_mod_exec, (void*)(uintptr_t)GcIsMade};
    definition = *real;
    definition.m_base = (PyModuleDef_Base)PyModuleDef_HEAD_INIT;
    definition.m_slots = slots;
  }
  return PyModuleDef_Init(&definition);
}

static PyObject* InitGc(void) {
  BeforeGcIsMade(NULL);
  PyObject* const made = g_real_init();
  GcIsMade(NULL);
  return made != NULL && Py_TYPE(made) == &PyModuleDef_Type
             ? Surrounded((PyModuleDef*)made)
             : made;
}

void PymemrunPrepareGcRuns(void) {
  for (struct _inittab* entry = PyImport_Inittab;
       entry != NULL && entry->name != NULL; ++entry) {
    if (strcmp(entry->name, "gc") != 0) continue;
    if (entry->initfunc != InitGc) g_real_init = entry->initfunc;
    entry->initfunc = InitGc;
    g_prepared = 1;
  }
}
#endif
