#include "readers/python/object_dump.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pybind11/stl.h"
#include "readers/objects/blocks/load_allocations.h"
#include "readers/objects/findings/collapse.h"
#include "readers/objects/graph/chains.h"
#include "readers/objects/graph/dump_loader.h"
#include "readers/objects/graph/node_filter.h"
#include "readers/objects/graph/object_text.h"
#include "readers/python/arguments.h"
#include "readers/python/dump_queries.h"
#include "readers/python/python_values.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

// The value of a node; `unknown` if Python code cannot represent it. Dumps have
// values as text.
py::object NodeValue(const ObjectGraph& graph, NodeId node,
                     py::object unknown) {
  const NodeDetails details = graph.details(node);
  const std::string& type = graph.type_name(graph.type(node));
  if (type == "NoneType") return py::none();
  if (!details.text.has_value()) return unknown;
  const absl::string_view text = *details.text;
  if (type == "str" || type == "unicode") return PythonText(text);
  if (type == "bytes") return py::bytes(text.data(), text.size());
  if (type == "bool") return py::bool_(text == "True");
  if (type != "int" && type != "long" && type != "float") return unknown;
  py::object number = py::reinterpret_steal<py::object>(
      type == "float" ? PyFloat_FromString(PythonText(text).ptr())
                      : PyNumber_Long(PythonText(text).ptr()));
  if (number) return number;
  PyErr_Clear();  // a number that was cut
  return PythonText(text);
}

}  // namespace

const NodeAllocations* LoadedDump::Allocations() {
  if (!has_looked) {
    has_looked = true;
    // The reason is reported only if the caller named a run file.
    AllocationsRead read = LoadAllocations(path, run, nullptr, graph());
    if (read.status.ok()) TakeAllocations(std::move(read.allocations));
  }
  return graph().allocations();
}

// A folder raises what open() would raise. Loading releases the GIL; exceptions
// are made after that.
ObjectDump::ObjectDump(py::handle path, const py::object& run) {
  const std::string bytes = PathBytes(path);
  std::error_code error;
  if (std::filesystem::is_directory(bytes, error)) {
    errno = EISDIR;
    PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path.ptr());
    throw py::error_already_set();
  }
  absl::Status status;
  std::unique_ptr<ObjectGraph> graph;
  {
    const py::gil_scoped_release others_may_run;
    auto loaded = LoadObjectFile(bytes);
    status = loaded.status();
    if (status.ok()) graph = *std::move(loaded);
  }
  if (!status.ok()) RaiseOf(status, path);
  analysis_ = std::make_shared<LoadedDump>(std::move(graph));
  analysis_->path = bytes;
  if (run.is_none()) return;
  analysis_->run = PathBytes(run);
  analysis_->has_looked = true;
  AllocationsRead read =
      LoadAllocations(bytes, analysis_->run, nullptr, analysis_->graph());
  if (!read.status.ok()) RaiseOf(read.status, run);
  analysis_->TakeAllocations(std::move(read.allocations));
}

DumpedObject ObjectDump::At(NodeId node) const { return {analysis_, node}; }

DumpedObject ObjectDump::AtAddress(WholeArgument address) const {
  const NodeId node = graph().Find(static_cast<uint64_t>(address.number));
  if (node == kNoNode || address.number < 0) {
    throw py::key_error(std::to_string(address.number));
  }
  return At(node);
}

py::list ObjectDump::GetAll(const TextArgument& type) const {
  std::vector<NodeId> found;
  for (NodeId node = 0; node < graph().nodes(); ++node) {
    if (!graph().is_synthetic(node) &&
        TypeMatches(graph(), graph().type(node), type.text)) {
      found.push_back(node);
    }
  }
  // The first use of retained() finds the dominators of the whole graph.
  std::stable_sort(found.begin(), found.end(), [&](NodeId a, NodeId b) {
    return analysis_->retained(a) > analysis_->retained(b);
  });
  py::list objects;
  for (const NodeId node : found) objects.append(At(node));
  return objects;
}

// Makes a second graph: objects that were returned before keep the first one.
uint64_t ObjectDump::CollapseInstanceDicts() {
  Collapsed collapsed = pymemrun::CollapseInstanceDicts(graph());
  auto folded = std::make_shared<LoadedDump>(std::move(collapsed.graph));
  folded->path = analysis_->path;
  folded->run = analysis_->run;
  analysis_ = std::move(folded);
  return collapsed.dicts;
}

py::list DumpedObject::Children() const {
  py::list children;
  for (uint32_t e = graph().first_edge(node_);
       e < graph().first_edge(node_ + 1); ++e) {
    children.append(DumpedObject(analysis_, graph().target(e)));
  }
  return children;
}

// Edges to a node are sorted by their source, so several from one object are
// adjacent: it is listed once.
py::list DumpedObject::Parents() const {
  py::list parents;
  NodeId last = kNoNode;
  for (const uint32_t edge : analysis_->parents().EdgesTo(node_)) {
    const NodeId parent = graph().SourceOf(edge);
    if (parent != last && !graph().is_synthetic(parent)) {
      parents.append(DumpedObject(analysis_, parent));
    }
    last = parent;
  }
  return parents;
}

