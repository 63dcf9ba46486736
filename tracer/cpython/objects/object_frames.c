// Frames and what they refer to: local variables by name, values on the stack.
#define Py_BUILD_CORE 1
#include "tracer/cpython/objects/object_roots.h"

#ifndef PYMEMRUN_NO_OBJECTS
#include "internal/pycore_interp.h"
#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x030B0000
#include "internal/pycore_code.h"
#include "internal/pycore_frame.h"
#endif
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_interpframe.h"
#endif
#include <frameobject.h>

#include "tracer/cpython/compat.h"

static PyObject* ItemOf(PyObject* tuple, Py_ssize_t at) {
  return tuple != NULL && at >= 0 && at < PyTuple_GET_SIZE(tuple)
             ? PyTuple_GET_ITEM(tuple, at)
             : NULL;
}

// The name of a code object's variable: first plain ones, then cells, then
// those from outside.
static PyObject* VariableName(const PyCodeObject* code, Py_ssize_t at) {
#if PY_VERSION_HEX >= 0x030B0000
  return ItemOf(code->co_localsplusnames, at);
#else
  if (at < code->co_nlocals) return ItemOf(code->co_varnames, at);
  at -= code->co_nlocals;
  const Py_ssize_t cells = PyTuple_GET_SIZE(code->co_cellvars);
  if (at < cells) return ItemOf(code->co_cellvars, at);
  return ItemOf(code->co_freevars, at - cells);
#endif
}

static Py_ssize_t VariableCount(const PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  return code->co_nlocalsplus;
#else
  return code->co_nlocals + PyTuple_GET_SIZE(code->co_cellvars) +
         PyTuple_GET_SIZE(code->co_freevars);
#endif
}

#if PY_VERSION_HEX >= 0x030E0000
typedef _PyStackRef Value;

// A frame's values may carry a tag, and some are plain numbers.
static PyObject* ObjectIn(_PyStackRef value) {
  return PyStackRef_IsNullOrInt(value) ? NULL
                                       : PyStackRef_AsPyObjectBorrow(value);
}
#else
typedef PyObject* Value;

static PyObject* ObjectIn(PyObject* value) { return value; }
#endif

static void ValueEdges(const Value* values, Py_ssize_t count,
                       const PyCodeObject* code, int always,
                       const PymemrunSink* sink) {
  const Py_ssize_t variables = VariableCount(code);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const int is_variable = i < variables;
    PymemrunTell(sink, ObjectIn(values[i]),
                 is_variable ? kPymemrunLocal : kPymemrunStack, always,
                 is_variable ? VariableName(code, i) : NULL, NULL);
  }
}

void PymemrunClosureNames(PyObject* function, const PymemrunSink* sink) {
  const PyFunctionObject* f = (PyFunctionObject*)function;
  const PyCodeObject* code = (PyCodeObject*)f->func_code;
  if (f->func_closure == NULL) return;
  const Py_ssize_t count = PyTuple_GET_SIZE(f->func_closure);
  const Py_ssize_t first = VariableCount(code) - count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PymemrunTell(sink, PyTuple_GET_ITEM(f->func_closure, i), kPymemrunCell, 1,
                 VariableName(code, first + i), NULL);
  }
}

#if PY_VERSION_HEX >= 0x030B0000
static const _PyInterpreterFrame* FrameOf(const void* frame) {
  return (const _PyInterpreterFrame*)frame;
}

static PyObject* CodeOf(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  return ObjectIn(frame->f_executable);
#elif PY_VERSION_HEX >= 0x030D0000
  return frame->f_executable;
#else
  return (PyObject*)frame->f_code;
#endif
}

static PyObject* CalledOf(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  return ObjectIn(frame->f_funcobj);
#elif PY_VERSION_HEX >= 0x030C0000
  return frame->f_funcobj;
#else
  return (PyObject*)frame->f_func;
#endif
}

static int RunsPython(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  if (frame->owner >= FRAME_OWNED_BY_INTERPRETER) return 0;
#elif PY_VERSION_HEX >= 0x030C0000
  if (frame->owner == FRAME_OWNED_BY_CSTACK) return 0;
#endif
  PyObject* code = CodeOf(frame);
  return code != NULL && PyCode_Check(code);
}

const void* PymemrunNextRunningFrame(PyThreadState* thread, const void* frame) {
  const _PyInterpreterFrame* next =
      frame != NULL
          ? FrameOf(frame)->previous
          : (const _PyInterpreterFrame*)PymemrunInnermostFrame(thread);
  while (next != NULL && !RunsPython(next)) next = next->previous;
  return next;
}

static PyCodeObject* RunningCode(const void* frame) {
  return (PyCodeObject*)CodeOf(FrameOf(frame));
}

PyObject* PymemrunRunningName(const void* frame) {
  return RunningCode(frame)->co_qualname;
}

int PymemrunRunningLine(const void* frame) {
  const uint32_t at = PymemrunFramePosition((const PymemrunFrame*)frame);
  PyCodeObject* code = RunningCode(frame);
  const int line = PyCode_Addr2Line(code, (int32_t)at < 0 ? -1 : (int)at * 2);
  return line > 0 ? line : 0;
}

static Py_ssize_t StackTop(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  return frame->stackpointer != NULL ? frame->stackpointer - frame->localsplus
                                     : 0;
#else
  return frame->stacktop;
#endif
}

