// What the commands of pymemobj have in common, and the table of all of them.
#ifndef PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECTS_COMMAND_H_
#define PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECTS_COMMAND_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/node_filter.h"
#include "readers/report/report_command.h"

namespace pymemrun {

// The base of pymemobj's commands: options, loading, and printing. For one run
// of the program. Not thread safe.
class ObjectsCommand : public ReportCommand {
 public:
  using ReportCommand::ReportCommand;

  void TakeFolders() override;
  // Includes the files beside the dumps, whether they exist or not.
  std::vector<std::string> FilesToRead() const override;
  // Loads the dump and hands it to Show().
  int Run(const Console& console, OutputBuffer* output) override;

 protected:
  // Prints the report. Returns the exit code.
  virtual int Show(ObjectAnalysis* analysis, const Console& console,
                   OutputBuffer* output) = 0;

  // Whether it needs more of an object than type and size.
  virtual bool NeedsDetails() const { return true; }
  // NeedsAllocations(): it is useless without allocations. ShowsAllocations():
  // it shows them if they are known.
  virtual bool NeedsAllocations() const { return where_.has_line(); }
  virtual bool ShowsAllocations() const { return false; }

  // Loads a dump, with allocations as needed. Returns null if there is nothing
  // to show, and has printed why; *code as LoadObjects() sets it.
  std::unique_ptr<ObjectAnalysis> Load(const std::string& path,
                                       const Console& console, int* code);
  // Calls `take` with the allocations for the dump at `path`. Returns false if
  // they are unknown but needed, and has printed why.
  using Take = absl::FunctionRef<void(std::unique_ptr<NodeAllocations>)>;
  bool Join(const std::string& path, bool is_needed, const Console& console,
            const ObjectGraph& graph, Take take, int* code);

  void AddFile(CLI::App* app);
  // Help shows FILE before the command's name.
  void ShowBehind(const std::string& file, CLI::App* app) const {
    app->name("pymemobj " + file + " " + name());
  }
  // --index.
  void AddIndex(CLI::App* app);
  // --run; --where comes with it.
  void AddRun(CLI::App* app);
  // The object that the command is about, after FILE.
  void AddObject(CLI::App* app, const std::string& usage = "ADDR",
                 const std::string& help = "");
  void AddWhere(CLI::App* app);
  // --csv, --json, --limit, -o; `rows` names what a row is.
  void AddTable(CLI::App* app, uint64_t usual, const std::string& rows);
  // The object that the user named; kNoNode: it does not exist, and a message
  // was printed.
  NodeId NamedNode(const ObjectGraph& graph, const Console& console) const;
  // The same for all objects of a type, or one object. `count` 0: there are
  // none, and a message was printed.
  struct Chosen {
    std::vector<bool> nodes;
    uint64_t count = 0;
    NodeId node = kNoNode;  // kNoNode: all objects of a type
  };
  Chosen NamedObjects(const ObjectGraph& graph, const Console& console) const;
  void AddObjectOrType(CLI::App* app);
  // Notes after a heading: that the rows are of some objects, or that lines, by
  // which these are chosen or grouped, are known for a sample only.
  std::string Notes() const;
  // Whether the heading is about all objects, regardless of --where.
  virtual bool HeadsAll() const { return true; }
  // Prints the table; text has heading and notes above it.
  void Print(const std::string& heading, const Table& table,
             OutputBuffer* output) const;
  // The number of rows to print; 0: all, which is the default for machines.
  uint64_t limit() const {
    return table_.as_text() ? table_.limit() : table_.given_limit.value_or(0);
  }
  // Whether a table with this number of rows is full.
  bool IsFull(size_t rows) const { return limit() != 0 && rows >= limit(); }

  TableOptions table_;
  NodeFilter where_;
  std::string object_;
  // Why allocations are unknown; empty: they are known, or not needed.
  std::string no_allocations_;
  uint64_t own_bytes_ = 0;  // memory of the tracer; 0: unknown

 private:
  // The index to use for a dump; empty: none.
  std::string IndexOf(const std::string& path) const;

  std::string run_;
  std::string index_;  // empty: the one in the dump's folder
  bool needs_sampled_lines_ = false;
};

// A command about one object, which follows FILE.
class OneObjectCommand : public ObjectsCommand {
 public:
  using ObjectsCommand::ObjectsCommand;
  void AddOptions(CLI::App* app) override {
    AddFile(app);
    ObjectsCommand::AddObject(app);
    AddRows(app);
  }

 protected:
  // Adds the options after the object, including those of its table.
  virtual void AddRows(CLI::App* app) = 0;
  // Prints the report. Returns the exit code.
  virtual int ShowNode(NodeId node, ObjectAnalysis* analysis,
                       OutputBuffer* output) = 0;

 private:
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) final;
};

// All commands, in the order of --help.
std::vector<std::unique_ptr<ReportCommand>> ObjectsCommands();

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECTS_COMMAND_H_
