// Parts of objects in a separate block, and objects that refer to others
// without telling the cycle collector.
#define Py_BUILD_CORE 1
#include "tracer/cpython/objects/object_graph.h"

#ifndef PYMEMRUN_NO_OBJECTS
#include <string.h>
#if PY_VERSION_HEX >= 0x030B0000
#include "internal/pycore_dict.h"
#endif
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"

// As numpy has had it since 1.7.
typedef struct {
  PyObject_HEAD PyObject** data;
  int dimension_count;
  const Py_ssize_t* dimensions;
  const Py_ssize_t* strides;
  PyObject* base;
  PyObject* descr;
  int flags;
  PyObject* weak_references;
} NumpyArray;
enum { kNumpyOwnsData = 4, kNumpyObjects = 17 };

// The beginning of io.BytesIO.
typedef struct {
  PyObject_HEAD PyObject* buffer;
} BytesIO;

// The beginning of array.array.
typedef struct {
  PyObject_VAR_HEAD const char* items;
} ArrayArray;

// The beginning of mmap.mmap.
typedef struct {
  PyObject_HEAD const char* data;
  Py_ssize_t size;
} Mapping;

int PymemrunIsNumpyArray(const PyTypeObject* type) {
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 &&
         strcmp(type->tp_name, "numpy.ndarray") == 0 &&
         type->tp_basicsize >= (Py_ssize_t)sizeof(NumpyArray);
}

// References of an array of objects that owns its data.
static void NumpyItemEdges(const NumpyArray* array, const PymemrunSink* sink) {
  // Behind the type, and four letters.
  int type_number = 0;
  memcpy(&type_number,
         (char*)array->descr + sizeof(PyObject) + sizeof(void*) + 4,
         sizeof type_number);
  if (type_number != kNumpyObjects) return;
  Py_ssize_t count = 1;
  for (int i = 0; i < array->dimension_count; ++i) {
    count *= array->dimensions[i];
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PymemrunTell(sink, array->data[i], kPymemrunIndex, 1, NULL, NULL);
  }
}

void PymemrunNumpyEdges(PyObject* object, const PymemrunSink* sink) {
  const NumpyArray* array = (NumpyArray*)object;
  PymemrunTell(sink, array->base, kPymemrunAttribute, 1, NULL, "base");
  PymemrunTell(sink, array->descr, kPymemrunAttribute, 1, NULL, "dtype");
  if ((array->flags & kNumpyOwnsData) != 0 && array->data != NULL &&
      array->descr != NULL) {
    NumpyItemEdges(array, sink);
  }
}

#if PY_VERSION_HEX >= 0x030D0000
// The order of values is behind them.
static size_t BytesOfValues(size_t room) {
  return sizeof(PyObject*) * (1 + room) +
         (room + sizeof(PyObject*) - 1) / sizeof(PyObject*) * sizeof(PyObject*);
}
#elif PY_VERSION_HEX >= 0x030B0000
// Before the values is their order, and last the number of these bytes.
static const char* BlockOfValues(const PyDictValues* values) {
  return (const char*)values - ((const uint8_t*)values)[-1];
}

static size_t BytesOfValues(const PyDictValues* values,
                            const PyDictKeysObject* keys) {
  // The type's room may have shrunk since then; the order has a byte for each
  // value and two more.
  const Py_ssize_t before = ((const uint8_t*)values)[-1];
  Py_ssize_t room = keys->dk_nentries + keys->dk_usable;
  if (room < before - (Py_ssize_t)sizeof(PyObject*) - 1) {
    room = before - (Py_ssize_t)sizeof(PyObject*) - 1;
  }
  if (room > before - 2) room = before - 2;
  return (size_t)before + (size_t)room * sizeof(PyObject*);
}
#endif

