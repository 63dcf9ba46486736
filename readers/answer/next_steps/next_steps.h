// Which commands come next on the first screen.
#ifndef PYMEMRUN_READERS_ANSWER_NEXT_STEPS_NEXT_STEPS_H_
#define PYMEMRUN_READERS_ANSWER_NEXT_STEPS_NEXT_STEPS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/answer/memory/answer.h"
#include "readers/answer/memory/answer_text.h"
#include "readers/replay/summary/run_facts.h"

namespace pymemrun {

// What fits the case, the most useful first. `file`: the run's. `last_dump`:
// the run's last dump of objects; empty: it made no dump. A command that runs
// the program again has the options that were given, and another output.
std::vector<NextCommand> NextSteps(const Answer& answer,
                                   const std::string& file,
                                   const std::string& last_dump);

// The command that runs a program again, as it was run.

struct Again {
  std::vector<std::string> words;  // as a shell has them
  std::string dump;  // the run's first dump of objects, as a shell has it
};

// `file`: the run's. `dump_at`: when to dump objects; empty: never. The same
// Python records the same, and allocations. A run with a name of its own gets
// another one beside it, which the command may replace when it is given again.
Again RunAgain(const RunFacts& facts, const std::string& file,
               absl::string_view dump_at);

// Whether the program can be begun alone: multiprocessing's servers and spawned
// children cannot.
bool CanRunAgain(const Header& header);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_NEXT_STEPS_NEXT_STEPS_H_
