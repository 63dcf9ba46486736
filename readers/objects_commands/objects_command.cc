#include "readers/objects_commands/objects_command.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "readers/objects/dump_loader.h"
#include "readers/objects/object_text.h"
#include "readers/objects_heap/load_allocations.h"
#include "readers/options/option_values.h"
#include "text/terminal_text.h"

namespace pymemrun {

int ObjectsCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  auto graph = Load(files_.paths[0], console, &code);
  if (graph == nullptr) return code;
  ObjectAnalysis analysis(std::move(graph));
  return std::max(code, Show(&analysis, console, output));
}

std::unique_ptr<ObjectGraph> ObjectsCommand::Load(const std::string& path,
                                                  const Console& console,
                                                  int* code) {
  auto graph = LoadObjects(path, console, code, NeedsDetails());
  if (graph == nullptr) return nullptr;
  const bool is_wanted =
      NeedsAllocations() || ShowsAllocations() || !run_.empty();
  if (!is_wanted || Join(path, NeedsAllocations(), console, graph.get(), code))
    return graph;
  return nullptr;
}

bool ObjectsCommand::Join(const std::string& path, bool is_needed,
                          const Console& console, ObjectGraph* graph,
                          int* code) {
  AllocationsRead read = LoadAllocations(path, run_, &console, *graph);
  if (read.damages > 0) *code = kExitFailed;
  if (read.status.ok()) {
    needs_sampled_lines_ |= is_needed && read.allocations->sampled();
    graph->TakeAllocations(std::move(read.allocations));
    return true;
  }
  no_allocations_ = std::string(read.status.message());
  if (!is_needed && run_.empty()) return true;
  console.Say(absl::StrCat(
      TerminalText(path),
      ": where objects were allocated is not known: ", no_allocations_));
  *code =
      std::max(*code, absl::IsFailedPrecondition(read.status) ? kExitUsage
                                                              : kExitFailed);
  return !is_needed;
}

void ObjectsCommand::AddFile(CLI::App* app) {
  files_.count = 1;
  // One, so that what follows is the object.
  app->add_option_function<std::string>(
         "FILE", [this](const std::string& path) { files_.paths = {path}; },
         "A dump of the object graph, or one of Meliae's; - reads standard "
         "input.")
      ->required()
      ->option_text("FILE");
}

void ObjectsCommand::AddRun(CLI::App* app) {
  app->add_option("--run", run_,
                  "The run file that tells where objects were allocated (the "
                  "one beside the dump).")
      ->option_text("PATH");
}

void ObjectsCommand::AddObject(CLI::App* app, const std::string& usage,
                               const std::string& help) {
  app->add_option(usage, object_,
                  help.empty() ? "The object's address, as 0x7f3a1c2d." : help)
      ->required()
      ->option_text(usage);
}

void ObjectsCommand::AddWhere(CLI::App* app) {
  app->add_option_function<std::string>(
         "--where",
         [this](const std::string& condition) {
           const absl::Status status = where_.Add(condition);
           if (!status.ok()) {
             throw CLI::ValidationError("--where",
                                        std::string(status.message()));
           }
         },
         "Only objects such that type=dict, module=app*, value=x*, "
         "line=app.py:12, size>=1M or length>9. May be given several times: "
         "all must hold.")
      ->option_text("CONDITION")
      ->allow_extra_args(false)
      ->trigger_on_parse();
  AddRun(app);
}

void ObjectsCommand::AddTable(CLI::App* app, uint64_t usual,
                              const std::string& rows) {
  table_.FormatOptions::Add(app, absl::StrCat(": a row for each ", rows));
  table_.usual_limit = usual;
  AddParsed(
      app, "--limit", &table_.given_limit,
      [](absl::string_view text) { return ParseNumber(text, 0); }, "N",
      absl::StrCat("List at most N rows (", usual,
                   usual == 0 ? ": all)." : "); 0: all."));
  files_.AddOutput(app);
}

NodeId ObjectsCommand::NamedNode(const ObjectGraph& graph,
                                 const Console& console) const {
  const NodeId node = NodeByText(graph, object_);
  if (node == kNoNode) {
    console.Say(absl::StrCat("the dump has no object at '",
                             TerminalText(object_), "'"));
  }
  return node;
}

ObjectsCommand::Chosen ObjectsCommand::NamedObjects(
    const ObjectGraph& graph, const Console& console) const {
  Chosen chosen;
  chosen.nodes.resize(graph.nodes());
  chosen.node = NodeByText(graph, object_);
  if (chosen.node != kNoNode) {
    chosen.nodes[chosen.node] = true;
    chosen.count = 1;
    return chosen;
  }
  for (NodeId one = 0; one < graph.nodes(); ++one) {
    chosen.nodes[one] = !graph.is_synthetic(one) &&
                        TypeMatches(graph, graph.type(one), object_);
    chosen.count += chosen.nodes[one];
  }
  if (chosen.count == 0) {
    console.Say(absl::StrCat("the dump has no object and no type '",
                             TerminalText(object_), "'"));
  }
  return chosen;
}

void ObjectsCommand::AddObjectOrType(CLI::App* app) {
  AddObject(app, "ADDR|TYPE",
            "The object's address, as 0x7f3a1c2d, or a type's name, which may "
            "be a pattern.");
}

int OneObjectCommand::Show(ObjectAnalysis* analysis, const Console& console,
                           OutputBuffer* output) {
  const NodeId node = NamedNode(analysis->graph(), console);
  return node == kNoNode ? kExitFailed : ShowNode(node, analysis, output);
}

std::string ObjectsCommand::Notes() const {
  std::string text;
  if (where_.any() && HeadsAll()) {
    text = " The rows below are of the objects that --where chooses.";
  }
  if (needs_sampled_lines_) {
    text += " Lines are known of a sample of the objects; --heap all knows all.";
  }
  return text;
}

void ObjectsCommand::Print(const std::string& heading, const Table& table,
                           OutputBuffer* output) const {
  if (table_.as_text()) {
    output->AppendLines(absl::StrCat(heading, Notes(), "\n"));
    if (table.rows.empty()) return;
    output->AppendLines("\n");
  }
  PrintTable(table, table_.format(), output);
}

}  // namespace pymemrun
