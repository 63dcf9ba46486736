// Which commands come next on the first screen.
#ifndef PYMEMRUN_READERS_ANSWER_NEXT_STEPS_NEXT_STEPS_H_
#define PYMEMRUN_READERS_ANSWER_NEXT_STEPS_NEXT_STEPS_H_

#include <string>
#include <vector>

#include "readers/answer/memory/answer.h"
#include "readers/answer/memory/answer_text.h"

namespace pymemrun {

// What fits the case, the most useful first. `file`: the run's. `last_dump`:
// the run's last dump of objects; empty: it made no dump. A command that runs
// the program again has the options that were given, and another output.
std::vector<NextCommand> NextSteps(const Answer& answer,
                                   const std::string& file,
                                   const std::string& last_dump);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_NEXT_STEPS_NEXT_STEPS_H_
