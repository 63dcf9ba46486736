#include "readers/python/dump_queries.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/stream/byte_io.h"
#include "readers/objects/blocks/what_if.h"
#include "readers/objects/graph/node_filter.h"
#include "readers/objects/graph/object_text.h"
#include "readers/python/arguments.h"
#include "readers/python/python_values.h"
#include "readers/python/relation_object.h"
#include "readers/relations/objects/graph_relations.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

// An array of the dump, without a copy. It keeps the dump alive.
class DumpArray {
 public:
  template <typename T>
  DumpArray(std::shared_ptr<LoadedDump> dump, absl::Span<const T> numbers)
      : dump_(std::move(dump)),
        data_(numbers.data()),
        size_(numbers.size()),
        item_bytes_(sizeof(T)),
        format_(py::format_descriptor<T>::format()) {}
  // For computed numbers, which the dump does not have.
  DumpArray(std::shared_ptr<LoadedDump> dump, std::vector<uint64_t> made)
      : DumpArray(std::move(dump), absl::Span<const uint64_t>()) {
    made_ = std::make_shared<std::vector<uint64_t>>(std::move(made));
    data_ = made_->data();
    size_ = made_->size();
  }
  // Read-only, as all objects of the dump share the array.
  py::buffer_info Buffer() const {
    return py::buffer_info(const_cast<void*>(data_), item_bytes_, format_, 1,
                           {static_cast<py::ssize_t>(size_)}, {item_bytes_},
                           /*readonly=*/true);
  }

 private:
  std::shared_ptr<LoadedDump> dump_;
  std::shared_ptr<std::vector<uint64_t>> made_;
  const void* data_;
  size_t size_;
  py::ssize_t item_bytes_;
  std::string format_;
};

// Sizes of 4 GiB or more need wider numbers than the dump's array has. There
// they are UINT32_MAX, and size_bytes() looks them up.
DumpArray SizesOf(const std::shared_ptr<LoadedDump>& dump) {
  const absl::Span<const uint32_t> sizes = dump->graph().arrays().sizes;
  bool is_exact = true;
  for (const uint32_t size : sizes) is_exact &= size != ~uint32_t{0};
  if (is_exact) return DumpArray(dump, sizes);
  std::vector<uint64_t> wide(sizes.size());
  for (NodeId node = 0; node < wide.size(); ++node) {
    wide[node] = dump->graph().size_bytes(node);
  }
  return DumpArray(dump, std::move(wide));
}

// A memoryview keeps its DumpArray alive, and that keeps the dump.
py::dict Arrays(const ObjectDump& self) {
  const std::shared_ptr<LoadedDump>& dump = self.dump();
  const GraphArrays& arrays = self.graph().arrays();
  py::dict all;
  const auto add = [&](const char* name, DumpArray array) {
    all[name] = py::reinterpret_steal<py::object>(
        PyMemoryView_FromObject(py::cast(std::move(array)).ptr()));
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  };
  add("address", DumpArray(dump, arrays.addresses.span()));
  add("size", SizesOf(dump));
  add("type", DumpArray(dump, arrays.types.span()));
  add("retained", DumpArray(dump, dump->all_retained()));
  add("dominator", DumpArray(dump, dump->all_dominators()));
  add("first_edge", DumpArray(dump, arrays.first_edges.span()));
  add("target", DumpArray(dump, arrays.targets.span()));
  add("kind", DumpArray(dump, arrays.kinds.span()));
  return all;
}

py::object TextOf(absl::string_view text) {
  if (text.empty()) return py::none();
  return PythonText(text);
}

// Fields that are unknown become None: those of the heap or of RSS go together.
py::object WhatIfGone(const ObjectDump& self, const std::vector<bool>& gone,
                      const py::object& run) {
  // Damage in the run file is not printed: the result says what is unknown.
  FdSink nowhere(-1);
  const Console silent = {"", &nowhere, -1, -1};
  int code = 0;
  const std::string run_path = run.is_none() ? "" : PathBytes(run);
  const WhatIf what =
      Without(self.graph(), gone, self.dump()->path, run_path, silent, &code);
  const auto known = [](const std::string& why, uint64_t value) {
    return why.empty() ? py::object(py::int_(value)) : py::none();
  };
  const auto reason = [](const std::string& why) { return TextOf(why); };
  const ReturnedMemory& pages = what.returned;
  const RecordType record("WhatIf");
  return record.Make(
      what.objects, what.object_bytes, known(what.no_heap, what.heap_bytes),
      known(what.no_heap, what.unplaced_bytes),
      known(what.no_rss, what.rss_bytes),
      known(what.no_rss, pages.AtOnceBytes()),
      known(what.no_rss, pages.alone_bytes),
      known(what.no_rss, pages.arena_bytes), known(what.no_rss, pages.arenas),
      known(what.no_rss, pages.mapped_bytes),
      known(what.no_rss, pages.trimmed_bytes),
      known(what.no_rss, pages.kept_arena_bytes),
      known(what.no_rss, pages.malloc_bytes),
      known(what.no_rss, pages.shared_bytes), reason(what.no_heap),
      reason(what.no_rss));
}

