// What else a run recorded, a sentence each, for the first screen.
#ifndef PYMEMRUN_READERS_ANSWER_BESIDE_RECORDED_SENTENCES_H_
#define PYMEMRUN_READERS_ANSWER_BESIDE_RECORDED_SENTENCES_H_

#include <string>
#include <vector>

#include "readers/output/output_buffer.h"
#include "readers/replay/summary/run_facts.h"
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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_BESIDE_RECORDED_SENTENCES_H_
