// Queries of a whole dump for Python code: SQL, arrays, and what freeing
// objects would return.
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

// The object and everything it refers to, directly or not, nearest first.
// Leaves out types, weak references, and what only `excluding`, an iterable of
// addresses and objects, leads to.
std::vector<NodeId> ReachedFrom(const DumpedObject& object,
                                const pybind11::object& excluding);

// Adds iter_recursive_refs(), compute_total_size() and all(): names from
// Meliae.
void DefineWalks(pybind11::class_<DumpedObject>* object);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_DUMP_QUERIES_H_
