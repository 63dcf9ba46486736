// Object dumps for Python: the result of pymemrun_reader.objects().
#ifndef PYMEMRUN_READERS_PYTHON_OBJECT_DUMP_H_
#define PYMEMRUN_READERS_PYTHON_OBJECT_DUMP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pybind11/pybind11.h"
#include "readers/objects/findings/analysis.h"
#include "readers/python/arguments.h"

namespace pymemrun {

class DumpedObject;

// A loaded graph, and its path. The run file in the same folder is read when
// allocations are first needed.
struct LoadedDump : ObjectAnalysis {
  using ObjectAnalysis::ObjectAnalysis;
  // Returns null if allocations are unknown.
  const NodeAllocations* Allocations();

  std::string path;
  std::string run;  // empty: the one in the same folder
  bool has_looked = false;
};

// A loaded dump. All of it requires the GIL.
class ObjectDump {
 public:
  // Raises OSError or ValueError. `run`: None, or the run file with the
  // allocations, which is then read at once.
  ObjectDump(pybind11::handle path, const pybind11::object& run);
  explicit ObjectDump(std::shared_ptr<LoadedDump> analysis)
      : analysis_(std::move(analysis)) {}

  ObjectAnalysis& analysis() const { return *analysis_; }
  const ObjectGraph& graph() const { return analysis_->graph(); }
  const std::shared_ptr<LoadedDump>& dump() const { return analysis_; }
  DumpedObject At(NodeId node) const;
  // Raises KeyError.
  DumpedObject AtAddress(WholeArgument address) const;
  // Those that retain most are first.
  pybind11::list GetAll(const TextArgument& type) const;
  // From now on each __dict__ is part of its instance. Objects returned before
  // stay as they are. Returns the number of dictionaries.
  uint64_t CollapseInstanceDicts();

 private:
  std::shared_ptr<LoadedDump> analysis_;
};

// One object of a dump. It keeps the dump alive.
class DumpedObject {
 public:
  DumpedObject(std::shared_ptr<LoadedDump> analysis, NodeId node)
      : analysis_(std::move(analysis)), node_(node) {}

  const ObjectGraph& graph() const { return analysis_->graph(); }
  ObjectAnalysis& analysis() const { return *analysis_; }
  NodeId node() const { return node_; }
  ObjectDump owner() const { return ObjectDump(analysis_); }
  // Another object of the same dump.
  DumpedObject Sibling(NodeId node) const { return {analysis_, node}; }
  pybind11::list Children() const;
  pybind11::list Parents() const;
  // Its references as {name or key: object}; str, numbers, bools and None are
  // returned as values.
  pybind11::object RefsAsDict() const;
  // The shortest chain from a root, as an expression as far as possible, and
  // the objects of the chain.
  pybind11::list Path() const;
  // Its value: str; int, float and bool as such; None if it is unknown.
  pybind11::object Value() const;
  // An ObjectAllocation record, or None.
  pybind11::object Allocated() const;
  std::string Repr() const;

 private:
  pybind11::object Unwrapped(NodeId node) const;

  std::shared_ptr<LoadedDump> analysis_;
  NodeId node_;
};

// Adds objects() and its classes.
void DefineObjects(pybind11::module_* module);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_OBJECT_DUMP_H_
