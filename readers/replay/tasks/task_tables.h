// The table of `pymemreport tasks`.
#ifndef PYMEMRUN_READERS_REPLAY_TASKS_TASK_TABLES_H_
#define PYMEMRUN_READERS_REPLAY_TASKS_TASK_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/output/table.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/tasks/task_groups.h"

namespace pymemrun {

struct TaskColumns {
  bool heap = false;   // what tasks allocated is known
  bool states = true;  // what became of them is worth a column
  bool rss = true;     // and so is what RSS changed by
};

// The rows in their order.
Table TaskTable(const TaskReplay& replay, const std::vector<TaskRow>& rows,
                TaskRows by, const TaskColumns& columns, TableFormat format);

// Where a step spent its time, as far as that is known: "app.py:31" of a call
// that waits, or its way, "app.py:30 to :33".
std::string StepPlace(const TaskReplay& replay, const TaskStep& step);
// The user's own line on a stack, or the innermost: "app.py:31"; of no stack
// empty.
std::string OwnLine(const RunIndex& index, uint32_t stack);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_TASKS_TASK_TABLES_H_
