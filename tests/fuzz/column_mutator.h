// Changes a column of a batch. Used by the mutators of records.
#ifndef PYMEMRUN_TESTS_FUZZ_COLUMN_MUTATOR_H_
#define PYMEMRUN_TESTS_FUZZ_COLUMN_MUTATOR_H_

#include <cstdint>
#include <random>

namespace pymemrun {

using Random = std::minstd_rand;

template <class Column>
void MutateColumn(Column* column, Random* random) {
  using Value = typename Column::value_type;
  const auto value = static_cast<Value>(
      (*random)() % 3 == 0 ? ~Value{0} >> ((*random)() % (8 * sizeof(Value)))
                           : (*random)() % 8);
  if (column->empty() || (*random)() % 3 == 0) {
    column->Add(value);
  } else if ((*random)() % 4 == 0) {
    column->RemoveLast();
  } else {
    column->Set(static_cast<int>((*random)() % column->size()), value);
  }
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TESTS_FUZZ_COLUMN_MUTATOR_H_
