// Which files a command reads, and where its report goes.
#ifndef PYMEMRUN_READERS_REPORT_FILE_OPTIONS_H_
#define PYMEMRUN_READERS_REPORT_FILE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "readers/output/terminal.h"

namespace pymemrun {

// Every command has it.
struct FileOptions {
  std::vector<std::string> paths;
  std::string compared;  // another run; empty: none
  std::string output;    // empty or "-": standard output
  size_t count = 0;      // of paths that Run() takes; 0: any
  uint64_t pid = 0;      // of the process that is asked for; 0: any
  ColorMode colors = ColorMode::kAuto;

  void AddOne(CLI::App* app);
  void AddTwo(CLI::App* app);
  void AddSeveral(CLI::App* app);
  void AddOutput(CLI::App* app);
  // --pid, which AddOne() and AddSeveral() have, too.
  void AddPid(CLI::App* app);
  // Leaves the process's files, where one is asked for: of a single path it may
  // be beside it. Returns what is wrong; empty: nothing.
  std::string KeepProcess();
  std::vector<std::string> All() const;
  bool ToConsole() const { return output.empty() || output == "-"; }
  std::string Problem() const;

 private:
  void Add(CLI::App* app, const char* usage, const char* help);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_FILE_OPTIONS_H_
