// The C half of compat.h: what needs CPython's internal headers.
#define _GNU_SOURCE
#define Py_BUILD_CORE 1
#include "tracer/cpython/compat.h"

#include <dlfcn.h>
#include <opcode.h>
#include <stddef.h>
#include <string.h>

#include "tracer/cpython/lifetime.h"

#if PY_VERSION_HEX >= 0x030B0000
#include "internal/pycore_frame.h"
#endif
#include "internal/pycore_interp.h"
#include "internal/pycore_pylifecycle.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_runtime.h"
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_audit.h"
#include "internal/pycore_stackref.h"
#endif

#define SAME(type, field, offset) \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field)
#if PY_VERSION_HEX >= 0x030B0000
SAME(PyFrameObject, f_frame, PYMEMRUN_FRAMEOBJ_FRAME);
SAME(_PyInterpreterFrame, previous, PYMEMRUN_FRAME_PREVIOUS);
SAME(_PyInterpreterFrame, f_globals, PYMEMRUN_FRAME_GLOBALS);
SAME(_PyInterpreterFrame, owner, PYMEMRUN_FRAME_OWNER);
SAME(_PyInterpreterFrame, localsplus, PYMEMRUN_FRAME_LOCALS);
#ifdef PYMEMRUN_FRAME_BYTECODE_INDEX
SAME(_PyInterpreterFrame, tlbc_index, PYMEMRUN_FRAME_BYTECODE_INDEX);
#endif
_Static_assert(FRAME_OWNED_BY_GENERATOR == PYMEMRUN_OWNED_BY_GENERATOR,
               "owner");
#if PY_VERSION_HEX >= 0x030D0000
SAME(_PyInterpreterFrame, f_executable, PYMEMRUN_FRAME_CODE);
SAME(_PyInterpreterFrame, instr_ptr, PYMEMRUN_FRAME_INSTRUCTION);
#else
SAME(_PyInterpreterFrame, f_code, PYMEMRUN_FRAME_CODE);
SAME(_PyInterpreterFrame, prev_instr, PYMEMRUN_FRAME_INSTRUCTION);
#endif
#if PY_VERSION_HEX >= 0x030E0000
_Static_assert(FRAME_OWNED_BY_INTERPRETER == PYMEMRUN_OWNED_BY_INTERPRETER &&
                   FRAME_OWNED_BY_CSTACK > FRAME_OWNED_BY_INTERPRETER,
               "owner");
_Static_assert(Py_TAG_REFCNT == PYMEMRUN_FRAME_TAG, "tag");
#elif PY_VERSION_HEX >= 0x030C0000
_Static_assert(FRAME_OWNED_BY_CSTACK == PYMEMRUN_OWNED_BY_CSTACK, "owner");
#else
SAME(_PyInterpreterFrame, stacktop, PYMEMRUN_FRAME_STACKTOP);
SAME(_PyInterpreterFrame, is_entry, PYMEMRUN_FRAME_IS_ENTRY);
// What frame_mark.h says of these fields holds of this size and order.
_Static_assert(PYMEMRUN_FRAME_STACKTOP + sizeof(int) ==
                       PYMEMRUN_FRAME_IS_ENTRY &&
                   PYMEMRUN_FRAME_OWNER + 3 == PYMEMRUN_FRAME_LOCALS,
               "spare");
#endif
#endif
_Static_assert(sizeof(_Py_CODEUNIT) == 2, "a code unit is two bytes");

void PymemrunCodeFactsOf(PyObject* object, PymemrunCodeFacts* facts) {
  PyCodeObject* code = (PyCodeObject*)object;
  facts->file = code->co_filename;
  facts->name = code->co_name;
  facts->first_line = (uint32_t)code->co_firstlineno;
#if PY_VERSION_HEX >= 0x030B0000
  facts->qualname = code->co_qualname;
  facts->line_table_kind = 3;
  PyObject* table = code->co_linetable;
#elif PY_VERSION_HEX >= 0x030A0000
  facts->qualname = code->co_name;
  facts->line_table_kind = 2;
  PyObject* table = code->co_linetable;
#else
  facts->qualname = code->co_name;
  facts->line_table_kind = 1;
  PyObject* table = code->co_lnotab;
#endif
  facts->line_table = PyBytes_AS_STRING(table);
  facts->line_table_bytes = (size_t)PyBytes_GET_SIZE(table);
}

