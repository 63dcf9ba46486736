// Types: what an instance is, what its type is called, which fields it has.
#define Py_BUILD_CORE 1
#include "tracer/cpython/objects/object_types.h"

#ifndef PYMEMRUN_NO_OBJECTS
#include <string.h>
#include <structmember.h>

#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#include "tracer/cpython/compat.h"

// Mutable: PyExc_BaseException is a variable.
static int ShapeOfKnown(const PyTypeObject* type) {
  const struct {
    const void* type;
    int shape;
  } known[] = {
      {&PyUnicode_Type, kPymemrunStr},
      {&PyBytes_Type, kPymemrunBytes},
      {&PyLong_Type, kPymemrunInt},
      {&PyFloat_Type, kPymemrunFloat},
      {&PyDict_Type, kPymemrunDictShape},
      {&PyList_Type, kPymemrunList},
      {&PyTuple_Type, kPymemrunTuple},
      {&PyByteArray_Type, kPymemrunByteArray},
      {&PySet_Type, kPymemrunSet},
      {&PyFrozenSet_Type, kPymemrunSet},
      {&PyType_Type, kPymemrunTypeShape},
      {&PyModule_Type, kPymemrunModule},
      {&PyFunction_Type, kPymemrunFunction},
      {&PyCFunction_Type, kPymemrunCFunction},
      {&PyCode_Type, kPymemrunCodeShape},
      {&PyFrame_Type, kPymemrunFrameShape},
      {&PyGen_Type, kPymemrunGenerator},
      {&PyCoro_Type, kPymemrunGenerator},
      {&PyAsyncGen_Type, kPymemrunGenerator},
      {&PyCell_Type, kPymemrunCellShape},
      {&_PyWeakref_RefType, kPymemrunWeakRef},
      {&_PyWeakref_ProxyType, kPymemrunWeakRef},
      {&_PyWeakref_CallableProxyType, kPymemrunWeakRef},
      {PyExc_BaseException, kPymemrunException},
      {&PyMethodDescr_Type, kPymemrunDescriptor},
      {&PyClassMethodDescr_Type, kPymemrunDescriptor},
      {&PyWrapperDescr_Type, kPymemrunDescriptor},
      {&PyMemberDescr_Type, kPymemrunDescriptor},
      {&PyGetSetDescr_Type, kPymemrunDescriptor},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (known[i].type == type) return known[i].shape;
  }
  return kPymemrunPlain;
}

// Types of modules that may never be imported are known by their names. Those
// of C have a `len()` of their own, which Python code cannot make.
static int ShapeOfNamed(PyTypeObject* type) {
  if (PymemrunIsNumpyArray(type)) return kPymemrunNumpyArray;
  if (strcmp(type->tp_name, "_io.BytesIO") == 0) return kPymemrunBytesIO;
  static const struct {
    const char* name;
    int shape;
  } kNamed[] = {{"array.array", kPymemrunArray},
                {"collections.deque", kPymemrunCounted},
                {"mmap.mmap", kPymemrunMapping}};
  int shape = kPymemrunPlain;
  for (size_t i = 0; i < sizeof(kNamed) / sizeof(kNamed[0]); ++i) {
    if (strcmp(type->tp_name, kNamed[i].name) == 0) shape = kNamed[i].shape;
  }
  if (shape == kPymemrunPlain) return shape;
  PyObject* dict = PymemrunTypeDict(type);
  PyObject* length =
      dict != NULL ? PyDict_GetItemString(dict, "__len__") : NULL;
  if (length == NULL || !Py_IS_TYPE(length, &PyWrapperDescr_Type) ||
      ((PyDescrObject*)length)->d_type != type ||
      type->tp_basicsize < (Py_ssize_t)(sizeof(PyVarObject) + sizeof(void*))) {
    return kPymemrunPlain;
  }
  return shape;
}

PyObject* PymemrunTypeDict(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030C0000
  return _PyType_GetDict(type);
#else
  return type->tp_dict;
#endif
}

// What the type or one that it derives from has under that name, borrowed.
static PyObject* Lookup(PyTypeObject* type, PyObject* name) {
  PyObject* mro = type->tp_mro;
  for (Py_ssize_t i = 0; mro != NULL && i < PyTuple_GET_SIZE(mro); ++i) {
    PyTypeObject* from = (PyTypeObject*)PyTuple_GET_ITEM(mro, i);
    PyObject* dict = PyType_Check(from) ? PymemrunTypeDict(from) : NULL;
    PyObject* found = dict != NULL ? PyDict_GetItemWithError(dict, name) : NULL;
    if (found != NULL) return found;
  }
  return NULL;
}

