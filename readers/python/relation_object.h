// Relations for Python code: rows as tuples, or by Arrow's C stream interface.
#ifndef PYMEMRUN_READERS_PYTHON_RELATION_OBJECT_H_
#define PYMEMRUN_READERS_PYTHON_RELATION_OBJECT_H_

#include <memory>
#include <string>

#include "pybind11/pybind11.h"
#include "readers/python/run_file.h"
#include "readers/relations/engine/relation.h"

namespace pymemrun {

// One of several relations, which it keeps. All of it needs the GIL.
class RelationObject {
 public:
  // Raises ValueError for a name that none of them has.
  RelationObject(std::shared_ptr<const Relations> all, absl::string_view name);

  const Relation& relation() const { return *relation_; }
  // Each as a tuple: name, type, unit or None, meaning.
  pybind11::list Columns() const;
  // A PyCapsule named "arrow_array_stream".
  pybind11::capsule ArrowStream() const;
  const std::shared_ptr<Relation>& shared() const { return relation_; }

 private:
  std::shared_ptr<Relation> relation_;  // keeps all of them
};

// Tuples, one for each row.
class RowTuples {
 public:
  explicit RowTuples(const RelationObject& relation);
  // Raises StopIteration, or ValueError where the file cannot be read.
  pybind11::tuple Next();

 private:
  const std::shared_ptr<Relation> relation_;
  const std::unique_ptr<RowCursor> rows_;
  bool ended_ = false;
};

// Those of a run file. `at`: as --at takes it. Raises ValueError.
std::shared_ptr<const Relations> RelationsOf(const RunFile& file,
                                             const std::string& at);

// The rows of a SELECT: a list of named tuples. Raises ValueError where it is
// wrong, or the file cannot be read.
pybind11::object QueryRows(const std::string& sql, const Relations& relations);

// Adds the class Relation.
void DefineRelations(pybind11::module_* module);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_RELATION_OBJECT_H_
