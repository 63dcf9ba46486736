// Relations for Python code: rows as tuples, or through Arrow's C stream
// interface.
#ifndef PYMEMRUN_READERS_PYTHON_RELATION_OBJECT_H_
#define PYMEMRUN_READERS_PYTHON_RELATION_OBJECT_H_

#include <memory>
#include <string>

#include "pybind11/pybind11.h"
#include "readers/python/run_file.h"
#include "readers/relations/engine/relation.h"

namespace pymemrun {

// One of several relations; it keeps all of them alive. All of it requires the
// GIL.
class RelationObject {
 public:
  // Raises ValueError if there is no relation of this name.
  RelationObject(std::shared_ptr<const Relations> all, absl::string_view name);

  const Relation& relation() const { return *relation_; }
  // Tuples of name, type, unit or None, and meaning.
  pybind11::list Columns() const;
  // A PyCapsule named "arrow_array_stream".
  pybind11::capsule ArrowStream() const;
  const std::shared_ptr<Relation>& shared() const { return relation_; }

 private:
  std::shared_ptr<Relation> relation_;  // keeps the others alive
};

// Iterates over rows as tuples.
class RowTuples {
 public:
  explicit RowTuples(const RelationObject& relation);
  // Raises StopIteration, or ValueError if the file cannot be read.
  pybind11::tuple Next();

 private:
  const std::shared_ptr<Relation> relation_;
  const std::unique_ptr<RowCursor> rows_;
  bool ended_ = false;
};

// The relations of a run file. `at`: in the form of --at. Raises ValueError.
std::shared_ptr<const Relations> RelationsOf(const RunFile& file,
                                             const std::string& at);

// The rows of a SELECT as a list of named tuples. Raises ValueError if it is
// invalid, or the file cannot be read.
pybind11::object QueryRows(const std::string& sql, const Relations& relations);

// Adds the class Relation.
void DefineRelations(pybind11::module_* module);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_RELATION_OBJECT_H_