py::object DumpedObject::Unwrapped(NodeId node) const {
  return NodeValue(graph(), node, py::cast(DumpedObject(analysis_, node)));
}

// A dict's entries have keys, attributes have names. An instance's __dict__ is
// opened, so its entries appear as attributes.
py::object DumpedObject::RefsAsDict() const {
  py::object refs = RecordClass("References")();
  const auto add = [&](NodeId node) {
    for (uint32_t e = graph().first_edge(node);
         e < graph().first_edge(node + 1); ++e) {
      const NodeId key = KeyOf(graph(), e);
      const absl::string_view name = graph().edge_name(e);
      if (key != kNoNode) {
        refs[Unwrapped(key)] = Unwrapped(graph().target(e));
      } else if (!name.empty() && graph().kind(e) != EDGE_TYPE) {
        refs[PythonText(name)] = Unwrapped(graph().target(e));
      }
    }
  };
  add(node_);
  for (uint32_t e = graph().first_edge(node_);
       e < graph().first_edge(node_ + 1); ++e) {
    if (graph().kind(e) == EDGE_DICT) add(graph().target(e));
  }
  return refs;
}

py::list DumpedObject::Path() const {
  py::list steps;
  const auto chains = analysis_->ShortestChainsTo(node_, /*count=*/1);
  if (chains.empty()) return steps;
  for (const uint32_t edge : chains[0]) {
    steps.append(py::make_tuple(PythonText(EdgeText(graph(), edge)),
                                DumpedObject(analysis_, graph().target(edge))));
  }
  return steps;
}

py::object DumpedObject::Value() const {
  const NodeDetails details = graph().details(node_);
  py::object text = py::none();
  if (details.text.has_value()) text = PythonText(*details.text);
  return NodeValue(graph(), node_, text);
}

// The first call reads the run file, for all objects of the dump.
py::object DumpedObject::Allocated() const {
  const NodeAllocations* const known = analysis_->Allocations();
  const auto allocation = known == nullptr ? std::nullopt : known->Of(node_);
  if (!allocation.has_value()) return py::none();
  const RecordType frame("Frame"), record("ObjectAllocation");
  PythonTexts texts;
  FrameBudget budget;
  const RunIndex& index = known->index();
  return record.Make(PythonText(known->LineText(known->LineOf(node_))),
                     allocation->time_us.has_value()
                         ? py::object(py::float_(Seconds(*allocation->time_us)))
                         : py::none(),
                     PythonText(index.LatestThreadLabel(allocation->thread)),
                     FramesOf(index, allocation->stack, frame, &texts, &budget),
                     py::bool_(allocation->is_sure));
}

std::string DumpedObject::Repr() const {
  const uint32_t refs = graph().degree(node_);
  const std::string value = ValueText(graph(), node_);
  const std::string parents =
      absl::StrCat(" ", analysis_->parents().count(node_), "par");
  return absl::StrCat(KindText(graph(), node_), "(", graph().address(node_),
                      " ", graph().size_bytes(node_), "B",
                      refs == 0 ? "" : absl::StrCat(" ", refs, "refs"), parents,
                      value.empty() ? "" : " ", value, ")");
}

