// Bound objects, kept and used again, under CPython 3.11.
//
// A profiled call of a built-in type's method makes the interpreter bind the
// method to its object first, because a profile function is shown a callable
// with its object; an unprofiled call does not. So dead ones are kept, one for
// each of a few methods, as CPython keeps dead lists and tuples. They lack only
// the object. The program sees the same as before. Only the allocations are
// gone, which it does not make unprofiled either.
//
// GIL held in all of it; interpreters of one process share it in this version.
#define Py_BUILD_CORE 1
#include "tracer/cpython/compat.h"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#include <stdint.h>

#include "internal/pycore_object.h"

enum { kKept = 64 };  // objects, about 5 KiB

// The method's flags too: the definition may have died since, and another be
// at its address. They alone choose vectorcall.
typedef struct {
  PyCFunctionObject* object;  // untracked, without m_self; or NULL
  const PyMethodDef* method;
  int flags;
} Kept;
static Kept g_kept[kKept];

static int g_binding;  // for the evaluator
// From the evaluator's place on the stack to Bind()'s, where the former calls
// the latter itself; by PymemrunCallKind.
static size_t g_distance[2] = {SIZE_MAX, SIZE_MAX};
static descrgetfunc g_bind;
static destructor g_dealloc;
static void Dealloc(PyObject* self);

static Kept* KeptFor(const PyMethodDef* method) {
  return &g_kept[((uintptr_t)method / sizeof(PyMethodDef)) % kKept];
}

// Whether the evaluator itself binds, which it does only when profiled and at
// an instruction that calls. Functions that bind for the program, such as
// getattr(), are between the two on the stack, which are then further apart.
static int IsForEvaluator(const char* own_place) {
  PyThreadState* tstate = PyThreadState_Get();
  const int kind = PymemrunCallKind(PymemrunTopFrame(tstate));
  if (kind < 0 || tstate->c_profilefunc == NULL) return 0;
  const size_t distance = (size_t)((const char*)tstate->cframe - own_place);
  if (distance < g_distance[kind]) g_distance[kind] = distance;
  return distance == g_distance[kind];
}

// PyMethodDescr_Type.tp_descr_get
static PyObject* Bind(PyObject* descr, PyObject* self, PyObject* type) {
  const PyMethodDescrObject* method = (const PyMethodDescrObject*)descr;
  Kept* kept = KeptFor(method->d_method);
  PyCFunctionObject* object = kept->object;
  if (object == NULL || kept->method != method->d_method ||
      kept->flags != method->d_method->ml_flags || self == NULL ||
      !Py_IS_TYPE(self, method->d_common.d_type)) {
    const int outer = g_binding;
    g_binding = IsForEvaluator((const char*)__builtin_frame_address(0));
    PyObject* made = g_bind(descr, self, type);
    g_binding = outer;
    return made;
  }
  kept->object = NULL;
  object->m_self = Py_NewRef(self);
  _Py_NewReference((PyObject*)object);
  _PyObject_GC_TRACK(object);
  return (PyObject*)object;
}

// The original end of an object, and maybe of what it was bound to. Its own
// guard against deep chains of ends works only while it is the type's.
static void End(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Py_TRASHCAN_BEGIN(self, Dealloc);
  g_dealloc(self);
  Py_TRASHCAN_END;
}

// PyCFunction_Type.tp_dealloc
static void Dealloc(PyObject* self) {
  PyCFunctionObject* object = (PyCFunctionObject*)self;
  PyObject* bound_to = object->m_self;
  Kept* kept = KeptFor(object->m_ml);
  // Where the end of what it was bound to would follow, it is not kept: chains
  // of such ends may be deep.
  if (kept->object != NULL || bound_to == NULL || Py_REFCNT(bound_to) == 1 ||
      object->m_module != NULL || object->m_weakreflist != NULL ||
      !_PyObject_GC_IS_TRACKED(object)) {
    End(self);
    return;
  }
  _PyObject_GC_UNTRACK(object);
  kept->method = object->m_ml;
  kept->flags = object->m_ml->ml_flags;
  kept->object = object;
  object->m_self = NULL;
  Py_DECREF(bound_to);
}

int PymemrunEvaluatorBinds(void) { return g_binding; }

void PymemrunKeepBoundObjects(void) {
  if (g_bind != NULL) return;
  g_bind = PyMethodDescr_Type.tp_descr_get;
  g_dealloc = PyCFunction_Type.tp_dealloc;
  PyMethodDescr_Type.tp_descr_get = Bind;
  PyCFunction_Type.tp_dealloc = Dealloc;
}
#else
void PymemrunKeepBoundObjects(void) {}
int PymemrunEvaluatorBinds(void) { return 0; }
#endif
