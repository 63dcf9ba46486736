// What a dump of the object graph reads of the interpreter, by version. All of
// it is for a forked child that holds the GIL: nothing here makes an object of
// the program's, or runs Python code.
#ifndef PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_GRAPH_H_
#define PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_GRAPH_H_

#include "tracer/cpython/objects/object_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// EdgeKind of objects.proto.
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

// A reference, as something names it.
typedef struct {
  PyObject* target;  // never NULL
  int kind;
  // 1: it is one, whether or not tp_traverse visits it.
  int always;
  PyObject* name;    // a str or an int; or NULL...
  const char* text;  // ...and then plain ASCII, or NULL
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
  size_t bytes;  // 0: no such block
} PymemrunBlock;
// What sys.getsizeof() says, plus the values of attributes that no dictionary
// has, which it leaves out. Sets `estimated` if Python code might add more, and
// `beside` to the block that holds a part of this size, such as a list's items.
size_t PymemrunSizeOf(PyObject* object, const PymemrunTypeFacts* facts,
                      int* estimated, PymemrunBlock* beside);
// Parts of it. The bytes of an instance's values, and their block, NULL where
// they lie in the object.
size_t PymemrunValuesOf(PyObject* object, const void** block);
// Of a dictionary for which `__sizeof__` said so much: with all of the block of
// its values, and without values that lie in an instance and count there.
size_t PymemrunSplitSize(PyObject* object, size_t said);
// The block of its items, or NULL; and what `__sizeof__` counts besides them
// and the type's tp_basicsize.
const void* PymemrunItemsBlock(PyObject* object, const PymemrunTypeFacts* facts,
                               size_t* other_bytes);
// What an mmap.mmap maps: neither size has it.
PymemrunBlock PymemrunMappingOf(PyObject* object);
// Whether the cycle collector can ask the object what it refers to.
int PymemrunCanTraverse(PyObject* object);
int PymemrunIsTracked(PyObject* object);
int PymemrunIsImmortal(PyObject* object);
int PymemrunIsInterned(PyObject* object);
// len() of what has a length that no Python code says; -1: nothing.
Py_ssize_t PymemrunLengthOf(PyObject* object, const PymemrunTypeFacts* facts);
// Writes the object's value or name, at most 100 code points or bytes of it.
// Returns the bytes written, -1 where it has none; and whether it is cut.
enum { kPymemrunTextBytes = 512 };
int PymemrunTextOf(PyObject* object, const PymemrunTypeFacts* facts,
                   char* buffer, int* cut);
// Of a str or bytes: where all of it lies.
const void* PymemrunWholeText(PyObject* object, size_t* bytes);
// The name of a reference as text, likewise; an ellipsis ends what is cut.
int PymemrunNameText(PyObject* name, char* buffer);
// Tells each reference that has a name.
void PymemrunNamedEdges(PyObject* object, const PymemrunTypeFacts* facts,
                        const PymemrunSink* sink);
// Parts of it: instance attributes, and those of shapes.
void PymemrunAttributeEdges(PyObject* object, const PymemrunTypeFacts* facts,
                            const PymemrunSink* sink);
void PymemrunShapeEdges(PyObject* object, const PymemrunTypeFacts* facts,
                        const PymemrunSink* sink);
void PymemrunNumpyEdges(PyObject* object, const PymemrunSink* sink);
void PymemrunBytesIOEdges(PyObject* object, const PymemrunSink* sink);
// Of a generator, or of a frame object that has its frame in itself.
void PymemrunOwnFrameEdges(PyObject* object, const PymemrunTypeFacts* facts,
                           const PymemrunSink* sink);
// The cells of a function's closure with the names of their variables.
void PymemrunClosureNames(PyObject* function, const PymemrunSink* sink);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_OBJECTS_OBJECT_GRAPH_H_