namespace {

using DumpClass = py::class_<ObjectDump>;
using ObjectClass = py::class_<DumpedObject>;

// Together they retain more than the sum of their own figures: what several of
// them hold is freed only with all of them.
void DefineRetained(DumpClass* dump) {
  dump->def(
      "retained",
      [](const ObjectDump& self, const TextArgument& type) {
        std::vector<bool> chosen(self.graph().nodes());
        for (NodeId node = 0; node < self.graph().nodes(); ++node) {
          chosen[node] =
              !self.graph().is_synthetic(node) &&
              TypeMatches(self.graph(), self.graph().type(node), type.text);
        }
        return self.analysis().RetainedTogether(chosen, nullptr);
      },
      py::arg("type"),
      "The bytes that would be freed with all objects of a type together.");
}

void DefineDump(DumpClass* dump) {
  dump->def("__len__",
            [](const ObjectDump& self) { return self.graph().objects(); });
  dump->def(
      "__getitem__", &ObjectDump::AtAddress, py::arg("address"),
      "The object at this address. Raises KeyError if no object is there.");
  dump->def("__iter__", [](const ObjectDump& self) {
    return py::iter(self.GetAll({"*"}));
  });
  dump->def("get_all", &ObjectDump::GetAll, py::arg("type"),
            "All objects of a type, those that retain most first. The name is "
            "with its module or without, or a pattern of * ? [...].");
  dump->def(
      "compute_parents",
      [](const ObjectDump& self) { self.analysis().parents(); },
      "Finds every object's parents now; otherwise the first query for parents "
      "does.");
  dump->def(
      "collapse_instance_dicts", &ObjectDump::CollapseInstanceDicts,
      "Counts each __dict__ in its instance from here on. Returns how "
      "many there were. Objects that were returned before do not change.");
  dump->def_property_readonly(
      "root", [](const ObjectDump& self) { return self.At(kRootNode); },
      "The parent of all roots; not an object of the program.");
  dump->def_property_readonly(
      "total_bytes",
      [](const ObjectDump& self) { return self.graph().total_bytes(); },
      "The bytes of all objects.");
  dump->def_property_readonly(
      "whole",
      [](const ObjectDump& self) {
        const auto& end = self.graph().facts().end;
        return end.has_value() && end->outcome() == ObjectsEnd::COMPLETE &&
               self.graph().facts().lost_references == 0;
      },
      "Whether the dump has all objects.");
}

template <typename Get>
void DefineProperty(ObjectClass* object, std::vector<const char*> names,
                    Get get, const char* doc) {
  for (const char* name : names) {
    object->def_property_readonly(name, get, doc);
  }
}

// Names of properties are Meliae's where it has such a property.
void DefineObject(ObjectClass* object) {
  using Self = DumpedObject;
  DefineProperty(
      object, {"address"},
      [](const Self& s) { return s.graph().address(s.node()); },
      "Its address; 0 if it is not an object.");
  DefineProperty(
      object, {"type_str"},
      [](const Self& s) { return PythonText(KindText(s.graph(), s.node())); },
      "Its type's name, with the module except for builtins.");
  DefineProperty(
      object, {"size"},
      [](const Self& s) { return s.graph().size_bytes(s.node()); },
      "Its own bytes: sys.getsizeof(), plus attributes that it does not "
      "count.");
  DefineProperty(
      object, {"retained"},
      [](const Self& s) { return s.analysis().retained(s.node()); },
      "The bytes that would be freed with it.");
  DefineProperty(
      object, {"length"},
      [](const Self& s) -> py::object {
        const auto length = s.graph().details(s.node()).length;
        return length.has_value() ? py::cast(*length) : py::none();
      },
      "Its len(), or None if it has no length.");
  DefineProperty(object, {"value"}, &Self::Value,
                 "Its value, or its name; the first 100 characters. None if "
                 "the dump has neither.");
  DefineProperty(
      object, {"allocated"}, &Self::Allocated,
      "Where and when its block was allocated, from the run file beside the "
      "dump: an ObjectAllocation. None if it is not known.");
}

void DefineNeighbours(ObjectClass* object) {
  using Self = DumpedObject;
  DefineProperty(object, {"children", "c"}, &Self::Children,
                 "The objects that it refers to.");
  DefineProperty(object, {"parents", "p"}, &Self::Parents,
                 "The objects that refer to it.");
  DefineProperty(
      object, {"num_refs"},
      [](const Self& s) { return s.graph().degree(s.node()); },
      "How many references it has.");
  DefineProperty(
      object, {"num_parents"},
      [](const Self& s) { return s.analysis().parents().count(s.node()); },
      "How many references lead to it.");
  DefineProperty(
      object, {"refs_as_dict"}, &Self::RefsAsDict,
      "A dict's entries, or an instance's attributes, by name. Text, numbers "
      "and None are themselves. It may be called, too: refs_as_dict().");
  object->def("path", &Self::Path,
              "What keeps it alive: (reference, object) for each step of the "
              "shortest chain from a root.");
}

// A DumpedObject is made anew each time, so equality goes by node, not by
// identity. obj[i] is its reference number i, as in Meliae.
void DefineIdentity(ObjectClass* object) {
  using Self = DumpedObject;
  object->def("__getitem__", [](const Self& s, size_t index) {
    if (index >= s.graph().degree(s.node())) throw py::index_error();
    const uint32_t edge = s.graph().first_edge(s.node());
    return s.Sibling(s.graph().target(edge + index));
  });
  object->def(
      "__eq__",
      [](const Self& a, const Self& b) {
        return &a.graph() == &b.graph() && a.node() == b.node();
      },
      py::is_operator());
  object->def("__hash__", [](const Self& s) { return s.node(); });
  object->def("__repr__", [](const Self& s) { return PythonText(s.Repr()); });
}

}  // namespace

void DefineObjects(py::module_* module) {
  DumpClass dump(*module, "ObjectDump",
                 "The objects of a dump of the object graph.");
  ObjectClass object(*module, "DumpedObject", "An object of a dump.");
  DefineDump(&dump);
  DefineRetained(&dump);
  DefineObject(&object);
  DefineNeighbours(&object);
  DefineIdentity(&object);
  DefineQueries(module, &dump, &object);
  DefineWalks(&object);
  module->def(
      "objects",
      [](const py::object& path, const py::object& run) {
        return std::make_unique<ObjectDump>(path, run);
      },
      py::arg("path"), py::arg("run") = py::none(),
      "Loads a dump of the object graph. `run` is the run file that says where "
      "objects were allocated; None: the one beside the dump, if there "
      "is one. Raises OSError if the system refuses, ValueError for a file "
      "without an object graph, and for a run that does not say where.");
}

}  // namespace pymemrun
