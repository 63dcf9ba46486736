// What else a run recorded, in a sentence each, for the first screen.
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

// Each starts with the name of the report for details: "gil: One thread ran
// Python ...". Reads the file once for each sentence. What cannot be read is
// left out.
std::vector<std::string> RecordedSentences(const RunFacts& facts,
                                           RereadFile* file);

// Prints the table of threads of a run with the GIL: how long each held it, and
// waited for it. Reads the file if it has GIL events.
void PrintGilThreads(const RunFacts& facts, RereadFile* file,
                     OutputBuffer* output);

// The child processes of a run's process, if their files are in the same
// folder.
struct ChildRuns {
  size_t count = 0;      // its own children
  bool all_seen = true;  // false: there are more files than were read
  uint32_t largest_pid = 0;
  uint64_t peak_bytes = 0;     // of the largest child
  std::string top_line;        // holds most of it; empty: unknown
  bool any_unshares = false;   // the report `unshared` shows one of them
  bool has_successor = false;  // the process has another, later file
};

// `parent`: the header of the file at `path`. Reads at most 64 files.
ChildRuns ReadChildren(const std::string& path, const Header& parent,
                       const Console& console);

// "3 children, largest 18427: 127 MiB at f_mp.py:3.", and how many have no file
// (`untraced`). Empty: there are none.
std::string ChildrenText(const ChildRuns& children, uint64_t untraced);
// A sentence if the process called exec, and the new program has no file;
// otherwise empty.
std::string SuccessorText(const ChildRuns& children, const Footer& footer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_BESIDE_RECORDED_SENTENCES_H_
