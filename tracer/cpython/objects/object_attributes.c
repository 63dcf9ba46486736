// Named attributes of an instance: slots, its dictionary, or values inside or
// beside it instead of a dictionary. They are read in place.
#define Py_BUILD_CORE 1
#include "tracer/cpython/objects/object_graph.h"

#ifndef PYMEMRUN_NO_OBJECTS
#if PY_VERSION_HEX >= 0x030B0000
#include "internal/pycore_dict.h"
#endif
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"

#if PY_VERSION_HEX >= 0x030B0000
static int HasManagedDict(PyTypeObject* type) {
  return (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) != 0;
}

// The values of attributes in the order of the type's shared keys, or NULL; and
// the dictionary that there may be.
static PyObject** InlineValues(PyObject* object, Py_ssize_t* count,
                               PyObject** dict) {
  PyTypeObject* type = Py_TYPE(object);
  const PyDictKeysObject* keys = ((PyHeapTypeObject*)type)->ht_cached_keys;
  *count = keys != NULL ? keys->dk_nentries : 0;
  PyDictValues* values = NULL;
#if PY_VERSION_HEX >= 0x030D0000
  *dict = (PyObject*)_PyObject_GetManagedDict(object);
  if ((type->tp_flags & Py_TPFLAGS_INLINE_VALUES) != 0) {
    values = _PyObject_InlineValues(object);
    if (values->valid == 0) values = NULL;
    if (values != NULL && *count > values->capacity) *count = values->capacity;
  }
#elif PY_VERSION_HEX >= 0x030C0000
  const PyDictOrValues at = *_PyObject_DictOrValuesPointer(object);
  if (_PyDictOrValues_IsValues(at)) {
    *dict = NULL;
    values = _PyDictOrValues_GetValues(at);
  } else {
    *dict = at.dict;
  }
#else
  *dict = *_PyObject_ManagedDictPointer(object);
  values = *_PyObject_ValuesPointer(object);
#endif
  if (values == NULL || keys == NULL) return NULL;
  return values->values;
}

static PyObject* SharedKey(PyTypeObject* type, Py_ssize_t at) {
  PyDictKeysObject* keys = ((PyHeapTypeObject*)type)->ht_cached_keys;
  return DK_UNICODE_ENTRIES(keys)[at].me_key;
}

static void ManagedEdges(PyObject* object, const PymemrunSink* sink) {
  Py_ssize_t count = 0;
  PyObject* dict = NULL;
  PyObject** values = InlineValues(object, &count, &dict);
  // Beside values that are still valid 3.13's tp_traverse leaves it out.
  PymemrunTell(sink, dict, kPymemrunDict, 1, NULL, "__dict__");
  for (Py_ssize_t i = 0; values != NULL && i < count; ++i) {
    PymemrunTell(sink, values[i], kPymemrunAttribute, 0,
                 SharedKey(Py_TYPE(object), i), NULL);
  }
}

// Names of the attributes of instances, which their type keeps for all.
static void SharedKeyEdges(PyTypeObject* type, const PymemrunSink* sink) {
  const PyDictKeysObject* keys = ((PyHeapTypeObject*)type)->ht_cached_keys;
  for (Py_ssize_t i = 0; keys != NULL && i < keys->dk_nentries; ++i) {
    PymemrunTell(sink, SharedKey(type, i), kPymemrunKey, 1, NULL, NULL);
  }
}
#else
static int HasManagedDict(PyTypeObject* type) { return 0; }
static void ManagedEdges(PyObject* object, const PymemrunSink* sink) {}
static void SharedKeyEdges(PyTypeObject* type, const PymemrunSink* sink) {}
#endif

// Dictionary of an object, by the offset in its type.
static PyObject* PlainDict(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  Py_ssize_t offset = type->tp_dictoffset;
  if (offset < 0) {  // from the end
    Py_ssize_t items = Py_SIZE(object);
    if (items < 0) items = -items;
    const size_t align = sizeof(void*) - 1;
    offset += (Py_ssize_t)(((size_t)type->tp_basicsize +
                            (size_t)items * (size_t)type->tp_itemsize + align) &
                           ~align);
  }
  return offset > 0 ? *(PyObject**)((char*)object + offset) : NULL;
}

