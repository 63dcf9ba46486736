// Roots: what interpreters, threads and static types refer to, and the lists of
// the cycle collector.
#define Py_BUILD_CORE 1
#include "tracer/cpython/objects/object_roots.h"

#ifndef PYMEMRUN_NO_OBJECTS
#include <string.h>

#include "internal/pycore_gc.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_runtime.h"

// Others than ours run on while a child is forked: what they do is half done.
static int HasOurGil(PyInterpreterState* interpreter) {
#if PY_VERSION_HEX >= 0x030C0000
  return interpreter->ceval.gil == PyInterpreterState_Get()->ceval.gil;
#else
  return 1;
#endif
}

PyInterpreterState* PymemrunNextInterpreter(PyInterpreterState* interpreter) {
  interpreter = interpreter != NULL ? PyInterpreterState_Next(interpreter)
                                    : PyInterpreterState_Head();
  while (interpreter != NULL && !HasOurGil(interpreter)) {
    interpreter = PyInterpreterState_Next(interpreter);
  }
  return interpreter;
}

PyThreadState* PymemrunNextThread(PyInterpreterState* interpreter,
                                  PyThreadState* thread) {
  return thread != NULL ? PyThreadState_Next(thread)
                        : PyInterpreterState_ThreadHead(interpreter);
}

#if PY_VERSION_HEX >= 0x030C0000
#define IMPORTS(interpreter) (interpreter)->imports
#else
#define IMPORTS(interpreter) (*(interpreter))
#endif

PyObject* PymemrunModules(PyInterpreterState* interpreter) {
  return IMPORTS(interpreter).modules;
}

static void CodecEdges(PyInterpreterState* i, const PymemrunSink* sink) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* const fields[] = {i->codecs.search_path, i->codecs.search_cache,
                              i->codecs.error_registry};
#else
  PyObject* const fields[] = {i->codec_search_path, i->codec_search_cache,
                              i->codec_error_registry};
#endif
  const char* const names[] = {"codec_search_path", "codec_search_cache",
                               "codec_error_registry"};
  for (int k = 0; k < 3; ++k) {
    PymemrunTell(sink, fields[k], kPymemrunRoot, 1, NULL, names[k]);
  }
}

// The classes of abstract syntax trees, and their instances that are shared.
static void SyntaxEdges(PyInterpreterState* i, const PymemrunSink* sink) {
#if PY_VERSION_HEX >= 0x030A0000
  PyObject** const end = (PyObject**)(&i->ast + 1);
  for (PyObject** at = &i->ast.AST_type; at < end; ++at) {
    PymemrunTell(sink, *at, kPymemrunRoot, 1, NULL, "ast");
  }
#endif
}

void PymemrunInterpreterEdges(PyInterpreterState* i, const PymemrunSink* sink) {
  const struct {
    PyObject* value;
    const char* name;
  } fields[] = {
    {i->builtins, "builtins"},
    {i->sysdict, "sys"},
    {i->dict, "dict"},
    {i->builtins_copy, "builtins_copy"},
    {IMPORTS(i).modules_by_index, "modules_by_index"},
    {IMPORTS(i).importlib, "importlib"},
    {IMPORTS(i).import_func, "__import__"},
    {i->before_forkers, "before fork"},
    {i->after_forkers_parent, "after fork in parent"},
    {i->after_forkers_child, "after fork in child"},
    {i->audit_hooks, "audit hooks"},
    {i->warnings.filters, "warnings.filters"},
    {i->warnings.once_registry, "warnings.onceregistry"},
    {i->warnings.default_action, "warnings.defaultaction"},
    {i->gc.garbage, "gc.garbage"},
    {i->gc.callbacks, "gc.callbacks"},
#if PY_VERSION_HEX >= 0x030C0000
    {i->sysdict_copy, "sys_copy"},
#elif PY_VERSION_HEX < 0x030A0000
    {i->pyexitmodule, "atexit"},
#endif
  };
  for (size_t k = 0; k < sizeof fields / sizeof *fields; ++k) {
    PymemrunTell(sink, fields[k].value, kPymemrunRoot, 1, NULL, fields[k].name);
  }
  CodecEdges(i, sink);
  SyntaxEdges(i, sink);
}

// The classes derived from a static type, by weak references; borrowed.
static PyObject* SubclassesOf(PyInterpreterState* interpreter,
                              PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030C0000
  if ((type->tp_flags & _Py_TPFLAGS_STATIC_BUILTIN) == 0) {
    return (PyObject*)type->tp_subclasses;
  }
  const size_t at = (size_t)type->tp_subclasses;
#if PY_VERSION_HEX >= 0x030D0000
  const size_t count = interpreter->types.builtins.num_initialized;
  const managed_static_type_state* states =
      interpreter->types.builtins.initialized;
#else
  const size_t count = interpreter->types.num_builtins_initialized;
  const static_builtin_state* states = interpreter->types.builtins;
#endif
  // Those of extension modules are numbered apart.
  if (at == 0 || at > count || states[at - 1].type != type) return NULL;
  return states[at - 1].tp_subclasses;
#else
  return type->tp_subclasses;
#endif
}

// Only static types are derived from by static types, so this is not deep.
static void StaticTypesFrom(PyInterpreterState* interpreter, PyTypeObject* type,
                            const PymemrunSink* sink) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) return;
  PymemrunTell(sink, type, kPymemrunRoot, 1, NULL, type->tp_name);
  PyObject* subclasses = SubclassesOf(interpreter, type);
#if PY_VERSION_HEX >= 0x030C0000
  PymemrunTell(sink, subclasses, kPymemrunRoot, 1, NULL, "__subclasses__");
