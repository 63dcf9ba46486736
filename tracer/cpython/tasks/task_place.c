#define Py_BUILD_CORE 1
#include "tracer/cpython/tasks/task_place.h"

#include <string.h>

#include "tracer/cpython/lifetime.h"

#ifdef PYMEMRUN_TASKS
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_interpframe_structs.h"
#include "internal/pycore_tstate.h"
#endif

static PymemrunStepHooks g_hooks;
static sendfunc g_send;
static PyCFunction g_throw;  // as its flags say

// The module _asyncio, as of the time when sys.modules had this many entries.
// It is looked up again when the number has changed.
static struct {
  Py_ssize_t modules;
  PyTypeObject* type;       // of tasks; NULL: the module is not there
  PyObject* current;        // the dict of tasks that run, by loop
  PyTypeObject* cancelled;  // CancelledError; NULL: not found
  size_t coroutine;         // where a task has its coroutine; 0: not known yet
} g_asyncio;

// How a coroutine ended that raised the current exception. The class that was
// looked up is only compared: the program may have replaced it since.
static PymemrunStepEnd EndByException(void) {
  PyTypeObject* const type = (PyTypeObject*)PyErr_Occurred();
  if (type == NULL ||
      PyType_IsSubtype(type, (PyTypeObject*)PyExc_StopIteration)) {
    return kPymemrunStepReturns;
  }
  return g_asyncio.cancelled != NULL &&
                 PyType_IsSubtype(type, g_asyncio.cancelled)
             ? kPymemrunStepCancelled
             : kPymemrunStepRaises;
}

// After throw(), which raises StopIteration where the coroutine returned.
static PymemrunStepEnd EndOfThrow(const PyObject* result) {
  return result != NULL ? kPymemrunStepWaits : EndByException();
}

static PySendResult Send(PyObject* coroutine, PyObject* value,
                         PyObject** result) {
  _Alignas(16) char step[PYMEMRUN_STEP_BYTES];
  if (!g_hooks.begin(coroutine, step)) return g_send(coroutine, value, result);
  const PySendResult sent = g_send(coroutine, value, result);
  g_hooks.end(coroutine,
              sent == PYGEN_NEXT     ? kPymemrunStepWaits
              : sent == PYGEN_RETURN ? kPymemrunStepReturns
                                     : EndByException(),
              step);
  return sent;
}

static PyObject* ThrowTuple(PyObject* coroutine, PyObject* arguments) {
  _Alignas(16) char step[PYMEMRUN_STEP_BYTES];
  if (!g_hooks.begin(coroutine, step)) return g_throw(coroutine, arguments);
  PyObject* const result = g_throw(coroutine, arguments);
  g_hooks.end(coroutine, EndOfThrow(result), step);
  return result;
}

typedef PyObject* (*FastFunction)(PyObject*, PyObject* const*, Py_ssize_t);

static PyObject* ThrowArray(PyObject* coroutine, PyObject* const* arguments,
                            Py_ssize_t count) {
  const FastFunction real = (FastFunction)(void*)g_throw;
  _Alignas(16) char step[PYMEMRUN_STEP_BYTES];
  if (!g_hooks.begin(coroutine, step)) return real(coroutine, arguments, count);
  PyObject* const result = real(coroutine, arguments, count);
  g_hooks.end(coroutine, EndOfThrow(result), step);
  return result;
}

static void WatchThrow(void) {
  PyMethodDef* method = PyCoro_Type.tp_methods;
  for (; method != NULL && method->ml_name != NULL; ++method) {
    if (strcmp(method->ml_name, "throw") != 0) continue;
    if (method->ml_flags == METH_VARARGS) {
      g_throw = method->ml_meth;
      method->ml_meth = ThrowTuple;
    } else if (method->ml_flags == METH_FASTCALL) {
      g_throw = method->ml_meth;
      method->ml_meth = (PyCFunction)(void*)ThrowArray;
    }
    return;
  }
}

