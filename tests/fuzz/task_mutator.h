// The mutator of steps of tasks. Used by the mutator of records.
#ifndef PYMEMRUN_TESTS_FUZZ_TASK_MUTATOR_H_
#define PYMEMRUN_TESTS_FUZZ_TASK_MUTATOR_H_

#include <string>

#include "format/trace.pb.h"
#include "tests/fuzz/column_mutator.h"

namespace pymemrun {

// Other steps, often within one another.
inline void MutateSteps(TaskBatch* b, Random* random) {
  switch ((*random)() % 8) {
    case 0:
      return MutateColumn(b->mutable_time_step_ns(), random);
    case 1:
      return MutateColumn(b->mutable_thread(), random);
    case 2:
      return MutateColumn(b->mutable_task(), random);
    case 3:
      return MutateColumn(b->mutable_lasted_ns(), random);
    case 4:
      return b->set_first_ns((*random)() % 4 == 0 ? ~uint64_t{0}
                                                  : (*random)() % 5000);
    default:
      break;
  }
  // One entry more.
  b->add_time_step_ns((*random)() % 1000);
  b->add_thread(1 + (*random)() % 3);
  b->add_task(1 + (*random)() % 5);
  b->add_action(static_cast<TaskAction>((*random)() % 5));
  b->add_lasted_ns((*random)() % 3000);
  b->add_grown_bytes(static_cast<int64_t>((*random)() % 9000) - 4500);
  b->add_stack((*random)() % 3);
}

// Where there were none, too.
inline bool MutateTasks(Record* record, Random* random) {
  const bool has_site = record->has_site();
  if (record->has_tasks() || (has_site && (*random)() % 4 == 0)) {
    MutateSteps(record->mutable_tasks(), random);
  } else if (record->has_task() || (has_site && (*random)() % 8 == 0)) {
    TaskDef* const task = record->mutable_task();
    task->set_task((*random)() % 6);
    task->set_stack((*random)() % 4);
    task->set_name(std::string((*random)() % 9, 'x'));
  } else {
    return false;
  }
  return true;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TESTS_FUZZ_TASK_MUTATOR_H_
