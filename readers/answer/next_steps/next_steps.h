// The commands that the first screen suggests.
#ifndef PYMEMRUN_READERS_ANSWER_NEXT_STEPS_NEXT_STEPS_H_
#define PYMEMRUN_READERS_ANSWER_NEXT_STEPS_NEXT_STEPS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/answer/memory/answer.h"
#include "readers/answer/memory/answer_text.h"
#include "readers/replay/summary/run_facts.h"

namespace pymemrun {

// The commands that fit the case, the most useful first. `file`: the run file.
// `last_dump`: the run's last dump of objects; empty: none. A command that runs
// the program again has the same options, and another output.
std::vector<NextCommand> NextSteps(const Answer& answer,
                                   const std::string& file,
                                   const std::string& last_dump);

// The command that runs a program again.
struct Again {
  std::vector<std::string> words;  // quoted for a shell
  std::string dump;  // the run's first dump of objects, quoted for a shell
};

// `file`: the run file. `dump_at`: when to dump objects; empty: never. Uses the
// same Python and records the same, plus allocations. If the run file has a
// name of its own, the new one gets a similar name; the command may replace it.
Again RunAgain(const RunFacts& facts, const std::string& file,
               absl::string_view dump_at);

// Whether the program can be started by itself: servers and spawned children of
// multiprocessing cannot.
bool CanRunAgain(const Header& header);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_NEXT_STEPS_NEXT_STEPS_H_