// A frame that runs C code just now may not tell how high its stack is.
static Py_ssize_t KnownValues(const _PyInterpreterFrame* frame) {
  const Py_ssize_t variables =
      ((const PyCodeObject*)CodeOf(frame))->co_nlocalsplus;
  const Py_ssize_t top = StackTop(frame);
  return top > variables ? top : variables;
}

void PymemrunFrameEdges(const void* running, const PymemrunSink* sink) {
  const _PyInterpreterFrame* frame = FrameOf(running);
  const PyCodeObject* code = RunningCode(running);
  PymemrunTell(sink, (void*)code, kPymemrunCode, 1, NULL, "f_code");
  PymemrunTell(sink, CalledOf(frame), kPymemrunAttribute, 1, NULL, "function");
  PymemrunTell(sink, frame->f_globals, kPymemrunGlobals, 1, NULL, "f_globals");
  PymemrunTell(sink, frame->f_builtins, kPymemrunAttribute, 1, NULL,
               "f_builtins");
  PymemrunTell(sink, frame->f_locals, kPymemrunAttribute, 1, NULL, "f_locals");
  PymemrunTell(sink, frame->frame_obj, kPymemrunAttribute, 1, NULL, "frame");
  ValueEdges(frame->localsplus, KnownValues(frame), code, 1, sink);
}

void PymemrunOwnFrameEdges(PyObject* object, const PymemrunTypeFacts* facts,
                           const PymemrunSink* sink) {
  const _PyInterpreterFrame* frame = NULL;
  if (facts->shape == kPymemrunGenerator) {
    const PyGenObject* generator = (PyGenObject*)object;
    if (generator->gi_frame_state >= FRAME_COMPLETED) return;
    frame = (const _PyInterpreterFrame*)&generator->gi_iframe;
  } else {
    const struct _frame* f = (const struct _frame*)object;
    PymemrunTell(sink, f->f_back, kPymemrunAttribute, 0, NULL, "f_back");
    PymemrunTell(sink, f->f_trace, kPymemrunAttribute, 0, NULL, "f_trace");
    frame = f->f_frame;
    if (frame == NULL || frame->owner != FRAME_OWNED_BY_FRAME_OBJECT) return;
  }
  if (!RunsPython(frame)) return;
  const PyCodeObject* code = (const PyCodeObject*)CodeOf(frame);
  PymemrunTell(sink, (void*)code, kPymemrunCode, 0, NULL, "f_code");
  PymemrunTell(sink, CalledOf(frame), kPymemrunAttribute, 0, NULL, "function");
  PymemrunTell(sink, frame->f_locals, kPymemrunAttribute, 0, NULL, "f_locals");
  PymemrunTell(sink, frame->frame_obj, kPymemrunAttribute, 0, NULL, "frame");
  ValueEdges(frame->localsplus, StackTop(frame), code, 0, sink);
}
#else
const void* PymemrunNextRunningFrame(PyThreadState* thread, const void* frame) {
  return frame != NULL ? ((const PyFrameObject*)frame)->f_back : thread->frame;
}

PyObject* PymemrunRunningName(const void* frame) {
  return ((const PyFrameObject*)frame)->f_code->co_name;
}

int PymemrunRunningLine(const void* frame) {
  const PyFrameObject* f = (const PyFrameObject*)frame;
#if PY_VERSION_HEX >= 0x030A0000
  const int at = f->f_lasti * 2;
#else
  const int at = f->f_lasti;
#endif
  const int line = PyCode_Addr2Line(f->f_code, at);
  return line > 0 ? line : 0;
}

static Py_ssize_t StackDepth(const PyFrameObject* f) {
#if PY_VERSION_HEX >= 0x030A0000
  return f->f_stackdepth;
#else
  return f->f_stacktop != NULL ? f->f_stacktop - f->f_valuestack : 0;
#endif
}

void PymemrunFrameEdges(const void* running, const PymemrunSink* sink) {
  const PyFrameObject* f = (const PyFrameObject*)running;
  PymemrunTell(sink, f->f_code, kPymemrunCode, 0, NULL, "f_code");
  PymemrunTell(sink, f->f_globals, kPymemrunGlobals, 0, NULL, "f_globals");
  const struct {
    void* value;
    const char* name;
  } named[] = {
      {f->f_back, "f_back"},
      {f->f_builtins, "f_builtins"},
      {f->f_locals, "f_locals"},
      {f->f_trace, "f_trace"},
  };
  for (size_t i = 0; i < sizeof named / sizeof *named; ++i) {
    PymemrunTell(sink, named[i].value, kPymemrunAttribute, 0, NULL,
                 named[i].name);
  }
  const Py_ssize_t count = VariableCount(f->f_code);
  ValueEdges(f->f_localsplus, count, f->f_code, 0, sink);
  for (Py_ssize_t i = 0; i < StackDepth(f); ++i) {
    PymemrunTell(sink, f->f_valuestack[i], kPymemrunStack, 0, NULL, NULL);
  }
}

void PymemrunOwnFrameEdges(PyObject* object, const PymemrunTypeFacts* facts,
                           const PymemrunSink* sink) {
  if (facts->shape == kPymemrunFrameShape) {
    return PymemrunFrameEdges(object, sink);
  }
  const PyGenObject* generator = (PyGenObject*)object;
  PymemrunTell(sink, generator->gi_frame, kPymemrunAttribute, 0, NULL,
               "gi_frame");
  PymemrunTell(sink, generator->gi_code, kPymemrunCode, 0, NULL, "gi_code");
}
#endif
#endif
