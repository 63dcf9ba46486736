#include "readers/commands/objects/objects_command.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/objects/blocks/load_allocations.h"
#include "readers/objects/graph/object_text.h"
#include "readers/objects/index/load_dump.h"
#include "readers/options/option_values.h"
#include "text/terminal_text.h"

namespace pymemrun {

namespace {

constexpr char kNoIndex[] = "none";

}  // namespace

std::string ObjectsCommand::IndexOf(const std::string& path) const {
  if (path == "-" || index_ == kNoIndex) return "";
  return index_.empty() ? IndexPath(path) : index_;
}

// A folder stands for its dumps, not for its run files.
void ObjectsCommand::TakeFolders() {
  std::vector<std::string> all;
  for (const std::string& path : files_.paths) {
    for (std::string& dump : DumpsOf(path)) all.push_back(std::move(dump));
  }
  files_.paths = std::move(all);
}

// So that -o cannot overwrite the dump's run file or its index.
std::vector<std::string> ObjectsCommand::FilesToRead() const {
  std::vector<std::string> all = files_.All();
  for (const std::string& dump : files_.paths) {
    const std::string run = run_.empty() ? RunFileOf(dump) : run_;
    for (const std::string& path : {run, IndexOf(dump)}) {
      if (!path.empty()) all.push_back(path);
    }
  }
  return all;
}

int ObjectsCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  auto analysis = Load(files_.paths[0], console, &code);
  if (analysis == nullptr) return code;
  return std::max(code, Show(analysis.get(), console, output));
}

// Allocations take a reading of the run file, so they are joined only if the
// command uses them, or --run names a file.
std::unique_ptr<ObjectAnalysis> ObjectsCommand::Load(const std::string& path,
                                                     const Console& console,
                                                     int* code) {
  no_allocations_.clear();
  auto analysis = LoadDump(path, IndexOf(path), /*is_named=*/!index_.empty(),
                           NeedsDetails(), console, code);
  if (analysis == nullptr) return nullptr;
  const bool is_wanted =
      NeedsAllocations() || ShowsAllocations() || !run_.empty();
  if (!is_wanted) return analysis;
  const auto take = [&](std::unique_ptr<NodeAllocations> allocations) {
    analysis->TakeAllocations(std::move(allocations));
  };
  if (!Join(path, NeedsAllocations(), console, analysis->graph(), take, code)) {
    return nullptr;
  }
  return analysis;
}

// Damage of the run file is a failure, even if the command could go on. A run
// that recorded no allocations is a wrong use, if they were asked for.
bool ObjectsCommand::Join(const std::string& path, bool is_needed,
                          const Console& console, const ObjectGraph& graph,
                          Take take, int* code) {
  AllocationsRead read = LoadAllocations(path, run_, &console, graph);
  if (read.damages > 0) *code = kExitFailed;
  own_bytes_ = read.own_bytes;
  if (read.status.ok()) {
    needs_sampled_lines_ |= is_needed && read.allocations->sampled();
    take(std::move(read.allocations));
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
  ShowBehind("FILE", app);
  // The exact number of FILEs, so that the next word is the object.
  app->add_option("FILE", files_.paths,
                  "A dump of the object graph; a folder means all dumps in it; "
                  "- reads standard input.")
      ->required()
      ->expected(static_cast<int>(files_before_))
      ->allow_extra_args(false)
      ->option_text("");
  AddIndex(app);
}

void ObjectsCommand::AddIndex(CLI::App* app) {
  app->add_option("--index", index_,
                  "Use this index of the dump (FILE.idx, if it exists); none "
                  "disables it.")
      ->option_text("PATH");
}

void ObjectsCommand::AddRun(CLI::App* app) {
  app->add_option("--run", run_,
                  "The run file that says where objects were allocated (the "
                  "one beside the dump).")
      ->option_text("PATH");
}

void ObjectsCommand::AddObject(CLI::App* app, const std::string& usage,
                               const std::string& help) {
  app->add_option(
         usage, object_,
         help.empty() ? "The object's address, such as 0x7f3a1c2d." : help)
      ->required()
      ->option_text(usage);
}

// Conditions are parsed at once, so that a wrong one is a usage error.
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
         "Only objects for which this holds: type=dict, module=app*, value=x*, "
         "line=app.py:12, size>=1M or length>9. Repeatable: all must hold.")
      ->option_text("CONDITION")
      ->allow_extra_args(false)
      ->trigger_on_parse();
  AddRun(app);
}

void ObjectsCommand::AddTable(CLI::App* app, uint64_t usual,
                              const std::string& rows) {
  table_.Add(app, usual, absl::StrCat("A row for each ", rows, "."), "rows");
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

// An address is tried first: no type's name looks like one.
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
  AddObject(
      app, "ADDR|TYPE",
      "The object's address, such as 0x7f3a1c2d, or the name of a type or a "
      "pattern for it.");
}

int OneObjectCommand::Show(ObjectAnalysis* analysis, const Console& console,
                           OutputBuffer* output) {
  const NodeId node = NamedNode(analysis->graph(), console);
  return node == kNoNode ? kExitFailed : ShowNode(node, analysis, output);
}

// Said after Load(): only then it is known whether lines come from a sample.
std::string ObjectsCommand::Notes() const {
  std::string text;
  if (where_.any() && HeadsAll()) {
    text = " The rows below are of the objects that --where chooses.";
  }
  if (needs_sampled_lines_) {
    text +=
        " Lines are known for a sample of the objects; --heap all records all "
        "of them.";
  }
  return text;
}

void ObjectsCommand::Print(const std::string& heading, const Table& table,
                           OutputBuffer* output) const {
  if (table_.as_text()) {
    output->AppendLines(absl::StrCat(heading, Notes(), "\n"));
    if (table.rows.empty()) {
      if (where_.any()) output->AppendLines("\nnone: --where leaves no row\n");
      return;
    }
    output->AppendLines("\n");
  }
  PrintTable(table, table_.format(), output);
}

}  // namespace pymemrun
