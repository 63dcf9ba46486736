// The command lines of pymemreport's commands for heap events.
#ifndef PYMEMRUN_READERS_HEAP_WORDS_H_
#define PYMEMRUN_READERS_HEAP_WORDS_H_

#include <string>
#include <vector>

#include "readers/report_options.h"

namespace pymemrun {

// The options as they stand on the command line.
struct HeapWords {
  std::string by = "line", at = "peak", to, from;
  std::string temporary, diff, interval, top = "10";
  std::string format = "pprof";
  bool leaks = false, reserved = false, svg = false, inverted = false,
       by_thread = false;
};

bool IsHeapCommand(ReportOptions::Command command);

// "--temporary" as "--temporary=1", where no number follows it.
std::vector<std::string> WithTemporaryNumber(
    const std::vector<std::string>& arguments);

// --stacks and --collapsed, which `resident` has too.
void DescribeCallTrees(CLI::App* app, ReportOptions* options);

void DescribeHeapCommand(CLI::App* app, HeapWords* words,
                         ReportOptions* options);

// Fills *options. What is wrong with the words; empty: nothing.
std::string TakeHeapWords(const HeapWords& words, ReportOptions* options);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_WORDS_H_
