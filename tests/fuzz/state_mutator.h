// The mutator of what threads do. Used by the mutator of records.
#ifndef PYMEMRUN_TESTS_FUZZ_STATE_MUTATOR_H_
#define PYMEMRUN_TESTS_FUZZ_STATE_MUTATOR_H_

#include <iterator>
#include <string>

#include "format/trace.pb.h"
#include "tests/fuzz/column_mutator.h"

namespace pymemrun {

// Other actions, often with the columns that they take.
inline void MutateStates(StateBatch* b, Random* random) {
  switch ((*random)() % 6) {
    case 0:
      return MutateColumn(b->mutable_time_step_ns(), random);
    case 1:
      return MutateColumn(b->mutable_thread(), random);
    case 2:
      return b->set_lost((*random)());
    case 3:
      return b->set_first_ns((*random)() % 4 == 0 ? ~uint64_t{0}
                                                  : (*random)() % 5000);
    default:
      break;
  }
  // One entry more.
  const auto action = static_cast<StateAction>((*random)() % 7);
  b->add_action(action);
  b->add_time_step_ns((*random)() % 1000);
  b->add_thread(1 + (*random)() % 3);
  if (action != STATE_SEEN) return;
  const auto reason = static_cast<SleepReason>((*random)() % 7);
  b->add_reason(reason);
  if (reason == SLEEP_OTHER) b->add_other(std::string((*random)() % 70, 'x'));
}

inline void MutateSched(SchedBatch* b, Random* random) {
  google::protobuf::RepeatedField<uint64_t>* const columns[] = {
      b->mutable_run_ns(), b->mutable_runnable_ns(), b->mutable_voluntary(),
      b->mutable_preempted()};
  if ((*random)() % 2 == 0) {
    return MutateColumn(columns[(*random)() % std::size(columns)], random);
  }
  b->set_time_us((*random)() % 5000);
  b->add_thread(1 + (*random)() % 3);
  for (auto* column : columns) column->Add((*random)() % 100000);
}

// Where there were none, too.
inline bool MutateThreadStates(Record* record, Random* random) {
  const bool has_site = record->has_site();
  if (record->has_states() || (has_site && (*random)() % 4 == 0)) {
    MutateStates(record->mutable_states(), random);
  } else if (record->has_sched() || (has_site && (*random)() % 8 == 0)) {
    MutateSched(record->mutable_sched(), random);
  } else {
    return false;
  }
  return true;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TESTS_FUZZ_STATE_MUTATOR_H_