// GoneWith() adds what only the chosen objects keep alive.
py::object WhatIfType(const ObjectDump& self, const TextArgument& type,
                      const py::object& run) {
  const ObjectGraph& graph = self.graph();
  std::vector<bool> chosen(graph.nodes());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    chosen[node] = !graph.is_synthetic(node) &&
                   TypeMatches(graph, graph.type(node), type.text);
  }
  return WhatIfGone(self, self.analysis().GoneWith(chosen), run);
}

py::object WhatIfObject(const DumpedObject& self, const py::object& run) {
  std::vector<bool> chosen(self.graph().nodes());
  chosen[self.node()] = true;
  return WhatIfGone(self.owner(), self.analysis().GoneWith(chosen), run);
}

constexpr char kWhatIfDoc[] =
    " would be freed: how much the heap and RSS would shrink. A WhatIf, whose "
    "fields are the columns of `pymemobj what-if`. `run` is the "
    "run file; None: the one beside the dump. Unknown fields are None; "
    "heap_not_known or rss_not_known says why.";

}  // namespace

namespace {

// pybind11 tries overloads in this order: a number is an address, anything else
// is compared by its graph.
void DefineContains(py::class_<ObjectDump>* dump) {
  dump->def(
      "__contains__",
      [](const ObjectDump& self, uint64_t address) {
        return self.graph().Find(address) != kNoNode;
      },
      py::arg("address"), "Whether an object is at this address.");
  dump->def(
      "__contains__",
      [](const ObjectDump& self, const py::object& other) {
        return py::isinstance<DumpedObject>(other) &&
               &other.cast<const DumpedObject&>().graph() == &self.graph();
      },
      py::arg("object"), "Whether it is an object of this dump.");
}

void CheckEngine(const py::object& engine) {
  if (engine.is_none() || py::str("sqlite").equal(engine)) return;
  throw py::value_error(
      "engine: expected \"sqlite\" or None; DuckDB reads relation(), as in "
      "nodes = dump.relation('nodes'); duckdb.sql('SELECT ... FROM nodes')");
}

void DefineRelation(py::class_<ObjectDump>* dump) {
  dump->def(
      "query",
      [](const ObjectDump& self, const TextArgument& sql,
         const py::object& engine) {
        CheckEngine(engine);
        return QueryRows(sql.text, GraphRelations(&self.analysis()));
      },
      py::arg("sql"), py::arg("engine") = py::none(),
      "Answers a SELECT of SQLite over nodes, edges, dominators and types, as "
      "`pymemobj query` does: named tuples. `engine` is \"sqlite\" or None. "
      "Raises ValueError if the SELECT is wrong.");
  dump->def(
      "relation",
      [](const ObjectDump& self, const TextArgument& name) {
        // The relations point into the graph. A shared pointer to both keeps
        // the dump alive as long as a relation is used.
        struct DumpAndRelations {
          std::shared_ptr<LoadedDump> dump;
          Relations relations;
        };
        const auto all = std::make_shared<DumpAndRelations>();
        all->dump = self.dump();
        all->relations = GraphRelations(&self.analysis());
        return RelationObject({all, &all->relations}, name.text);
      },
      py::arg("name"),
      "A table of `pymemobj query`: nodes, edges, dominators or types, as a "
      "Relation. Raises ValueError for another name.");
}

// TypeRows as named tuples, the largest first. Types without an object sort
// last: the loop ends there, when all types are counted.
py::object Summarize(const ObjectDump& dump, const py::object& limit) {
  const ObjectGraph& graph = dump.graph();
  struct Sums {
    uint32_t type = 0;
    uint64_t count = 0, bytes = 0, largest = 0;
  };
  std::vector<Sums> sums(graph.types().size());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (graph.is_synthetic(node)) continue;
    Sums& of = sums[graph.type(node)];
    of.type = graph.type(node);
    ++of.count;
    of.bytes += graph.size_bytes(node);
    of.largest = std::max(of.largest, graph.size_bytes(node));
  }
  std::stable_sort(sums.begin(), sums.end(), [](const Sums& a, const Sums& b) {
    return std::pair(a.bytes, a.count) > std::pair(b.bytes, b.count);
  });
  const std::vector<uint64_t> retained = dump.analysis().RetainedByType();
  const RecordType row("TypeRow");
  const size_t most = LimitOf(limit, sums.size());
  py::list rows;
  uint64_t types = 0;
  for (const Sums& of : sums) {
    if (of.count == 0) break;
    ++types;
    // Beyond the limit types are only counted.
    if (rows.size() == most) continue;
    rows.append(row.Make(PythonText(graph.type_name(of.type)), of.count,
                         of.bytes, of.largest, retained[of.type]));
  }
  return RecordClass("TypeRows")(rows, graph.objects(), types,
                                 graph.total_bytes());
}

}  // namespace