#endif
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (subclasses != NULL && PyDict_CheckExact(subclasses) &&
         PyDict_Next(subclasses, &at, &key, &value)) {
    if (!PyWeakref_CheckRef(value)) continue;
    PyObject* derived = ((PyWeakReference*)value)->wr_object;
    // Under each of its bases, told once.
    if (derived != Py_None && PyType_Check(derived) &&
        ((PyTypeObject*)derived)->tp_base == type) {
      StaticTypesFrom(interpreter, (PyTypeObject*)derived, sink);
    }
  }
}

void PymemrunStaticTypes(PyInterpreterState* interpreter,
                         const PymemrunSink* sink) {
  StaticTypesFrom(interpreter, &PyBaseObject_Type, sink);
}

void PymemrunInternedStrings(PyInterpreterState* interpreter,
                             const PymemrunSink* sink) {
#if PY_VERSION_HEX >= 0x030C0000
  PymemrunTell(sink, interpreter->cached_objects.interned_strings,
               kPymemrunRoot, 1, NULL, "interned");
#endif
}

static void ExceptionStateEdges(PyThreadState* thread,
                                const PymemrunSink* sink) {
  for (const _PyErr_StackItem* item = thread->exc_info; item != NULL;
       item = item->previous_item) {
    PymemrunTell(sink, item->exc_value, kPymemrunRoot, 1, NULL,
                 "exception handled");
#if PY_VERSION_HEX < 0x030B0000
    PymemrunTell(sink, item->exc_traceback, kPymemrunRoot, 1, NULL,
                 "traceback handled");
#endif
  }
#if PY_VERSION_HEX >= 0x030C0000
  PymemrunTell(sink, thread->current_exception, kPymemrunRoot, 1, NULL,
               "exception raised");
#else
  PymemrunTell(sink, thread->curexc_value, kPymemrunRoot, 1, NULL,
               "exception raised");
  PymemrunTell(sink, thread->curexc_traceback, kPymemrunRoot, 1, NULL,
               "traceback raised");
#endif
}

void PymemrunThreadEdges(PyThreadState* thread, const PymemrunSink* sink) {
  const struct {
    PyObject* value;
    const char* name;
  } fields[] = {
      {thread->dict, "thread dict"},
      {thread->context, "context"},
      {thread->async_exc, "asynchronous exception"},
      {thread->async_gen_firstiter, "async_gen_firstiter"},
      {thread->async_gen_finalizer, "async_gen_finalizer"},
      {thread->c_profileobj, "profile function"},
      {thread->c_traceobj, "trace function"},
  };
  for (size_t k = 0; k < sizeof fields / sizeof *fields; ++k) {
    PymemrunTell(sink, fields[k].value, kPymemrunRoot, 1, NULL, fields[k].name);
  }
  ExceptionStateEdges(thread, sink);
}

static PyObject* ItemOf(PyObject* dict, const char* name) {
  return dict != NULL && PyDict_CheckExact(dict)
             ? PyDict_GetItemString(dict, name)
             : NULL;
}

typedef struct {
  const char* name;
  PyObject* found;
  PyObject* dict;
} Attribute;

static void TakeAttribute(void* arg, const PymemrunEdge* edge) {
  Attribute* wanted = (Attribute*)arg;
  if (edge->kind == kPymemrunDict) wanted->dict = edge->target;
  if (edge->name != NULL &&
      PyUnicode_CompareWithASCIIString(edge->name, wanted->name) == 0) {
    wanted->found = edge->target;
  }
}

unsigned long PymemrunThreadNumber(const PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030B0000
  return thread->native_thread_id;
#else
  return thread->thread_id;
#endif
}

PyObject* PymemrunThreadName(PyThreadState* thread) {
  PyObject* module = ItemOf(PymemrunModules(thread->interp), "threading");
  if (module == NULL || !PyModule_Check(module)) return NULL;
  PyObject* active = ItemOf(PyModule_GetDict(module), "_active");
  if (active == NULL || !PyDict_CheckExact(active)) return NULL;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(active, &at, &key, &value);) {
    if (!PyLong_CheckExact(key) ||
        PyLong_AsUnsignedLong(key) != thread->thread_id) {
      continue;
    }
    PymemrunTypeFacts facts;
    PymemrunTypeFactsOf(Py_TYPE(value), &facts);
    Attribute wanted = {"_name", NULL, NULL};
    const PymemrunSink sink = {TakeAttribute, &wanted};
    PymemrunAttributeEdges(value, &facts, &sink);
    PyObject* name =
        wanted.found != NULL ? wanted.found : ItemOf(wanted.dict, "_name");
    return name != NULL && PyUnicode_Check(name) ? name : NULL;
  }
  PyErr_Clear();
  return NULL;
}

static void TrackedIn(PyGC_Head* list, visitproc visit, void* arg) {
  PyGC_Head* head = list;
  while (1) {
    // The lowest bits are the collector's own.
    head = (PyGC_Head*)(head->_gc_next & ~(uintptr_t)3);
    if (head == NULL || head == list) return;
    if (visit((PyObject*)(head + 1), arg) != 0) return;
  }
}

void PymemrunTrackedObjects(PyInterpreterState* interpreter, int frozen,
                            visitproc visit, void* arg) {
  struct _gc_runtime_state* gc = &interpreter->gc;
  if (frozen) return TrackedIn(&gc->permanent_generation.head, visit, arg);
#if PY_VERSION_HEX >= 0x030E0000
  // Releases of 3.14 have two names for them, at one place.
  struct gc_generation* generations =
      &gc->permanent_generation - NUM_GENERATIONS;
#else
  struct gc_generation* generations = gc->generations;
#endif
  for (int i = 0; i < NUM_GENERATIONS; ++i) {
    TrackedIn(&generations[i].head, visit, arg);
  }
}
#endif