// Has no value of its own where the name cannot be made.
static PyCFunction FindSizeOf(PyTypeObject* type) {
  PyObject* name = PyUnicode_InternFromString("__sizeof__");
  PyObject* found = name != NULL ? Lookup(type, name) : NULL;
  if (found == NULL || !Py_IS_TYPE(found, &PyMethodDescr_Type)) return NULL;
  const PyMethodDef* method = ((PyMethodDescrObject*)found)->d_method;
  return method->ml_flags == METH_NOARGS ? method->ml_meth : NULL;
}

static size_t HeadBytes(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030B0000
  return _PyType_PreHeaderSize(type);
#else
  return PyType_IS_GC(type) ? sizeof(PyGC_Head) : 0;
#endif
}

void PymemrunTypeFactsOf(PyTypeObject* type, PymemrunTypeFacts* facts) {
  memset(facts, 0, sizeof *facts);
  facts->type = type;
  PyTypeObject* of_shape = type;
  for (PyTypeObject* t = type; t != NULL && facts->shape == kPymemrunPlain;
       t = t->tp_base) {
    facts->shape = ShapeOfKnown(t);
    if (facts->shape == kPymemrunPlain) facts->shape = ShapeOfNamed(t);
    facts->exact = t == type && facts->shape != kPymemrunPlain;
    of_shape = t;
  }
  facts->head_bytes = HeadBytes(type);
  facts->size_of = FindSizeOf(type);
  // BytesIO counts its buffer, which is an object of its own.
  if (facts->shape == kPymemrunBytesIO &&
      facts->size_of == FindSizeOf(of_shape)) {
    facts->size_of = FindSizeOf(&PyBaseObject_Type);
  }
}

uint32_t PymemrunMembersOf(PyTypeObject* type, PymemrunMember* members,
                           uint32_t room) {
  uint32_t count = 0;
  PyObject* mro = type->tp_mro;
  for (Py_ssize_t i = 0; mro != NULL && i < PyTuple_GET_SIZE(mro); ++i) {
    PyTypeObject* from = (PyTypeObject*)PyTuple_GET_ITEM(mro, i);
    PyObject* dict = PyType_Check(from) ? PymemrunTypeDict(from) : NULL;
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (dict != NULL && PyDict_Next(dict, &at, &key, &value)) {
      if (!Py_IS_TYPE(value, &PyMemberDescr_Type)) continue;
      const PyMemberDescrObject* descr = (PyMemberDescrObject*)value;
      const PyMemberDef* member = descr->d_member;
      if (member->type != T_OBJECT && member->type != T_OBJECT_EX) continue;
      // One that was taken from another class is of its instances.
      if (!PyType_IsSubtype(type, descr->d_common.d_type)) continue;
      if (count < room) {
        members[count].offset = (size_t)member->offset;
        members[count].name = descr->d_common.d_name;
      }
      ++count;
    }
  }
  return count;
}

static size_t CopyCut(const char* text, size_t bytes, char* buffer,
                      size_t size) {
  if (bytes > size) bytes = size;
  memcpy(buffer, text, bytes);
  return bytes;
}

static size_t CopyStr(PyObject* text, char* buffer, size_t size) {
  Py_ssize_t at = 0;
  return PymemrunUtf8Piece(text, &at, buffer, size);
}

size_t PymemrunTypeName(PyTypeObject* type, char* buffer, size_t size) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
    return CopyStr(((PyHeapTypeObject*)type)->ht_qualname, buffer, size);
  }
  const char* dot = strrchr(type->tp_name, '.');
  const char* name = dot != NULL ? dot + 1 : type->tp_name;
  return CopyCut(name, strlen(name), buffer, size);
}

size_t PymemrunTypeModule(PyTypeObject* type, char* buffer, size_t size) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
    PyObject* dict = PymemrunTypeDict(type);
    PyObject* module =
        dict != NULL ? PyDict_GetItemString(dict, "__module__") : NULL;
    return module != NULL ? CopyStr(module, buffer, size) : 0;
  }
  const char* dot = strrchr(type->tp_name, '.');
  return dot != NULL ? CopyCut(type->tp_name, (size_t)(dot - type->tp_name),
                               buffer, size)
                     : CopyCut("builtins", strlen("builtins"), buffer, size);
}
#endif