size_t PymemrunLineArrayBytes(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
  return code->_co_linearray == NULL
             ? 0
             : (size_t)Py_SIZE(code) * (size_t)code->_co_linearray_entry_size;
#else
  return 0;
#endif
}

// Before each object that the garbage collector knows.
enum { kGcHead = 2 * sizeof(void*) };

size_t PymemrunFrameObjectBytes(const PymemrunFrame* frame) {
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
  const PyCodeObject* code = PymemrunFrameCode(frame);
  return kGcHead + (size_t)PyFrame_Type.tp_basicsize +
         (size_t)PyFrame_Type.tp_itemsize *
             (size_t)(code->co_nlocalsplus + code->co_stacksize);
#else
  return 0;
#endif
}

#define NO_POSITION 0x7fffffffu

uint32_t PymemrunStartPosition(const PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
  return (uint32_t)code->_co_firsttraceable;
#else
  return NO_POSITION;
#endif
}

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
int PymemrunIsBoundWhenCalled(const PyCFunctionObject* function) {
  // Functions of modules have a module; class and static methods and __new__
  // come bound to their type.
  return function->m_self != NULL && function->m_module == NULL &&
         (function->m_ml->ml_flags & (METH_CLASS | METH_STATIC)) == 0 &&
         !PyModule_Check(function->m_self) &&
         strcmp(function->m_ml->ml_name, "__new__") != 0;
}

int PymemrunCallKind(const PymemrunFrame* frame) {
  if (frame == NULL) return -1;
  switch (_Py_OPCODE(*((const _PyInterpreterFrame*)frame)->prev_instr)) {
    case CALL:
    case CALL_ADAPTIVE:
    case CALL_PY_EXACT_ARGS:
    case CALL_PY_WITH_DEFAULTS:
      return 0;
    case CALL_FUNCTION_EX:
      return 1;
    default:
      return -1;
  }
}

size_t PymemrunBoundObjectBytes(const PymemrunFrame* frame) {
  if (PymemrunCallKind(frame) != 0) return 0;
  return kGcHead + (size_t)PyCFunction_Type.tp_basicsize;
}

int PymemrunEnteredFromC(const PymemrunFrame* frame) {
  return ((const _PyInterpreterFrame*)frame)->is_entry;
}

int PymemrunIsForProfiling(PyThreadState* tstate, size_t bytes) {
  const _PyInterpreterFrame* frame = tstate->cframe->current_frame;
  if (tstate->c_profilefunc == NULL || frame == NULL) return 0;
  // Each event of a frame finds it with its object, or makes it; none comes
  // before what makes cells, or the generator, which is of about that size.
  if (frame->frame_obj == NULL &&
      bytes == PymemrunFrameObjectBytes((const PymemrunFrame*)frame) &&
      _PyInterpreterFrame_LASTI(frame) >= frame->f_code->_co_firsttraceable) {
    return 1;
  }
  return PymemrunEvaluatorBinds();
}

int PymemrunIsLineArray(PyThreadState* tstate, size_t bytes) {
  const _PyInterpreterFrame* frame = tstate->cframe->current_frame;
  if (tstate->tracing == 0 || tstate->c_profilefunc == NULL || frame == NULL) {
    return 0;
  }
  // An entry for each instruction, of the smallest type that all fit in.
  const size_t entries = (size_t)Py_SIZE(frame->f_code);
  return frame->f_code->_co_linearray == NULL &&
         (bytes == entries * sizeof(int16_t) ||
          bytes == entries * sizeof(int32_t));
}
#else
int PymemrunIsForProfiling(PyThreadState* tstate, size_t bytes) { return 0; }
int PymemrunIsLineArray(PyThreadState* tstate, size_t bytes) { return 0; }
int PymemrunIsBoundWhenCalled(const PyCFunctionObject* function) { return 0; }
size_t PymemrunBoundObjectBytes(const PymemrunFrame* frame) { return 0; }
int PymemrunEnteredFromC(const PymemrunFrame* frame) { return 0; }
#endif

