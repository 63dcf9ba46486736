#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/commands/objects/object_table.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/blocks/what_if.h"
#include "readers/objects/graph/chains.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/options/option_values.h"
#include "readers/output/table.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// A row for each type of these nodes, the largest first, `limit` of them (0:
// all). Synthetic nodes are left out.
Table TypesOf(const ObjectGraph& graph, const std::vector<NodeId>& nodes,
              uint64_t limit) {
  struct OfType {
    uint64_t bytes = 0, objects = 0;
    uint32_t type = 0;
  };
  std::vector<OfType> types(graph.types().size());
  for (const NodeId node : nodes) {
    if (graph.is_synthetic(node)) continue;
    OfType& of = types[graph.type(node)];
    of.type = graph.type(node);
    of.bytes += graph.size_bytes(node);
    ++of.objects;
  }
  std::stable_sort(
      types.begin(), types.end(),
      [](const OfType& a, const OfType& b) { return a.bytes > b.bytes; });
  Table table;
  table.headings = {{"objects", "objects"},
                    {"bytes", "size", CellLook::kBytes},
                    {"type", "type", CellLook::kName}};
  for (const OfType& of : types) {
    if (of.objects == 0 || (limit != 0 && table.rows.size() == limit)) continue;
    table.rows.push_back({of.objects, of.bytes, graph.type_name(of.type)});
  }
  table.places = table.rows.size();
  return table;
}

constexpr size_t kColumns = 80;

std::string Bytes(uint64_t bytes) {
  return HumanBytes(static_cast<double>(bytes));
}

// "  22.0 MiB  what", deeper below another row.
std::string Row(uint64_t bytes, bool is_part, absl::string_view what) {
  return absl::StrCat(is_part ? "            " : "",
                      PadLeft(Bytes(bytes), is_part ? 9 : 10), "  ", what,
                      "\n");
}

// Two steps: GoneWith() finds the objects that only the chosen ones keep alive.
// Without() then replays the run's blocks and pages to the dump's moment, and
// looks which pages hold nothing else.
class WhatIfCommand final : public ObjectsCommand {
 public:
  WhatIfCommand()
      : ObjectsCommand(
            "what-if",
            "how much memory freeing an object or a type would release",
            "Shows how much heap would be freed and how far RSS would fall "
            "without an object, or without all objects of a type. It needs the "
            "dump's run file, recorded with --full, or with --heap all and "
            "page events.\n\nWith --types it lists the objects that would be "
            "freed, by type; it then needs no run file.") {}
  std::vector<OldName> OldNames() const override {
    return {{"retained", {"--types"}}};
  }

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddObjectOrType(app);
    app->add_option("--run", run_path_,
                    "The run file that recorded blocks and pages (the one "
                    "beside the dump).")
        ->option_text("PATH");
    app->add_flag("--types", types_,
                  "List the objects that would be freed, by type.");
    AddTable(
        app, 20,
        "type of the objects that would be freed; without --types one row");
    Exclude(app, {"--types"}, {"--run"});
    Need(app, {"--limit"}, "--types");
  }

 private:
  // This --run is not that of AddRun(), as the answer needs pages, too.
  std::vector<std::string> FilesToRead() const override {
    std::vector<std::string> all = ObjectsCommand::FilesToRead();
    all.push_back(run_path_);
    return all;
  }
  // Text names the object by a chain of references.
  bool NeedsDetails() const override { return table_.as_text() || types_; }
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    const Chosen chosen = NamedObjects(analysis->graph(), console);
    if (chosen.count == 0) return kExitFailed;
    if (types_) {
      ShowTypes(chosen, analysis, output);
      return kExitOk;
    }
    int code = kExitOk;
    const WhatIf what =
        Without(analysis->graph(), analysis->GoneWith(chosen.nodes),
                files_.paths[0], run_path_, console, &code);
    if (table_.as_text()) {
      output->AppendLines(Text(NameOf(analysis, chosen), what));
    } else {
      PrintTable(ToTable(chosen, what), table_.format(), output);
    }
    return code;
  }

  void ShowTypes(const Chosen& chosen, ObjectAnalysis* analysis,
                 OutputBuffer* output) const;
  // "sys.modules['app'].CACHE", "the 12 objects of app.Node".
  std::string NameOf(ObjectAnalysis* analysis, const Chosen& chosen) const;
  static std::string Text(const std::string& name, const WhatIf& what);
  Table ToTable(const Chosen& chosen, const WhatIf& what) const;

  std::string run_path_;
  bool types_ = false;
};

std::vector<NodeId> NodesOf(const std::vector<bool>& chosen) {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < chosen.size(); ++node) {
    if (chosen[node]) nodes.push_back(node);
  }
  return nodes;
}

// One object's answer is what it dominates. For a type the graph is walked
// without its objects.
void WhatIfCommand::ShowTypes(const Chosen& chosen, ObjectAnalysis* analysis,
                              OutputBuffer* output) const {
  const ObjectGraph& graph = analysis->graph();
  const std::vector<NodeId> gone =
      chosen.node != kNoNode ? analysis->GoneWithNode(chosen.node)
                             : NodesOf(analysis->GoneWith(chosen.nodes));
  uint64_t bytes = 0, objects = 0;
  for (const NodeId node : gone) {
    bytes += graph.size_bytes(node);
    objects += !graph.is_synthetic(node);
  }
  Print(
      absl::StrCat(chosen.node != kNoNode
                       ? ShownNode(graph, chosen.node)
                       : absl::StrCat(Counted(chosen.count, "object"), " of ",
                                      TerminalText(object_)),
                   chosen.count == 1 ? " keeps " : " together keep ",
                   Bytes(bytes), " in ", Counted(objects, "object"), " alive, ",
                   Percent(analysis->ShareOf(bytes)), " of all that is alive."),
      TypesOf(graph, gone, limit()), output);
}