void DefineQueries(py::module_* module, py::class_<ObjectDump>* dump,
                   py::class_<DumpedObject>* object) {
  py::class_<DumpArray>(*module, "_DumpArray", py::buffer_protocol())
      .def_buffer(&DumpArray::Buffer);
  DefineContains(dump);
  dump->def("summarize", &Summarize, py::arg("limit") = 20,
            "Each type's TypeRow, the largest first; `limit` of them, None: "
            "all. It prints as a table.");
  dump->def("arrays", &Arrays,
            "The graph as memoryviews, which numpy.asarray() takes without a "
            "copy. `address`, `size`, `type`, `retained` and `dominator` have "
            "a number for each node, `target` and `kind` for each reference. "
            "The references of node n are first_edge[n] up to "
            "first_edge[n + 1].");
  DefineRelation(dump);
  dump->def("what_if", &WhatIfType, py::arg("type"),
            py::arg("run") = py::none(),
            (std::string("If all objects of a type") + kWhatIfDoc).c_str());
  object->def("what_if", &WhatIfObject, py::arg("run") = py::none(),
              (std::string("If it") + kWhatIfDoc).c_str());
}

namespace {

namespace py = pybind11;

constexpr char kExcluding[] = "excluding";

py::object IterReached(const DumpedObject& self, const py::object& excluding) {
  py::list objects;
  for (const NodeId node : ReachedFrom(self, excluding)) {
    objects.append(self.Sibling(node));
  }
  return py::iter(objects);
}

uint64_t TotalSize(const DumpedObject& self, const py::object& excluding) {
  uint64_t bytes = 0;
  for (const NodeId node : ReachedFrom(self, excluding)) {
    bytes += self.graph().size_bytes(node);
  }
  return bytes;
}

py::list AllOf(const DumpedObject& self, const TextArgument& type,
               const py::object& excluding) {
  const ObjectGraph& graph = self.graph();
  std::vector<NodeId> found;
  for (const NodeId node : ReachedFrom(self, excluding)) {
    if (TypeMatches(graph, graph.type(node), type.text)) found.push_back(node);
  }
  std::stable_sort(found.begin(), found.end(), [&](NodeId a, NodeId b) {
    return self.analysis().retained(a) > self.analysis().retained(b);
  });
  py::list objects;
  for (const NodeId node : found) objects.append(self.Sibling(node));
  return objects;
}

}  // namespace

// A breadth-first walk: `reached` is the queue and the result. Excluded objects
// count as seen, so it does not go on from them. Linear in the references
// walked.
std::vector<NodeId> ReachedFrom(const DumpedObject& object,
                                const py::object& excluding) {
  const ObjectGraph& graph = object.graph();
  std::vector<bool> is_seen(graph.nodes());
  if (!excluding.is_none()) {
    for (const py::handle each : excluding) {
      const uint64_t address =
          py::isinstance<DumpedObject>(each)
              ? graph.address(each.cast<const DumpedObject&>().node())
              : static_cast<uint64_t>(WholeNumberOf(each));
      // An address that the dump does not have excludes nothing.
      const NodeId node = graph.Find(address);
      if (node != kNoNode) is_seen[node] = true;
    }
  }
  std::vector<NodeId> reached;
  const auto reach = [&](NodeId node) {
    if (is_seen[node]) return;
    is_seen[node] = true;
    reached.push_back(node);
  };
  reach(object.node());
  for (size_t i = 0; i < reached.size(); ++i) {
    for (uint32_t e = graph.first_edge(reached[i]);
         e < graph.first_edge(reached[i] + 1); ++e) {
      const EdgeKind kind = graph.kind(e);
      if (kind != EDGE_TYPE && kind != EDGE_WEAK) reach(graph.target(e));
    }
  }
  return reached;
}

void DefineWalks(py::class_<DumpedObject>* object) {
  object->def(
      "iter_recursive_refs", &IterReached, py::arg(kExcluding) = py::none(),
      "The object and all objects that it refers to, directly or not, the "
      "nearest first. Leaves out types, weak references, and objects reached "
      "only through `excluding` (addresses or objects).");
  object->def("compute_total_size", &TotalSize,
              py::arg(kExcluding) = py::none(),
              "The bytes of all objects of iter_recursive_refs(), including "
              "those that others refer to, too; `retained` counts only what "
              "would be freed with it.");
  object->def("all", &AllOf, py::arg("type"), py::arg(kExcluding) = py::none(),
              "Objects of a type among those of iter_recursive_refs(), those "
              "that retain most first.");
}

}  // namespace pymemrun
