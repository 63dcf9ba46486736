// What Python code asks of a whole dump: SQL, arrays, and what would return.
#ifndef PYMEMRUN_READERS_PYTHON_DUMP_QUERIES_H_
#define PYMEMRUN_READERS_PYTHON_DUMP_QUERIES_H_

#include <vector>

#include "pybind11/pybind11.h"
#include "readers/python/object_dump.h"

namespace pymemrun {

// Adds `in`, query(), arrays() and what_if() to the classes.
void DefineQueries(pybind11::module_* module,
                   pybind11::class_<ObjectDump>* dump,
                   pybind11::class_<DumpedObject>* object);

// What Python code asks of all that an object refers to, directly or not: names
// that Meliae's users know.

// The object and all that it refers to, without types, weak references and what
// only `excluding` leads to: an iterable of addresses and objects. The nearest
// first.
std::vector<NodeId> ReachedFrom(const DumpedObject& object,
                                const pybind11::object& excluding);

// Adds iter_recursive_refs(), compute_total_size() and all().
void DefineWalks(pybind11::class_<DumpedObject>* object);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_DUMP_QUERIES_H_
