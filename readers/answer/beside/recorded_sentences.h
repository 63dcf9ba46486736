// What else a run recorded, a sentence each, for the first screen.
#ifndef PYMEMRUN_READERS_ANSWER_BESIDE_RECORDED_SENTENCES_H_
#define PYMEMRUN_READERS_ANSWER_BESIDE_RECORDED_SENTENCES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/trace.pb.h"
#include "readers/output/output_buffer.h"
#include "readers/replay/summary/run_facts.h"
#include "readers/run/console.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Each begins with the name of the report that says more: "gil: One thread ran
// Python ...". Reads the file once for each. What cannot be read is left out.
std::vector<std::string> RecordedSentences(const RunFacts& facts,
                                           RereadFile* file);

// The table of threads of a run with the GIL: how long each held it, and
// waited. Reads the file, if it has them.
void PrintGilThreads(const RunFacts& facts, RereadFile* file,
                     OutputBuffer* output);

// The processes that a run's process began, as far as their files lie beside
// its own.

struct ChildRuns {
  size_t count = 0;      // of its own children
  bool all_seen = true;  // false: there are more files than were looked at
  uint32_t largest_pid = 0;
  uint64_t peak_bytes = 0;     // of the largest
  std::string top_line;        // that holds most of it; empty: not known
  bool any_unshares = false;   // the report `unshared` knows of one
  bool has_successor = false;  // the process has another, later file
};

// `parent`: of the file at `path`. Looks at 64 files at most.
ChildRuns ReadChildren(const std::string& path, const Header& parent,
                       const Console& console);

// "3 children, largest 18427: 127 MiB at f_mp.py:3." And how many more have no
// file: `untraced`. Empty: there are none.
std::string ChildrenText(const ChildRuns& children, uint64_t untraced);
// That the program which this one became by exec has no file. Empty: not so.
std::string SuccessorText(const ChildRuns& children, const Footer& footer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_BESIDE_RECORDED_SENTENCES_H_