size_t PymemrunValuesOf(PyObject* object, const void** block) {
  *block = NULL;
#if PY_VERSION_HEX >= 0x030D0000
  if ((Py_TYPE(object)->tp_flags & Py_TPFLAGS_INLINE_VALUES) == 0) return 0;
  // An instance is allocated with the type's room, which is then one less for
  // good, until one is left.
  const PyDictKeysObject* keys =
      ((PyHeapTypeObject*)Py_TYPE(object))->ht_cached_keys;
  const size_t room = _PyObject_InlineValues(object)->capacity;
  const int had_more = keys != NULL && (keys->dk_usable > 1 ||
                                        room > (size_t)keys->dk_nentries +
                                                   (size_t)keys->dk_usable);
  return BytesOfValues(room + (size_t)had_more);
#elif PY_VERSION_HEX >= 0x030B0000
  PyTypeObject* type = Py_TYPE(object);
  const PyDictKeysObject* keys = ((PyHeapTypeObject*)type)->ht_cached_keys;
  if ((type->tp_flags & Py_TPFLAGS_MANAGED_DICT) == 0 || keys == NULL) return 0;
#if PY_VERSION_HEX >= 0x030C0000
  const PyDictOrValues at = *_PyObject_DictOrValuesPointer(object);
  if (!_PyDictOrValues_IsValues(at)) return 0;
  const PyDictValues* values = _PyDictOrValues_GetValues(at);
#else
  const PyDictValues* values = *_PyObject_ValuesPointer(object);
#endif
  if (values == NULL) return 0;
  *block = BlockOfValues(values);
  return BytesOfValues(values, keys);
#else
  return 0;
#endif
}

size_t PymemrunSplitSize(PyObject* object, size_t said) {
#if PY_VERSION_HEX >= 0x030B0000
  const PyDictObject* dict = (PyDictObject*)object;
  if (dict->ma_values == NULL) return said;
  const PyDictKeysObject* keys = dict->ma_keys;
  const size_t counted =
      (size_t)(keys->dk_nentries + keys->dk_usable) * sizeof(PyObject*);
#if PY_VERSION_HEX >= 0x030D0000
  const size_t bytes =
      dict->ma_values->embedded ? 0 : BytesOfValues(dict->ma_values->capacity);
#else
  const size_t bytes = BytesOfValues(dict->ma_values, keys);
#endif
  return said < counted ? said : said - counted + bytes;
#else
  (void)object;
  return said;
#endif
}

// Up to CPython 3.11 its tp_traverse leaves the buffer out.
void PymemrunBytesIOEdges(PyObject* object, const PymemrunSink* sink) {
  PymemrunTell(sink, ((BytesIO*)object)->buffer, kPymemrunOther, 1, NULL, NULL);
}

static const void* DictBlock(const PyDictObject* dict) {
  if (dict->ma_values == NULL) return dict->ma_keys;
#if PY_VERSION_HEX >= 0x030D0000
  return dict->ma_values->embedded ? NULL : dict->ma_values;
#elif PY_VERSION_HEX >= 0x030B0000
  return BlockOfValues(dict->ma_values);
#else
  return dict->ma_values;
#endif
}

const void* PymemrunItemsBlock(PyObject* object, const PymemrunTypeFacts* facts,
                               size_t* other_bytes) {
  *other_bytes = 0;
  switch (facts->shape) {
    case kPymemrunList:
      return ((PyListObject*)object)->ob_item;
    case kPymemrunDictShape:
      return DictBlock((PyDictObject*)object);
    case kPymemrunSet: {
      const PySetObject* set = (PySetObject*)object;
      return set->table != set->smalltable ? set->table : NULL;
    }
    case kPymemrunByteArray:
      return ((PyByteArrayObject*)object)->ob_bytes;
    case kPymemrunArray:
      return ((ArrayArray*)object)->items;
    case kPymemrunNumpyArray: {
      const NumpyArray* array = (NumpyArray*)object;
      *other_bytes = 2 * sizeof(Py_ssize_t) * (size_t)array->dimension_count;
      return (array->flags & kNumpyOwnsData) != 0 ? array->data : NULL;
    }
    default:
      return NULL;
  }
}

PymemrunBlock PymemrunMappingOf(PyObject* object) {
  const Mapping* mapping = (Mapping*)object;
  const PymemrunBlock block = {
      mapping->data, mapping->data != NULL ? (size_t)mapping->size : 0};
  return block;
}
#endif
