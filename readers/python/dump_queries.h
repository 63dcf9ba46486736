// What Python code asks of a whole dump: SQL, arrays, and what would return.
#ifndef PYMEMRUN_READERS_PYTHON_DUMP_QUERIES_H_
#define PYMEMRUN_READERS_PYTHON_DUMP_QUERIES_H_

#include "pybind11/pybind11.h"
#include "readers/python/object_dump.h"

namespace pymemrun {

// Adds `in`, query(), arrays() and what_if() to the classes.
void DefineQueries(pybind11::module_* module,
                   pybind11::class_<ObjectDump>* dump,
                   pybind11::class_<DumpedObject>* object);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_DUMP_QUERIES_H_
