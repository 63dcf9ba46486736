// HeapBatch to heap events; heap_encoder.h is the way back. Both keep the same
// small tables of what followed what, so that most events take one byte that is
// often the same. FORMAT.md has the rules.
#ifndef PYMEMRUN_FORMAT_HEAP_CODEC_H_
#define PYMEMRUN_FORMAT_HEAP_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "format/heap_event.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Everything but whether the ids are defined: whether the columns fit each
// other. Fails with kDataLoss and the name of the column.
absl::Status CheckHeapBatch(const HeapBatch& batch);
// Whether probabilities are from 0 to 1 and sizes rise.
absl::Status CheckHeapRates(const HeapRates& rates);

// Not thread safe.
class HeapDecoder {
 public:
  HeapDecoder();
  ~HeapDecoder();

  // Calls `take` with the entries, in order and some at a time, which are valid
  // during the call, until it returns false.
  // REQUIRES: CheckHeapBatch() found the batch good.
  void Decode(
      const HeapBatch& batch,
      absl::FunctionRef<bool(const HeapEvent* events, size_t count)> take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_HEAP_CODEC_H_