std::string WhatIfCommand::NameOf(ObjectAnalysis* analysis,
                                  const Chosen& chosen) const {
  const ObjectGraph& graph = analysis->graph();
  if (chosen.node == kNoNode) {
    return absl::StrCat("the ", Counted(chosen.count, "object"), " of ",
                        TerminalText(object_));
  }
  const std::vector<Chain> chains =
      analysis->ShortestChainsTo(chosen.node, /*count=*/1);
  return chains.empty() ? ShownNode(graph, chosen.node)
                        : TerminalText(ChainText(graph, chains[0]));
}

// What becomes of the pages.
std::string PagesText(const ReturnedMemory& pages) {
  std::string text =
      Row(pages.alone_bytes, false, "of RSS: pages that hold nothing else");
  const auto add = [&](uint64_t bytes, absl::string_view what) {
    if (bytes > 0) text += Row(bytes, true, what);
  };
  add(pages.arena_bytes,
      absl::StrCat("return at once: ", Counted(pages.arenas, "arena"),
                   " of Python would be empty"));
  add(pages.mapped_bytes,
      "return at once: large blocks have their own mappings");
  add(pages.trimmed_bytes, "return at once: the end of malloc's heap");
  add(pages.kept_arena_bytes,
      "stay: in arenas with other blocks, and in one kept empty");
  add(pages.malloc_bytes, "malloc keeps: malloc_trim(0) releases them");
  if (pages.shared_bytes > 0) {
    text += Row(pages.shared_bytes, false,
                "of RSS: pages that also hold other data; they stay");
  }
  return text;
}

// Three depths of knowledge: objects alone, the heap as well, and pages.
std::string WhatIfCommand::Text(const std::string& name, const WhatIf& what) {
  if (!what.no_heap.empty()) {
    return absl::StrCat("Without ", name, ", ", Bytes(what.object_bytes),
                        " of objects would be freed.\n"
                        "How much heap and RSS would shrink is unknown: ",
                        what.no_heap, "\n");
  }
  const std::string heap =
      absl::StrCat("Without ", name, ", ", Bytes(what.heap_bytes),
                   " of the heap would be freed");
  if (!what.no_rss.empty()) {
    return absl::StrCat(
        heap, ".\nHow far RSS would fall is unknown: ", what.no_rss, "\n");
  }
  const std::string rss = absl::StrCat(
      "RSS would fall by ", Bytes(what.returned.AtOnceBytes()), " at once.");
  // Both sentences on one line, or a line each.
  const bool fits = heap.size() + rss.size() + 2 <= kColumns;
  std::string text = absl::StrCat(heap, fits ? "; " : ";\n", rss, "\n\n");
  text += Row(what.heap_bytes, false,
              absl::StrCat("of the heap: ", Counted(what.objects, "object"),
                           " with the data that belongs to them"));
  text += PagesText(what.returned);
  // A hundredth or less is not worth a line.
  if (what.unplaced_bytes * 100 > what.heap_bytes) {
    text += Row(what.unplaced_bytes, false,
                "of the heap: at unknown addresses, not counted in pages");
  }
  return text;
}

// By column.
std::vector<std::pair<std::string, uint64_t>> PageValues(const WhatIf& what) {
  const ReturnedMemory& pages = what.returned;
  return {{"rss_bytes", what.rss_bytes},
          {"rss_at_once_bytes", pages.AtOnceBytes()},
          {"rss_alone_bytes", pages.alone_bytes},
          {"rss_arena_bytes", pages.arena_bytes},
          {"arenas", pages.arenas},
          {"rss_mapped_bytes", pages.mapped_bytes},
          {"rss_trimmed_bytes", pages.trimmed_bytes},
          {"rss_kept_arena_bytes", pages.kept_arena_bytes},
          {"rss_malloc_bytes", pages.malloc_bytes},
          {"rss_shared_bytes", pages.shared_bytes}};
}

// One row. A figure that is unknown is empty, and a column at the end says why.
Table WhatIfCommand::ToTable(const Chosen& chosen, const WhatIf& what) const {
  Table table;
  std::vector<Cell> row;
  const auto add = [&](const std::string& name, Cell cell) {
    table.headings.push_back({name, name});
    row.push_back(std::move(cell));
  };
  const auto add_known = [&](const std::string& name, const std::string& why,
                             uint64_t value) {
    add(name, why.empty() ? Cell(value) : Cell());
  };
  const auto add_why = [&](const std::string& name, const std::string& why) {
    add(name, why.empty() ? Cell() : Cell(why));
  };
  add("named", object_);
  add("named_objects", chosen.count);
  add("objects", what.objects);
  add("object_bytes", what.object_bytes);
  add_known("heap_bytes", what.no_heap, what.heap_bytes);
  add_known("heap_unplaced_bytes", what.no_heap, what.unplaced_bytes);
  for (const auto& [name, value] : PageValues(what)) {
    add_known(name, what.no_rss, value);
  }
  add_why("heap_not_known", what.no_heap);
  add_why("rss_not_known", what.no_rss);
  table.rows.push_back(std::move(row));
  table.places = 1;
  return table;
}

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsWhatIfCommand() {
  return std::make_unique<WhatIfCommand>();
}

}  // namespace pymemrun
