#include "readers/objects/graph/dump_loader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "format/stream/status_util.h"
#include "readers/run/follow_watch.h"
#include "readers/run/input_file.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Millions of equal objects compress to 1 byte for 170 objects with their
// references, measured. A file that claims far more was made to exhaust memory.
constexpr uint64_t kMostOfAnyFile = uint64_t{1} << 20;
constexpr uint64_t kMostPerByte = 256;

// A root, for files without one.
ObjectNode MadeRoot(ObjectGraph* graph) {
  ObjectTypeDef type;
  type.set_name("<root>");
  type.set_synthetic(true);
  graph->AddType(type);
  ObjectNode root;
  root.type = static_cast<uint32_t>(graph->types().size() - 1);
  return root;
}

// Makes the root lead to modules, to nodes without parents, and to one node of
// each cycle that is not reached otherwise. REQUIRES: the root has no edges.
// The order decides what is called a root. Linear time: each node is visited
// once.
void AddMissingRoots(ObjectGraph* graph) {
  const NodeId nodes = graph->nodes();
  std::vector<bool> has_parent(nodes), is_reached(nodes);
  for (const NodeId target : graph->arrays().targets) has_parent[target] = true;
  struct Root {
    NodeId node;
    uint32_t name;
  };
  std::vector<Root> roots;
  std::vector<NodeId> left;
  // Adds a root, and marks everything that it reaches.
  const auto add = [&](NodeId root, uint32_t name) {
    roots.push_back({root, name});
    if (is_reached[root]) return;
    left.push_back(root);
    is_reached[root] = true;
    while (!left.empty()) {
      const NodeId node = left.back();
      left.pop_back();
      for (uint32_t e = graph->first_edge(node);
           e < graph->first_edge(node + 1); ++e) {
        if (is_reached[graph->target(e)]) continue;
        is_reached[graph->target(e)] = true;
        left.push_back(graph->target(e));
      }
    }
  };
  is_reached[kRootNode] = true;
  // Modules first: they are the usual roots of a program.
  for (NodeId node = 0; node < nodes; ++node) {
    if (graph->type_name(graph->type(node)) == "module") add(node, 0);
  }
  for (NodeId node = 0; node < nodes; ++node) {
    // Then objects that nothing refers to.
    if (!has_parent[node] && !is_reached[node]) add(node, 0);
  }
  const uint32_t name = graph->AddName(kNotReached);
  // The rest is in cycles, or reached only from them.
  for (NodeId node = 0; node < nodes; ++node) {
    if (!is_reached[node]) add(node, name);
  }
  for (const Root& root : roots) {
    // At the limit of references one root is missing.
    graph->AddReference({kRootNode, root.node, root.name, EDGE_ROOT})
        .IgnoreError();
  }
  graph->Finish();
}

}  // namespace

void DumpLoader::OnHeader(const Header& header) {
  graph_.facts().header = header;
}

void DumpLoader::OnObjectsBegin(const ObjectsBegin& begin) {
  graph_.facts().begin = begin;
  has_begin_ = true;
}

void DumpLoader::OnObjectType(const ObjectTypeDef& type) {
  graph_.AddType(type);
}

void DumpLoader::OnObjectName(const ObjectNameDef& name) {
  graph_.AddName(name.text());
}

// Bounds memory by the bytes read so far, so that a small file cannot claim
// billions of objects.
bool DumpLoader::MayHold(size_t more) {
  if (source_ == nullptr) return true;
  const uint64_t most = kMostOfAnyFile + kMostPerByte * source_->bytes_read();
  if (graph_.nodes() + graph_.references() + more <= most) return true;
  status_ = absl::DataLossError(absl::StrCat(
      "byte ", source_->bytes_read(), ": expected at most ", most,
      " objects and references in a dump of this size, found more"));
  return false;
}

// Nodes get consecutive ids, whatever numbers the file gives them: after damage
// numbers have gaps. A number is found again by its stretch.
bool DumpLoader::OnObjects(const ObjectNode* nodes, size_t count) {
  if (!MayHold(count)) return false;
  if (graph_.nodes() == 0 && nodes[0].number != 0) {
    graph_.facts().has_root = false;
    graph_.AddNode(ObjectNode());  // its type is set in Finish()
  }
  // Numbers go on, unless damage took nodes away.
  if (stretches_.empty() || stretches_.back().end != nodes[0].number) {
    stretches_.push_back({nodes[0].number, nodes[0].number, graph_.nodes()});
  }
  for (size_t i = 0; i < count; ++i) graph_.AddNode(nodes[i]);
  stretches_.back().end += count;
  return true;
}

NodeId DumpLoader::NodeOf(uint64_t number) const {
  // The last stretch that starts at this number or below. Mostly it is the only
  // one, as damage is rare.
  const auto above = std::upper_bound(
      stretches_.begin(), stretches_.end(), number,
      [](uint64_t wanted, const Stretch& s) { return wanted < s.number; });
  if (above == stretches_.begin()) return kNoNode;
  const Stretch& stretch = *(above - 1);
  if (number >= stretch.end) return kNoNode;
  return stretch.node + static_cast<NodeId>(number - stretch.number);
}

