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

// Not thread safe. Of one run of the program.
class ObjectsCommand : public ReportCommand {
 public:
  using ReportCommand::ReportCommand;

  void TakeFolders() override;
  // Those beside the dumps, too, whether they are there or not.
  std::vector<std::string> FilesToRead() const override;
  // Loads the dump and hands it to Show().
  int Run(const Console& console, OutputBuffer* output) override;

 protected:
  // Prints; returns the exit code.
  virtual int Show(ObjectAnalysis* analysis, const Console& console,
                   OutputBuffer* output) = 0;

  // Whether it looks at more of an object than type and size.
  virtual bool NeedsDetails() const { return true; }
  // Whether it makes no sense without allocations; whether it shows them where
  // they are known.
  virtual bool NeedsAllocations() const { return where_.has_line(); }
  virtual bool ShowsAllocations() const { return false; }

  // Loads a dump, with allocations as needed. Null: there is nothing to show,
  // which has been said. *code as LoadObjects() has it.
  std::unique_ptr<ObjectAnalysis> Load(const std::string& path,
                                       const Console& console, int* code);
  // Takes the allocations of the graph of the dump at `path`. False: they are
  // not known, which has been said, and are needed.
  using Take = absl::FunctionRef<void(std::unique_ptr<NodeAllocations>)>;
  bool Join(const std::string& path, bool is_needed, const Console& console,
            const ObjectGraph& graph, Take take, int* code);

  void AddFile(CLI::App* app);
  // Help shows the command behind this, as people are told to write it.
  void ShowBehind(const std::string& file, CLI::App* app) const {
    app->name("pymemobj " + file + " " + name());
  }
  // --index.
  void AddIndex(CLI::App* app);
  // --run; --where comes with it.
  void AddRun(CLI::App* app);
  // The object that the command is about, behind FILE.
  void AddObject(CLI::App* app, const std::string& usage = "ADDR",
                 const std::string& help = "");
  void AddWhere(CLI::App* app);
  // --csv, --json, --limit, -o; `rows` names what a row is.
  void AddTable(CLI::App* app, uint64_t usual, const std::string& rows);
  // The object that was named, or kNoNode, which has been said.
  NodeId NamedNode(const ObjectGraph& graph, const Console& console) const;
  // The same of a type's objects, or one object. `count` 0: has been said.
  struct Chosen {
    std::vector<bool> nodes;
    uint64_t count = 0;
    NodeId node = kNoNode;  // kNoNode: they are of a type
  };
  Chosen NamedObjects(const ObjectGraph& graph, const Console& console) const;
  void AddObjectOrType(CLI::App* app);
  // What a heading is followed by: that the rows are of some objects, and that
  // lines, which chose these or group them, are known of a sample.
  std::string Notes() const;
  // Whether the heading is of all objects, whatever --where says.
  virtual bool HeadsAll() const { return true; }
  // Prints the table, behind heading and note if it is text.
  void Print(const std::string& heading, const Table& table,
             OutputBuffer* output) const;
  // How many rows a table has; 0: all. For machines that is all, unless they
  // say otherwise.
  uint64_t limit() const {
    return table_.as_text() ? table_.limit() : table_.given_limit.value_or(0);
  }
  // Whether a table of that many rows gets no more of them.
  bool IsFull(size_t rows) const { return limit() != 0 && rows >= limit(); }

  TableOptions table_;
  NodeFilter where_;
  std::string object_;
  // Why allocations are not known; empty: they are, or were not looked for.
  std::string no_allocations_;
  uint64_t own_bytes_ = 0;  // the tracer's memory; 0: not known

 private:
  // The index to use for a dump; empty: none.
  std::string IndexOf(const std::string& path) const;

  std::string run_;
  std::string index_;  // empty: the one beside the dump
  bool needs_sampled_lines_ = false;
};

// A command about one object, behind FILE.
class OneObjectCommand : public ObjectsCommand {
 public:
  using ObjectsCommand::ObjectsCommand;
  void AddOptions(CLI::App* app) override {
    AddFile(app);
    ObjectsCommand::AddObject(app);
    AddRows(app);
  }

 protected:
  // The options behind the object, its table's too.
  virtual void AddRows(CLI::App* app) = 0;
  // Prints; returns the exit code.
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