static size_t EncodeUtf8(Py_UCS4 c, char out[4]) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  if (c < 0x800) {
    out[0] = (char)(0xC0 | (c >> 6));
    out[1] = (char)(0x80 | (c & 0x3F));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = (char)(0xE0 | (c >> 12));
    out[1] = (char)(0x80 | ((c >> 6) & 0x3F));
    out[2] = (char)(0x80 | (c & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | (c >> 18));
  out[1] = (char)(0x80 | ((c >> 12) & 0x3F));
  out[2] = (char)(0x80 | ((c >> 6) & 0x3F));
  out[3] = (char)(0x80 | (c & 0x3F));
  return 4;
}

size_t PymemrunCopyUtf8(PyObject* text, char* buffer, size_t size) {
  if (text == NULL || !PyUnicode_Check(text) || PyUnicode_READY(text) != 0) {
    return 0;
  }
  const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
  if (PyUnicode_IS_ASCII(text)) {
    const size_t n = (size_t)length;
    memcpy(buffer, PyUnicode_1BYTE_DATA(text), n < size ? n : size);
    return n;
  }
  const int kind = PyUnicode_KIND(text);
  const void* data = PyUnicode_DATA(text);
  size_t n = 0;
  for (Py_ssize_t i = 0; i < length; ++i) {
    char bytes[4];
    const size_t k = EncodeUtf8(PyUnicode_READ(kind, data, i), bytes);
    if (n + k <= size) memcpy(buffer + n, bytes, k);
    n += k;
  }
  return n;
}

size_t PymemrunUtf8Piece(PyObject* text, Py_ssize_t* at, char* buffer,
                         size_t size) {
  if (text == NULL || !PyUnicode_Check(text)) return 0;
  const int kind = PyUnicode_KIND(text);
  const void* data = PyUnicode_DATA(text);
  size_t n = 0;
  for (; *at < PyUnicode_GET_LENGTH(text); ++*at) {
    char bytes[4];
    const size_t k = EncodeUtf8(PyUnicode_READ(kind, data, *at), bytes);
    if (n + k > size) break;
    memcpy(buffer + n, bytes, k);
    n += k;
  }
  return n;
}

int PymemrunIsOnFrameStack(const PyThreadState* tstate,
                           const PymemrunFrame* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  PyObject* const* at = (PyObject* const*)frame;
  const _PyStackChunk* chunk = tstate->datastack_chunk;
  if (chunk == NULL) return 0;
  if (at >= chunk->data && at < tstate->datastack_top) return 1;
  while ((chunk = chunk->previous) != NULL) {
    if (at >= chunk->data && at < &chunk->data[chunk->top]) return 1;
  }
  return 0;
#else
  return 1;
#endif
}

const pthread_cond_t* PymemrunGilSwitchCond(void) {
#ifdef PYMEMRUN_PROFILE_SLOTS
  return &_PyRuntime.ceval.gil.switch_cond;
#elif defined(PYMEMRUN_MONITORING)
  return &PyInterpreterState_Main()->ceval.gil->switch_cond;
#endif
  return NULL;
}

const PymemrunFrame* PymemrunTopFrame(PyThreadState* tstate) {
  return PymemrunFrameThatRuns(PymemrunInnermostFrame(tstate));
}

#if PY_VERSION_HEX < 0x030C0000
PyThreadState* const volatile* const PymemrunHolderWord =
    (PyThreadState* const volatile*)&_PyRuntime.gilstate.tstate_current._value;
#endif

#ifdef PYMEMRUN_PROFILE_SLOTS
PyThreadState* PymemrunGilLastHolder(void) {
  return (PyThreadState*)_Py_atomic_load_relaxed(
      &_PyRuntime.ceval.gil.last_holder);
}

Py_tracefunc PymemrunGetSlot(PyThreadState* tstate) {
  return tstate->c_profilefunc;
}

void PymemrunSetSlot(PyThreadState* tstate, Py_tracefunc func) {
  tstate->c_profilefunc = func;
#if PY_VERSION_HEX >= 0x030B0000
  // As _PyThreadState_UpdateTracingState() does: nothing is traced while a
  // trace or profile callback runs, and leaving it recomputes the flag.
  const int on = tstate->tracing == 0 &&
                 (tstate->c_tracefunc != NULL || tstate->c_profilefunc != NULL);
  tstate->cframe->use_tracing = on ? 255 : 0;
#elif PY_VERSION_HEX >= 0x030A0000
  tstate->cframe->use_tracing =
      tstate->c_tracefunc != NULL || tstate->c_profilefunc != NULL ? 255 : 0;
#else
  tstate->use_tracing =
      tstate->c_tracefunc != NULL || tstate->c_profilefunc != NULL;
#endif
}
#endif

size_t PymemrunSmallRequestBytes(void) {
  const char* allocator = _PyMem_GetCurrentAllocatorName();
  return allocator != NULL && strcmp(allocator, "pymalloc") == 0 ? 512 : 0;
}

int PymemrunInterruptIsUnhandled(void) {
#if PY_VERSION_HEX >= 0x030C0000
  return _PyRuntime.signals.unhandled_keyboard_interrupt;
#else
  return _Py_UnhandledKeyboardInterrupt;
#endif
}

int PymemrunIsFinalizing(void) {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

void PymemrunUnlinkAuditHook(Py_AuditHookFunction func) {
#if PY_VERSION_HEX >= 0x030C0000
  _Py_AuditHookEntry** link = &_PyRuntime.audit_hooks.head;
#else
  _Py_AuditHookEntry** link = &_PyRuntime.audit_hook_head;
#endif
  for (; *link != NULL; link = &(*link)->next) {
    if ((*link)->hookCFunction == func) {
      // The entry is not freed: the caller may be iterating over it. It is kept
      // where a leak checker finds it.
      static _Py_AuditHookEntry* volatile unlinked;
      unlinked = *link;
      *link = unlinked->next;
      return;
    }
  }
}

#ifdef PYMEMRUN_STATIC_PYTHON
// The renamed original (tracer/CMakeLists.txt).
int pymemrun_real__PyEval_SetProfile(PyThreadState* tstate, Py_tracefunc func,
                                     PyObject* arg);
int PymemrunRealEvalSetProfile(PyThreadState* tstate, Py_tracefunc func,
                               PyObject* arg) {
  return pymemrun_real__PyEval_SetProfile(tstate, func, arg);
}
#elif defined(PYMEMRUN_PRELOADED) && PY_VERSION_HEX < 0x030C0000
// The original jumps to ours (replaced_functions.h). So this is what it did.
int PymemrunRealEvalSetProfile(PyThreadState* tstate, Py_tracefunc func,
                               PyObject* arg) {
#if PY_VERSION_HEX >= 0x030A0000
  // Code that runs in this time, such as an audit hook, may not install another
  // one.
  static int is_busy = 0;
  if (is_busy) {
    PyErr_SetString(PyExc_RuntimeError,
                    "a profile function is being installed");
    is_busy = 0;
    return -1;
  }
  is_busy = 1;
#else
  int is_busy = 0;
#endif
  if (PySys_Audit("sys.setprofile", NULL) < 0) {
    is_busy = 0;
    return -1;
  }
  PyObject* const before = tstate->c_profileobj;
  // What runs when the object goes finds no profiler.
  tstate->c_profileobj = NULL;
  PymemrunSetSlot(tstate, NULL);
  Py_XDECREF(before);
  Py_XINCREF(arg);
  tstate->c_profileobj = arg;
  PymemrunSetSlot(tstate, func);
  is_busy = 0;
  return 0;
}
#else
int PymemrunRealEvalSetProfile(PyThreadState* tstate, Py_tracefunc func,
                               PyObject* arg) {
  typedef int Function(PyThreadState*, Py_tracefunc, PyObject*);
  static Function* real = NULL;
  void* where = RTLD_NEXT;  // the launcher may show ours to others
#ifdef PYMEMRUN_PRELOADED
  where = RTLD_DEFAULT;
#endif
  if (real == NULL) real = (Function*)dlsym(where, "_PyEval_SetProfile");
  return real(tstate, func, arg);
}
#endif
