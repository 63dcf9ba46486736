// Object dumps for Python: what pymemrun_reader.objects() gives.
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

// A loaded graph, and the file beside which its run file is looked for once
// somebody asks for allocations.
struct LoadedDump : ObjectAnalysis {
  using ObjectAnalysis::ObjectAnalysis;
  // Null: they are not known.
  const NodeAllocations* Allocations();

  std::string path;
  std::string run;  // empty: the one beside it
  bool has_looked = false;
};

// A dump that has been loaded. All of it needs the GIL.
class ObjectDump {
 public:
  // Raises OSError or ValueError. `run`: None, or the run file that tells of
  // allocations; it is then read at once.
  ObjectDump(pybind11::handle path, const pybind11::object& run);
  explicit ObjectDump(std::shared_ptr<LoadedDump> analysis)
      : analysis_(std::move(analysis)) {}

  ObjectAnalysis& analysis() const { return *analysis_; }
  const ObjectGraph& graph() const { return analysis_->graph(); }
  const std::shared_ptr<LoadedDump>& dump() const { return analysis_; }
  DumpedObject At(NodeId node) const;
  // Raises KeyError.
  DumpedObject AtAddress(WholeArgument address) const;
  // Those that retain most first.
  pybind11::list GetAll(const TextArgument& type) const;
  // From here on each __dict__ is part of its instance. Objects that were
  // given before stay as they are. Returns how many there were.
  uint64_t CollapseInstanceDicts();

 private:
  std::shared_ptr<LoadedDump> analysis_;
};

// One object of a dump, which it keeps.
class DumpedObject {
 public:
  DumpedObject(std::shared_ptr<LoadedDump> analysis, NodeId node)
      : analysis_(std::move(analysis)), node_(node) {}

  const ObjectGraph& graph() const { return analysis_->graph(); }
  ObjectAnalysis& analysis() const { return *analysis_; }
  NodeId node() const { return node_; }
  ObjectDump owner() const { return ObjectDump(analysis_); }
  // Another one of the same dump.
  DumpedObject Sibling(NodeId node) const { return {analysis_, node}; }
  pybind11::list Children() const;
  pybind11::list Parents() const;
  // References of {name or key: object}; text, numbers, bools and None as
  // themselves.
  pybind11::object RefsAsDict() const;
  // The shortest chain from a root, as an expression as far as it is one, and
  // the objects of the chain.
  pybind11::list Path() const;
  // As text: str; int, float and bool as themselves; None where nothing is
  // known.
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