int PymemrunWatchSteps(const PymemrunStepHooks* hooks) {
  PyAsyncMethods* const methods = PyCoro_Type.tp_as_async;
  if (g_send != NULL || methods == NULL || methods->am_send == NULL) return 0;
  g_hooks = *hooks;
  g_send = methods->am_send;
  methods->am_send = Send;
  WatchThrow();
  return 1;
}

// Without a lookup: that would make a str.
static PyObject* ItemOf(PyObject* dict, const char* name) {
  Py_ssize_t at = 0;
  PyObject *key, *value;
  while (PyDict_Next(dict, &at, &key, &value)) {
    if (PyUnicode_Check(key) &&
        PyUnicode_CompareWithASCIIString(key, name) == 0) {
      return value;
    }
  }
  return NULL;
}

// Dictionary of a loaded module; NULL: not loaded.
static PyObject* DictOf(PyObject* modules, const char* name) {
  PyObject* const module = ItemOf(modules, name);
  return module != NULL && PyModule_CheckExact(module)
             ? PyModule_GetDict(module)
             : NULL;
}

static void LookForAsyncio(PyObject* modules) {
  g_asyncio.type = NULL;
  PyObject* const dict = DictOf(modules, "_asyncio");
  if (dict == NULL) return;
  PyObject* const exceptions = DictOf(modules, "asyncio.exceptions");
  g_asyncio.cancelled =
      exceptions != NULL ? (PyTypeObject*)ItemOf(exceptions, "CancelledError")
                         : NULL;
  PyObject* const type = ItemOf(dict, "Task");
  if (type == NULL || !PyType_Check(type)) return;
#if PY_VERSION_HEX < 0x030E0000
  g_asyncio.current = ItemOf(dict, "_current_tasks");
  if (g_asyncio.current == NULL || !PyDict_CheckExact(g_asyncio.current)) {
    return;
  }
#endif
  g_asyncio.type = (PyTypeObject*)type;
}

static int KnowsAsyncio(void) {
  if (PymemrunIsFinalizing() ||
      PyInterpreterState_Get() != PyInterpreterState_Main()) {
    return 0;
  }
  PyObject* const modules = PyImport_GetModuleDict();
  if (!PyDict_CheckExact(modules)) return 0;
  const Py_ssize_t size = PyDict_GET_SIZE(modules);
  if (size != g_asyncio.modules) {
    g_asyncio.modules = size;
    LookForAsyncio(modules);
  }
  return g_asyncio.type != NULL;
}

static PyObject* WordOf(PyObject* object, size_t at) {
  return *(PyObject* const*)((const char*)object + at);
}

// Layouts differ between versions. The place of the coroutine is found in the
// first task that runs.
static int IsItsCoroutine(PyObject* task, PyObject* coroutine) {
  if (Py_TYPE(task) != g_asyncio.type &&
      !PyType_IsSubtype(Py_TYPE(task), g_asyncio.type)) {
    return 0;
  }
  if (g_asyncio.coroutine != 0) {
    return WordOf(task, g_asyncio.coroutine) == coroutine;
  }
  const size_t size = (size_t)g_asyncio.type->tp_basicsize;
  for (size_t at = sizeof(PyObject); at + 2 * sizeof(PyObject*) <= size;
       at += sizeof(PyObject*)) {
    if (WordOf(task, at) != coroutine) continue;
    g_asyncio.coroutine = at;
    return 1;
  }
  return 0;
}

PyObject* PymemrunTaskOf(PyObject* coroutine) {
  if (!KnowsAsyncio()) return NULL;
#if PY_VERSION_HEX >= 0x030E0000
  PyObject* const task =
      ((const _PyThreadStateImpl*)PyThreadState_Get())->asyncio_running_task;
  if (task != NULL && IsItsCoroutine(task, coroutine)) return task;
#else
  Py_ssize_t at = 0;
  PyObject *loop, *task;
  while (PyDict_Next(g_asyncio.current, &at, &loop, &task)) {
    if (IsItsCoroutine(task, coroutine)) return task;
  }
#endif
  return NULL;
}

