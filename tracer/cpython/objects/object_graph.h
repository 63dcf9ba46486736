// What an object dump reads from the interpreter, by version. All functions are
// for a forked child that holds the GIL: they create no Python objects and run
// no Python code. Pointers are borrowed.
#ifndef PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_GRAPH_H_
#define PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_GRAPH_H_

#include "tracer/cpython/objects/object_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Kinds of references, numbered as EdgeKind in objects.proto.
enum {
  kPymemrunOther = 0,
  kPymemrunAttribute = 1,
  kPymemrunKey = 2,
  kPymemrunValue = 3,
  kPymemrunIndex = 4,
  kPymemrunType = 5,
  kPymemrunDict = 6,
  kPymemrunCell = 7,
  kPymemrunLocal = 8,
  kPymemrunStack = 9,
  kPymemrunCode = 10,
  kPymemrunGlobals = 11,
  kPymemrunBase = 12,
  kPymemrunRoot = 13,
  kPymemrunWeak = 14
};

// A reference and its name.
typedef struct {
  PyObject* target;  // never NULL
  int kind;
  // 1: counts even if tp_traverse does not visit it.
  int always;
  PyObject* name;    // a str or an int; or NULL
  const char* text;  // without `name`: ASCII text, or NULL
} PymemrunEdge;
typedef void (*PymemrunEdgeFunction)(void* arg, const PymemrunEdge* edge);
typedef struct {
  PymemrunEdgeFunction function;
  void* arg;
} PymemrunSink;

static inline void PymemrunTell(const PymemrunSink* sink, void* target,
                                int kind, int always, PyObject* name,
                                const char* text) {
  if (target == NULL) return;
  const PymemrunEdge edge = {(PyObject*)target, kind, always, name, text};
  sink->function(sink->arg, &edge);
}

typedef struct {
  const void* at;
  size_t bytes;  // 0: no block
} PymemrunBlock;
// Returns sys.getsizeof() plus the values of attributes without a dictionary,
// which it leaves out. Sets `estimated` if Python code might add more, and
// `beside` to the separate block that is a part of this size, such as the items
// of a list.
size_t PymemrunSizeOf(PyObject* object, const PymemrunTypeFacts* facts,
                      int* estimated, PymemrunBlock* beside);
// Parts of PymemrunSizeOf(). Bytes of the values of an instance, and their
// block; NULL if they are inside the object.
size_t PymemrunValuesOf(PyObject* object, const void** block);
// Size of a dictionary whose `__sizeof__` returned `said`: with the whole block
// of its values, and without values that are inside an instance and count
// there.
size_t PymemrunSplitSize(PyObject* object, size_t said);
// Block of the items, or NULL. Sets *other_bytes to what `__sizeof__` counts
// besides the items and tp_basicsize.
const void* PymemrunItemsBlock(PyObject* object, const PymemrunTypeFacts* facts,
                               size_t* other_bytes);
// Memory mapped by an mmap.mmap, which is in neither size.
PymemrunBlock PymemrunMappingOf(PyObject* object);
// Whether tp_traverse can be called on the object.
int PymemrunCanTraverse(PyObject* object);
int PymemrunIsTracked(PyObject* object);
int PymemrunIsImmortal(PyObject* object);
int PymemrunIsInterned(PyObject* object);
// len() of the object if it runs no Python code; otherwise -1.
Py_ssize_t PymemrunLengthOf(PyObject* object, const PymemrunTypeFacts* facts);
// Writes the value or name of the object, at most 100 code points or bytes.
// Returns the number of bytes, or -1 without such a text. Sets *cut if it was
// longer.
enum { kPymemrunTextBytes = 512 };
int PymemrunTextOf(PyObject* object, const PymemrunTypeFacts* facts,
                   char* buffer, int* cut);
// Whole contents of a str or bytes.
const void* PymemrunWholeText(PyObject* object, size_t* bytes);
// Writes the name of a reference as text, in the same way; an ellipsis marks a
// cut.
int PymemrunNameText(PyObject* name, char* buffer);
// Reports each reference that has a name.
void PymemrunNamedEdges(PyObject* object, const PymemrunTypeFacts* facts,
                        const PymemrunSink* sink);
// Parts of PymemrunNamedEdges(): instance attributes, and attributes by shape.
void PymemrunAttributeEdges(PyObject* object, const PymemrunTypeFacts* facts,
                            const PymemrunSink* sink);
void PymemrunShapeEdges(PyObject* object, const PymemrunTypeFacts* facts,
                        const PymemrunSink* sink);
void PymemrunNumpyEdges(PyObject* object, const PymemrunSink* sink);
void PymemrunBytesIOEdges(PyObject* object, const PymemrunSink* sink);
// References of the frame inside a generator or a frame object.
void PymemrunOwnFrameEdges(PyObject* object, const PymemrunTypeFacts* facts,
                           const PymemrunSink* sink);
// Cells of the closure of a function, with the names of their variables.
void PymemrunClosureNames(PyObject* function, const PymemrunSink* sink);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_GRAPH_H_