void PymemrunAttributeEdges(PyObject* object, const PymemrunTypeFacts* facts,
                            const PymemrunSink* sink) {
  if (HasManagedDict(facts->type)) {
    ManagedEdges(object, sink);
  } else if (facts->type->tp_dictoffset != 0) {
    PymemrunTell(sink, PlainDict(object), kPymemrunDict, 0, NULL, "__dict__");
  }
  // Where the cycle collector asks nothing, the fields themselves count.
  const int always = !PymemrunCanTraverse(object);
  for (uint32_t i = 0; i < facts->member_count; ++i) {
    PymemrunTell(sink, *(void**)((char*)object + facts->members[i].offset),
                 kPymemrunAttribute, always, facts->members[i].name, NULL);
  }
}

static void SubclassesEdge(PyTypeObject* type, const PymemrunSink* sink) {
#if PY_VERSION_HEX >= 0x030C0000
  // For static types it is a number.
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return;
#endif
  PymemrunTell(sink, type->tp_subclasses, kPymemrunAttribute, 1, NULL,
               "__subclasses__");
}

// What a type keeps but does not show to the cycle collector counts, too.
static void TypeEdges(PyTypeObject* type, const PymemrunSink* sink) {
  PymemrunTell(sink, PymemrunTypeDict(type), kPymemrunDict, 1, NULL,
               "__dict__");
  PymemrunTell(sink, type->tp_base, kPymemrunBase, 1, NULL, "__base__");
  PymemrunTell(sink, type->tp_bases, kPymemrunAttribute, 1, NULL, "__bases__");
  PymemrunTell(sink, type->tp_mro, kPymemrunAttribute, 1, NULL, "__mro__");
  SubclassesEdge(type, sink);
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return;
  const PyHeapTypeObject* heap = (PyHeapTypeObject*)type;
  PymemrunTell(sink, heap->ht_name, kPymemrunAttribute, 1, NULL, "__name__");
  PymemrunTell(sink, heap->ht_qualname, kPymemrunAttribute, 1, NULL,
               "__qualname__");
  PymemrunTell(sink, heap->ht_slots, kPymemrunAttribute, 1, NULL, "__slots__");
  PymemrunTell(sink, heap->ht_module, kPymemrunAttribute, 0, NULL, "module");
  SharedKeyEdges(type, sink);
}

static void DictEdges(PyObject* object, int always, const PymemrunSink* sink) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  int keys_count = 1;
#if PY_VERSION_HEX >= 0x030B0000
  // Those of a split table belong to the type.
  keys_count = ((PyDictObject*)object)->ma_values == NULL;
#endif
  while (PyDict_Next(object, &at, &key, &value)) {
    if (keys_count) PymemrunTell(sink, key, kPymemrunKey, 1, NULL, NULL);
    PymemrunTell(sink, value, kPymemrunValue, always, key, NULL);
  }
}

static void ItemEdges(PyObject* const* items, Py_ssize_t count, int always,
                      const PymemrunSink* sink) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    PymemrunTell(sink, items[i], kPymemrunIndex, always, NULL, NULL);
  }
}

static void FunctionEdges(PyObject* object, const PymemrunSink* sink) {
  const PyFunctionObject* f = (PyFunctionObject*)object;
  PymemrunTell(sink, f->func_code, kPymemrunCode, 0, NULL, "__code__");
  PymemrunTell(sink, f->func_globals, kPymemrunGlobals, 0, NULL, "__globals__");
  const struct {
    PyObject* value;
    const char* name;
  } named[] = {
      {f->func_defaults, "__defaults__"},
      {f->func_kwdefaults, "__kwdefaults__"},
      {f->func_closure, "__closure__"},
      {f->func_doc, "__doc__"},
      {f->func_name, "__name__"},
      {f->func_qualname, "__qualname__"},
      {f->func_module, "__module__"},
      {f->func_annotations, "__annotations__"},
  };
  for (size_t i = 0; i < sizeof named / sizeof *named; ++i) {
    PymemrunTell(sink, named[i].value, kPymemrunAttribute, 0, NULL,
                 named[i].name);
  }
}