// The name is behind the coroutine.
PyObject* PymemrunTaskName(PyObject* task) {
  PyObject* const name = WordOf(task, g_asyncio.coroutine + sizeof(PyObject*));
  return name != NULL && (PyUnicode_Check(name) || PyLong_CheckExact(name))
             ? name
             : NULL;
}

#if PY_VERSION_HEX >= 0x030B0000
static const PymemrunFrame* FrameOf(PyObject* generator) {
#if PY_VERSION_HEX >= 0x030E0000
  return (const PymemrunFrame*)&((struct _PyGenObject*)generator)->gi_iframe;
#else
  return (const PymemrunFrame*)((PyGenObject*)generator)->gi_iframe;
#endif
}

PyCodeObject* PymemrunCoroutineCode(PyObject* coroutine) {
  return PymemrunFrameCode(FrameOf(coroutine));
}

// Frame of a coroutine that waits or has not started.
static const PymemrunFrame* WaitingFrame(PyObject* generator) {
#if PY_VERSION_HEX >= 0x030E0000
  const int state = ((struct _PyGenObject*)generator)->gi_frame_state;
#else
  const int state = ((PyGenObject*)generator)->gi_frame_state;
#endif
  return state < 0 ? FrameOf(generator) : NULL;
}

// Top of the value stack of the frame: for a coroutine that waits, what it
// awaits.
static PyObject* TopOf(const PymemrunFrame* frame) {
  const PyCodeObject* const code = PymemrunFrameCode(frame);
  const char* const locals = (const char*)frame + PYMEMRUN_FRAME_LOCALS;
#if PY_VERSION_HEX >= 0x030E0000
  const char* const top =
      (const char*)((const _PyInterpreterFrame*)frame)->stackpointer;
  if (top == NULL) return NULL;
  const Py_ssize_t count = (top - locals) / (Py_ssize_t)sizeof(PyObject*);
#else
  const Py_ssize_t count = PYMEMRUN_LOAD(int, frame, 64);  // stacktop
#endif
  if (count <= code->co_nlocalsplus ||
      count > code->co_nlocalsplus + code->co_stacksize) {
    return NULL;
  }
  const uintptr_t word =
      PYMEMRUN_LOAD(uintptr_t, locals, ((size_t)count - 1) * sizeof(PyObject*));
#ifdef PYMEMRUN_FRAME_TAG
  return (word & 2) != 0 ? NULL
                         : (PyObject*)(word & ~(uintptr_t)PYMEMRUN_FRAME_TAG);
#else
  return (PyObject*)word;
#endif
}
#else
PyCodeObject* PymemrunCoroutineCode(PyObject* coroutine) {
  return (PyCodeObject*)((PyCoroObject*)coroutine)->cr_code;
}
static const PymemrunFrame* WaitingFrame(PyObject* generator) {
  const PyFrameObject* const frame = ((PyGenObject*)generator)->gi_frame;
  return frame != NULL && frame->f_state < FRAME_EXECUTING ? frame : NULL;
}
static PyObject* TopOf(const PymemrunFrame* frame) {
  return frame->f_stackdepth > 0 && frame->f_valuestack != NULL
             ? frame->f_valuestack[frame->f_stackdepth - 1]
             : NULL;
}
#endif

// A generator may wait on its own account, with anything on top.
size_t PymemrunAwaitedFrames(PyObject* coroutine, const PymemrunFrame** frames,
                             size_t most) {
  size_t count = 0;
  PyObject* at = coroutine;
  while (at != NULL && count < most &&
         (PyCoro_CheckExact(at) || PyGen_CheckExact(at))) {
    const PymemrunFrame* const frame = WaitingFrame(at);
    if (frame == NULL) break;
    frames[count++] = frame;
    at = PyCoro_CheckExact(at) ? TopOf(frame) : NULL;
  }
  return count;
}
#endif  // PYMEMRUN_TASKS