bool DumpLoader::OnReferences(const ObjectReference* references, size_t count) {
  if (!MayHold(count)) return false;
  for (size_t i = 0; i < count; ++i) {
    ObjectReference reference = references[i];
    reference.from = NodeOf(reference.from);
    if (reference.from == kNoNode) {
      ++graph_.facts().lost_references;
      continue;
    }
    status_ = graph_.AddReference(reference);
    if (!status_.ok()) return false;
  }
  return true;
}

void DumpLoader::OnObjectsEnd(const ObjectsEnd& end) {
  graph_.facts().end = end;
}

void DumpLoader::OnDamage(const StreamReader::Damage& damage) {
  if (teller_ != nullptr) teller_->Say(damage);
}

// A file may lack the root, or nodes that references lead to: the graph is made
// whole as far as possible.
absl::Status DumpLoader::Finish() {
  RETURN_IF_ERROR(status_);
  if (graph_.nodes() == 0) {
    return absl::InvalidArgumentError(
        has_begin_ ? "holds no object graph"
                   : "a run file has no objects: pymemrun --objects exit "
                     "records a dump of them, RUN.obj.pb, beside it");
  }
  // Usually numbers are those of the nodes already.
  const bool is_whole = stretches_.size() == 1 && stretches_[0].number == 0;
  if (!is_whole) {
    // Targets may come after references, so they are resolved at the end.
    graph_.MapTargets([this](NodeId number) { return NodeOf(number); });
  }
  graph_.Finish();
  if (!graph_.facts().has_root) {
    graph_.SetType(kRootNode, MadeRoot(&graph_).type);
    AddMissingRoots(&graph_);
  }
  return absl::OkStatus();
}

void SayDumpEnd(const std::string& name, const ObjectGraph& graph,
                const Console& console) {
  const DumpFacts& facts = graph.facts();
  if (!facts.end.has_value()) {
    console.Say(absl::StrCat(name,
                             ": the dump was cut off; what came before was "
                             "read"));
  } else if (facts.end->outcome() == ObjectsEnd::CRASHED) {
    const uint32_t type = facts.end->at_type();
    console.Say(absl::StrCat(
        name, ": the dump ended with signal ", facts.end->signal(), " at ",
        type > 0 && type < graph.types().size()
            ? absl::StrCat("a ", TerminalText(graph.type_name(type)))
            : "an object",
        ": a part of the objects is missing"));
  } else if (facts.end->outcome() != ObjectsEnd::COMPLETE) {
    console.Say(absl::StrCat(name, ": the dump was ended early, ",
                             facts.end->outcome() == ObjectsEnd::NO_MEMORY
                                 ? "because memory ran out"
                                 : "when it was stopped",
                             ": a part of the objects is missing"));
  }
  if (facts.lost_references > 0) {
    console.Say(absl::StrCat(name, ": ",
                             Counted(facts.lost_references, "reference"),
                             " left out: their objects are missing"));
  }
}

namespace {

// The frame reader speaks of run files; this is a dump.
absl::Status OfDump(const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrReplaceAll(status.message(), {{"not a pymemrun run file",
                                              "not a dump of objects"}}));
}

// Loads what the file has. Reports damage to `teller`, unless it is null.
absl::StatusOr<std::unique_ptr<ObjectGraph>> Load(const InputFile& file,
                                                  bool details,
                                                  DamageTeller* teller,
                                                  uint64_t* damages) {
  FdSource source(file.fd());
  auto graph = std::make_unique<ObjectGraph>();
  if (!details) graph->OmitDetails();
  DumpLoader loader(graph.get());
  loader.TellDamage(teller);
  loader.BoundBy(&source);
  ReadResult result;
  RETURN_IF_ERROR(OfDump(ReadStream(&source, {}, &loader, &result)));
  RETURN_IF_ERROR(loader.Finish());
  *damages = result.damages;
  return graph;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectGraph>> LoadObjectFile(
    const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<InputFile> file,
                   InputFile::Open(path));
  uint64_t damages = 0;
  return Load(*file, /*details=*/true, /*teller=*/nullptr, &damages);
}

// A dump that is still being written is no damage: one message replaces that of
// its missing end.
std::unique_ptr<ObjectGraph> LoadObjects(const std::string& path,
                                         const Console& console, int* code,
                                         bool details) {
  const auto fail = [&](const std::string& name, const absl::Status& status) {
    console.Say(absl::StrCat(name, ": ", TerminalText(status.message())));
    *code = kExitFailed;
    return nullptr;
  };
  auto file = InputFile::Open(path);
  if (!file.ok()) return fail(TerminalText(path), file.status());
  const std::string& name = (*file)->shown_name();
  DamageTeller teller(&console, name);
  uint64_t damages = 0;
  auto graph = Load(**file, details, &teller, &damages);
  if (!graph.ok()) return fail(name, graph.status());
  if (damages > 0) *code = kExitFailed;
  const std::string still_written = WhyNoEnd((*file)->fd());
  if (still_written.empty()) {
    SayDumpEnd(name, **graph, console);
  } else {
    console.Say(absl::StrCat(name, ": ", still_written));
  }
  return *std::move(graph);
}

}  // namespace pymemrun
