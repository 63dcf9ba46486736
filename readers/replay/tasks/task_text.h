// The sentences above the table of `pymemreport tasks`.
#ifndef PYMEMRUN_READERS_REPLAY_TASKS_TASK_TEXT_H_
#define PYMEMRUN_READERS_REPLAY_TASKS_TASK_TEXT_H_

#include <string>
#include <vector>

#include "readers/replay/tasks/task_groups.h"

namespace pymemrun {

// The answers: which step held the event loop longest, and where; which task
// grew most; how many are not done. `moment`: that of the live bytes; empty:
// they are unknown. Lines, each ended.
std::string TaskSentences(const TaskReplay& replay, const TaskRowList& rows,
                          const std::string& moment);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_TASKS_TASK_TEXT_H_
