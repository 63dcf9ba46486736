// Types of objects, for object dumps: what their instances are, where their
// fields are, their names. As object_graph.h, for a forked child that holds the
// GIL.
#ifndef PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_TYPES_H_
#define PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_TYPES_H_

#include <Python.h>
#include <stdint.h>

#include "tracer/cpython/version.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {  // what an instance of a type is, whatever it derives from in between
  kPymemrunPlain,
  kPymemrunStr,
  kPymemrunBytes,
  kPymemrunInt,
  kPymemrunFloat,
  kPymemrunDictShape,
  kPymemrunList,
  kPymemrunTuple,
  kPymemrunSet,
  kPymemrunByteArray,
  kPymemrunArray,    // array.array
  kPymemrunCounted,  // deque: ob_size is its len()
  kPymemrunMapping,  // mmap.mmap
  kPymemrunNumpyArray,
  kPymemrunBytesIO,
  kPymemrunTypeShape,
  kPymemrunModule,
  kPymemrunFunction,
  kPymemrunCFunction,
  kPymemrunCodeShape,
  kPymemrunFrameShape,
  kPymemrunGenerator,
  kPymemrunCellShape,
  kPymemrunWeakRef,
  kPymemrunException,
  kPymemrunDescriptor
};

// What is the same for all instances of a type.
typedef struct {
  PyTypeObject* type;
  int shape;
  int exact;            // the type itself is of that shape
  size_t head_bytes;    // before an object in its block
  PyCFunction size_of;  // C's `__sizeof__`; NULL: it is Python code
  // Fields known from member descriptors, as many as the caller keeps. See
  // PymemrunMembersOf().
  const struct PymemrunMember* members;
  uint32_t member_count;
} PymemrunTypeFacts;

// All but the members.
void PymemrunTypeFactsOf(PyTypeObject* type, PymemrunTypeFacts* facts);

typedef struct PymemrunMember {
  size_t offset;   // of a pointer to an object, in an instance
  PyObject* name;  // a str
} PymemrunMember;
// Writes at most `room` members of the type; returns how many there are.
uint32_t PymemrunMembersOf(PyTypeObject* type, PymemrunMember* members,
                           uint32_t room);
// Write `__qualname__` and `__module__` as UTF-8, cut to `size` bytes. Return
// the bytes written.
size_t PymemrunTypeName(PyTypeObject* type, char* buffer, size_t size);
size_t PymemrunTypeModule(PyTypeObject* type, char* buffer, size_t size);
// numpy's own type of arrays.
int PymemrunIsNumpyArray(const PyTypeObject* type);
// The type's `__dict__`, borrowed, or NULL.
PyObject* PymemrunTypeDict(PyTypeObject* type);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_TYPES_H_
