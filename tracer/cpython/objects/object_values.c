// Objects by themselves: size, length, value or name, marks.
#define Py_BUILD_CORE 1
#include "tracer/cpython/objects/object_graph.h"

#ifndef PYMEMRUN_NO_OBJECTS
#include <stdio.h>
#include <string.h>

#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#if PY_VERSION_HEX >= 0x030D0000
#include "internal/pycore_sysmodule.h"
#endif
#include "tracer/cpython/compat.h"

#define MOST_CHARACTERS 100

#if PY_VERSION_HEX >= 0x030B0000
// A static type has no head. Older releases count one all the same.
static size_t StaticTypeHead(const PymemrunTypeFacts* facts) {
  static size_t head = SIZE_MAX;
  if (head == SIZE_MAX) {
    PyObject* type = (PyObject*)&PyBaseObject_Type;
    PyObject* said = facts->size_of(type, NULL);
    head = _PySys_GetSizeOf(type) - PyLong_AsSize_t(said);
    Py_DECREF(said);
  }
  return head;
}
#endif

// Bytes before the object that sys.getsizeof() counts.
static size_t CountedHead(PyObject* object, const PymemrunTypeFacts* facts) {
#if PY_VERSION_HEX >= 0x030B0000
  return Py_IS_TYPE(object, &PyType_Type) &&
                 (((PyTypeObject*)object)->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0
             ? StaticTypeHead(facts)
             : facts->head_bytes;
#else
  return PyObject_IS_GC(object) ? sizeof(PyGC_Head) : 0;
#endif
}

static int IsPlainAscii(PyObject* text) {
  if (!PyUnicode_IS_COMPACT_ASCII(text)) return 0;
#if PY_VERSION_HEX < 0x030C0000
  return ((PyASCIIObject*)text)->wstr == NULL;
#else
  return 1;
#endif
}

// Size of an object whose type has a known formula in `__sizeof__`; 0 for
// others.
static size_t KnownSize(PyObject* object, const PymemrunTypeFacts* facts) {
  if (!facts->exact) return 0;
  const PyTypeObject* type = facts->type;
  switch (facts->shape) {
    case kPymemrunStr:
      return IsPlainAscii(object) ? sizeof(PyASCIIObject) +
                                        (size_t)PyUnicode_GET_LENGTH(object) + 1
                                  : 0;
    case kPymemrunBytes:
    case kPymemrunTuple:
      return (size_t)(type->tp_basicsize + Py_SIZE(object) * type->tp_itemsize);
    case kPymemrunList:
      return (size_t)type->tp_basicsize +
             (size_t)((PyListObject*)object)->allocated * sizeof(PyObject*);
    case kPymemrunFloat:
      return (size_t)type->tp_basicsize;
    default:
      return 0;
  }
}

// What `__sizeof__` says, or would say where it is Python code.
static size_t SaidSize(PyObject* object, const PymemrunTypeFacts* facts,
                       int* estimated) {
  *estimated = 0;
  size_t size = KnownSize(object, facts);
  if (size == 0 && facts->size_of != NULL) {
    PyObject* said = facts->size_of(object, NULL);
    if (said != NULL && PyLong_CheckExact(said)) size = PyLong_AsSize_t(said);
    Py_XDECREF(said);
    if (PyErr_Occurred() != NULL) {
      PyErr_Clear();
      size = 0;
    }
  }
  if (size == 0) {
    const PyTypeObject* type = facts->type;
    *estimated = 1;
    size = (size_t)type->tp_basicsize;
    // No other field is sure to be a count.
    if (type->tp_itemsize > 0 && facts->shape != kPymemrunInt) {
      const Py_ssize_t items = Py_SIZE(object);
      size += (size_t)(items < 0 ? -items : items) * (size_t)type->tp_itemsize;
    }
  }
  return size;
}

size_t PymemrunSizeOf(PyObject* object, const PymemrunTypeFacts* facts,
                      int* estimated, PymemrunBlock* beside) {
  size_t said = SaidSize(object, facts, estimated);
  if (facts->shape == kPymemrunDictShape && !*estimated) {
    said = PymemrunSplitSize(object, said);
  }
  const size_t values = PymemrunValuesOf(object, &beside->at);
  size_t other = (size_t)facts->type->tp_basicsize;
  beside->bytes = values;
  if (beside->at == NULL) {
    size_t more = 0;
    beside->at = PymemrunItemsBlock(object, facts, &more);
    other += more;
    beside->bytes = beside->at != NULL && said > other ? said - other : 0;
  }
  return said + values + CountedHead(object, facts);
}

int PymemrunCanTraverse(PyObject* object) {
  return PyType_IS_GC(Py_TYPE(object)) && PyObject_IS_GC(object) &&
         Py_TYPE(object)->tp_traverse != NULL;
}

int PymemrunIsTracked(PyObject* object) {
  return PyType_IS_GC(Py_TYPE(object)) && PyObject_IS_GC(object) &&
         _PyObject_GC_IS_TRACKED(object);
}

int PymemrunIsImmortal(PyObject* object) {
#if PY_VERSION_HEX >= 0x030C0000
  return _Py_IsImmortal(object);
#else
  return 0;
#endif
}

int PymemrunIsInterned(PyObject* object) {
  return ((PyASCIIObject*)object)->state.interned != 0;
}

Py_ssize_t PymemrunLengthOf(PyObject* object, const PymemrunTypeFacts* facts) {
  switch (facts->shape) {
    case kPymemrunStr:
      return PyUnicode_GET_LENGTH(object);
    case kPymemrunBytes:
    case kPymemrunList:
    case kPymemrunTuple:
    case kPymemrunByteArray:
    case kPymemrunArray:
    case kPymemrunCounted:
      return Py_SIZE(object);
    case kPymemrunMapping:
      return (Py_ssize_t)PymemrunMappingOf(object).bytes;
    case kPymemrunDictShape:
      return ((PyDictObject*)object)->ma_used;
    case kPymemrunSet:
      return ((PySetObject*)object)->used;
    default:
      return -1;
  }
}

const void* PymemrunWholeText(PyObject* object, size_t* bytes) {
  if (PyUnicode_Check(object)) {
    *bytes = (size_t)PyUnicode_GET_LENGTH(object) * PyUnicode_KIND(object);
    return PyUnicode_DATA(object);
  }
  *bytes = (size_t)PyBytes_GET_SIZE(object);
  return PyBytes_AS_STRING(object);
}

static int IsReady(PyObject* text) {
#if PY_VERSION_HEX < 0x030C0000
  return PyUnicode_IS_READY(text);
#else
  return 1;
#endif
}

// Writes at most this many characters of a str.
static int CutStr(PyObject* text, char* buffer, Py_ssize_t most, int* cut) {
  if (text == NULL || !PyUnicode_Check(text) || !IsReady(text)) return -1;
  Py_ssize_t at = 0;
  size_t size = 0;
  for (; at < PyUnicode_GET_LENGTH(text) && at < most;) {
    // One character at a time: each takes at most 4 bytes.
    const int kind = PyUnicode_KIND(text);
    if (PyUnicode_READ(kind, PyUnicode_DATA(text), at) < 0x80) {
      buffer[size++] = (char)PyUnicode_READ(kind, PyUnicode_DATA(text), at++);
      continue;
    }
    char one[8];
    const Py_ssize_t before = at;
    size_t bytes = 0;
    for (size_t room = 2; bytes == 0; ++room) {
      at = before;
      bytes = PymemrunUtf8Piece(text, &at, one, room);
      if (at > before + 1) bytes = 0;
    }
    memcpy(buffer + size, one, bytes);
    size += bytes;
  }
  *cut = at < PyUnicode_GET_LENGTH(text);
  return (int)size;
}

static int Ascii(const char* text, char* buffer) {
  size_t bytes = text != NULL ? strlen(text) : 0;
  if (bytes > MOST_CHARACTERS) bytes = MOST_CHARACTERS;
  memcpy(buffer, text != NULL ? text : "", bytes);
  return (int)bytes;
}

static int SmallIntText(long long number, char* buffer) {
  char digits[20];
  int count = 0, size = 0;
  unsigned long long rest =
      number < 0 ? -(unsigned long long)number : (unsigned long long)number;
  do {
    digits[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) buffer[size++] = '-';
  while (count > 0) buffer[size++] = digits[--count];
  return size;
}

static int LargeIntText(PyObject* number, char* buffer) {
  unsigned char bytes[40];
  if ((size_t)_PyLong_NumBits(number) >= 8 * sizeof bytes) return -1;
#if PY_VERSION_HEX >= 0x030D0000
  if (_PyLong_AsByteArray((PyLongObject*)number, bytes, sizeof bytes, 1, 1,
                          0)) {
#else
  if (_PyLong_AsByteArray((PyLongObject*)number, bytes, sizeof bytes, 1, 1)) {
#endif
    PyErr_Clear();
    return -1;
  }
  const int negative = bytes[sizeof bytes - 1] >= 0x80;
  if (negative) {  // two's complement
    int carry = 1;
    for (size_t i = 0; i < sizeof bytes; ++i) {
      carry += (unsigned char)~bytes[i];
      bytes[i] = (unsigned char)carry;
      carry >>= 8;
    }
  }
  char digits[MOST_CHARACTERS];
  int count = 0;
  for (int any = 1; any && count < MOST_CHARACTERS;) {
    unsigned rest = 0;
    any = 0;
    for (size_t i = sizeof bytes; i-- > 0;) {
      rest = rest << 8 | bytes[i];
      bytes[i] = (unsigned char)(rest / 10);
      rest %= 10;
      any |= bytes[i];
    }
    digits[count++] = (char)('0' + rest);
  }
  int size = 0;
  if (negative) buffer[size++] = '-';
  while (count > 0) buffer[size++] = digits[--count];
  return size;
}

// Digits of an int, where they are few enough.
static int IntText(PyObject* number, char* buffer) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  return overflow == 0 ? SmallIntText(value, buffer)
                       : LargeIntText(number, buffer);
}

static int FloatText(PyObject* number, char* buffer) {
  char* text =
      PyOS_double_to_string(PyFloat_AS_DOUBLE(number), 'r', 0, 2, NULL);
  const int size = Ascii(text, buffer);
  PyMem_Free(text);
  return size;
}

static int BytesText(PyObject* object, char* buffer, int* cut) {
  Py_ssize_t size = PyBytes_GET_SIZE(object);
  *cut = size > MOST_CHARACTERS;
  if (*cut) size = MOST_CHARACTERS;
  memcpy(buffer, PyBytes_AS_STRING(object), (size_t)size);
  return (int)size;
}

static int TypeText(PyTypeObject* type, char* buffer) {
  int cut = 0;
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
    return CutStr(((PyHeapTypeObject*)type)->ht_qualname, buffer,
                  MOST_CHARACTERS, &cut);
  }
  const char* dot = strrchr(type->tp_name, '.');
  return Ascii(dot != NULL ? dot + 1 : type->tp_name, buffer);
}

static PyObject* ModuleName(PyObject* module) {
  PyObject* dict = PyModule_GetDict(module);  // borrowed
  return dict != NULL ? PyDict_GetItemString(dict, "__name__") : NULL;
}

static PyObject* CodeName(PyObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  return ((PyCodeObject*)code)->co_qualname;
#else
  return ((PyCodeObject*)code)->co_name;
#endif
}

// The str that an object is called by, or NULL.
static PyObject* NameOf(PyObject* object, const PymemrunTypeFacts* facts) {
  switch (facts->shape) {
    case kPymemrunModule:
      return ModuleName(object);
    case kPymemrunFunction:
      return ((PyFunctionObject*)object)->func_qualname;
    case kPymemrunCodeShape:
      return CodeName(object);
    case kPymemrunGenerator:
      return ((PyGenObject*)object)->gi_qualname;
    case kPymemrunDescriptor:
      return ((PyDescrObject*)object)->d_name;
    case kPymemrunFrameShape: {
      PyCodeObject* code = PyFrame_GetCode((PyFrameObject*)object);
      PyObject* name = CodeName((PyObject*)code);
      Py_DECREF(code);
      return name;
    }
    default:
      return NULL;
  }
}

int PymemrunTextOf(PyObject* object, const PymemrunTypeFacts* facts,
                   char* buffer, int* cut) {
  *cut = 0;
  switch (facts->shape) {
    case kPymemrunStr:
      return CutStr(object, buffer, MOST_CHARACTERS, cut);
    case kPymemrunBytes:
      return BytesText(object, buffer, cut);
    case kPymemrunInt:
      if (PyBool_Check(object)) {
        return Ascii(object == Py_True ? "True" : "False", buffer);
      }
      return IntText(object, buffer);
    case kPymemrunFloat:
      return FloatText(object, buffer);
    case kPymemrunTypeShape:
      return TypeText((PyTypeObject*)object, buffer);
    case kPymemrunCFunction:
      return Ascii(((PyCFunctionObject*)object)->m_ml->ml_name, buffer);
    default: {
      const int size =
          CutStr(NameOf(object, facts), buffer, MOST_CHARACTERS, cut);
      *cut = 0;  // not needed for a name
      return size;
    }
  }
}

int PymemrunNameText(PyObject* name, char* buffer) {
  if (PyLong_CheckExact(name)) return IntText(name, buffer);
  if (!PyUnicode_Check(name) || !IsReady(name)) return -1;
  const int is_long = PyUnicode_GET_LENGTH(name) > MOST_CHARACTERS;
  int cut = 0;
  int size = CutStr(name, buffer, MOST_CHARACTERS - is_long, &cut);
  if (size >= 0 && is_long) {
    memcpy(buffer + size, "\xE2\x80\xA6", 3);
    size += 3;
  }
  return size;
}
#endif
