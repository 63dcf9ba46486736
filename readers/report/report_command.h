// A command of pymemreport or pymemobj. Each is a class of its own in the file
// named after it; all_commands.cc of its room lists them.
#ifndef PYMEMRUN_READERS_REPORT_REPORT_COMMAND_H_
#define PYMEMRUN_READERS_REPORT_REPORT_COMMAND_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "readers/output/output_buffer.h"
#include "readers/report/file_options.h"
#include "readers/report/option_groups.h"
#include "readers/report/run_needs.h"
#include "readers/run/console.h"
#include "readers/run/run_files.h"

namespace pymemrun {

// A name that a command had before, and the words that mean it now, as in
// {"history", {"--of", "heap"}} of timeline. It works; no list has it.
struct OldName {
  std::string name;
  std::vector<std::string> words;
  // What its help begins with, where that is not the command's.
  std::string about = {};
};

// Not thread safe. Of one run of the program.
class ReportCommand {
 public:
  // `summary`: one line for the list of commands. `about`: what --help begins
  // with; --help-all also has what follows its first paragraph.
  ReportCommand(std::string name, std::string summary, std::string about)
      : name_(std::move(name)),
        summary_(std::move(summary)),
        about_(std::move(about)) {}
  virtual ~ReportCommand() = default;

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const std::string& about() const { return about_; }
  virtual std::vector<OldName> OldNames() const { return {}; }
  // Returns whether `name` is the command's name or an old one. If it is an old
  // one, the command takes on that name, its words and its help.
  bool GoesBy(const std::string& name);
  // What the user's arguments begin with: the words of the old name, if any.
  const std::vector<std::string>& words() const { return words_; }
  const FileOptions& files() const { return files_; }
  // Its parser: name, help, options and what these need of a run.
  std::unique_ptr<CLI::App> MakeParser(const std::string& program);
  // What the options that were parsed need of a run.
  void TakeNeeds(const CLI::App& parsed) { needed_ = needs_.Of(parsed); }
  const RunNeeds& needs() const { return needs_; }
  const std::vector<Recorded>& needed() const { return needed_; }
  // Replaces each folder by the files in it that the command reads: run files,
  // or dumps.
  virtual void TakeFolders() { files_.paths = WithFolders(files_.paths); }
  // Where one process is asked for: see FileOptions.
  virtual std::string KeepProcess() { return files_.KeepProcess(); }
  void SetOutput(std::string path) { files_.output = std::move(path); }
  // Sets the number of FILEs before the command's name, if the name follows
  // them, as in pymemobj.
  void SetFilesBefore(size_t count) { files_before_ = count; }
  // The files that it reads, so that none of them is written.
  virtual std::vector<std::string> FilesToRead() const { return files_.All(); }
  // Whether its options ask for no text.
  void SetForMachines(bool value) { for_machines_ = value; }
  // Runs it; of several files, where it takes one, for one after the other.
  int RunEach(const Console& console, OutputBuffer* output);

  // Adds the command's options to `app`, bound to its members. Adds to needs_
  // what they need of a run.
  virtual void AddOptions(CLI::App* app) = 0;
  // Its arguments as the parser is to see them.
  virtual std::vector<std::string> Prepared(
      std::vector<std::string> arguments) const {
    return arguments;
  }
  // What is wrong with the options together; empty: nothing.
  virtual std::string Problem() const { return ""; }
  // The output, such as "a flame graph", that can show only one run with these
  // options; several FILEs are then refused. Empty: several FILEs are printed
  // one after the other.
  virtual std::string OfOneRun() const { return ""; }
  // The output, such as "pictures", that cannot be shown on a terminal. Empty:
  // it can.
  virtual std::string NotForTerminal() const { return ""; }
  // Reads and prints; returns the exit code. REQUIRES: there is no problem.
  virtual int Run(const Console& console, OutputBuffer* output) = 0;

 protected:
  FileOptions files_;
  RunNeeds needs_;
  size_t files_before_ = 1;

 private:
  std::vector<Recorded> needed_;
  bool for_machines_ = false;
  std::string name_;
  std::vector<std::string> words_;
  const std::string summary_;
  std::string about_;
};

// Defines `function`, which makes the commands of a table. The table is a macro
// that applies its argument to the name of each function that makes one.
#define PYMEMRUN_DECLARE_COMMAND(name) std::unique_ptr<ReportCommand> name();
#define PYMEMRUN_MAKE_COMMAND(name) commands.push_back(name());
#define PYMEMRUN_DEFINE_COMMANDS(function, TABLE)          \
  TABLE(PYMEMRUN_DECLARE_COMMAND)                          \
  std::vector<std::unique_ptr<ReportCommand>> function() { \
    std::vector<std::unique_ptr<ReportCommand>> commands;  \
    TABLE(PYMEMRUN_MAKE_COMMAND)                           \
    return commands;                                       \
  }

// All commands, in the order of --help.
std::vector<std::unique_ptr<ReportCommand>> ReportCommands();

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_REPORT_COMMAND_H_