static void ExceptionEdges(PyObject* object, const PymemrunSink* sink) {
  const PyBaseExceptionObject* e = (PyBaseExceptionObject*)object;
  PymemrunTell(sink, e->args, kPymemrunAttribute, 0, NULL, "args");
#if PY_VERSION_HEX >= 0x030B0000
  PymemrunTell(sink, e->notes, kPymemrunAttribute, 0, NULL, "__notes__");
#endif
  PymemrunTell(sink, e->traceback, kPymemrunAttribute, 0, NULL,
               "__traceback__");
  PymemrunTell(sink, e->context, kPymemrunAttribute, 0, NULL, "__context__");
  PymemrunTell(sink, e->cause, kPymemrunAttribute, 0, NULL, "__cause__");
}

static void WeakEdges(PyObject* object, const PymemrunSink* sink) {
  const PyWeakReference* weak = (PyWeakReference*)object;
  PymemrunTell(sink, weak->wr_callback, kPymemrunAttribute, 0, NULL,
               "__callback__");
  // An object that is being freed does not count.
  if (weak->wr_object != NULL && weak->wr_object != Py_None &&
      Py_REFCNT(weak->wr_object) > 0) {
    PymemrunTell(sink, weak->wr_object, kPymemrunWeak, 1, NULL, NULL);
  }
}

// A type itself is known completely; for types derived from it tp_traverse
// tells the rest.
void PymemrunShapeEdges(PyObject* object, const PymemrunTypeFacts* facts,
                        const PymemrunSink* sink) {
  switch (facts->shape) {
    case kPymemrunDictShape:
      return DictEdges(object, facts->exact, sink);
    case kPymemrunList:
      return ItemEdges(((PyListObject*)object)->ob_item, Py_SIZE(object),
                       facts->exact, sink);
    case kPymemrunTuple:
      return ItemEdges(((PyTupleObject*)object)->ob_item, Py_SIZE(object),
                       facts->exact, sink);
    case kPymemrunTypeShape:
      return TypeEdges((PyTypeObject*)object, sink);
    case kPymemrunFunction:
      return FunctionEdges(object, sink);
    case kPymemrunCFunction: {
      const PyCFunctionObject* f = (PyCFunctionObject*)object;
      PymemrunTell(sink, f->m_self, kPymemrunAttribute, 0, NULL, "__self__");
      return PymemrunTell(sink, f->m_module, kPymemrunAttribute, 0, NULL,
                          "__module__");
    }
    case kPymemrunCellShape:
      return PymemrunTell(sink, PyCell_GET(object), kPymemrunCell, 1, NULL,
                          NULL);
    case kPymemrunWeakRef:
      return WeakEdges(object, sink);
    case kPymemrunException:
      return ExceptionEdges(object, sink);
    case kPymemrunNumpyArray:
      return PymemrunNumpyEdges(object, sink);
    case kPymemrunBytesIO:
      return PymemrunBytesIOEdges(object, sink);
    case kPymemrunGenerator:
    case kPymemrunFrameShape:
      return PymemrunOwnFrameEdges(object, facts, sink);
    default:
      return;
  }
}

void PymemrunNamedEdges(PyObject* object, const PymemrunTypeFacts* facts,
                        const PymemrunSink* sink) {
  // The first of two names of a reference counts. The shape knows more than the
  // members of a type, for instance that a dictionary is the globals of a
  // function.
  PymemrunShapeEdges(object, facts, sink);
  PymemrunAttributeEdges(object, facts, sink);
  PymemrunTell(sink, Py_TYPE(object), kPymemrunType, 0, NULL, "__class__");
}
#endif
