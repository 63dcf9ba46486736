// HeapBatch to and from heap events. Both sides keep the same small tables of
// what followed what, so that most events take one byte that is often the same.
// FORMAT.md has the rules.
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

// Not thread safe.
class HeapEncoder {
 public:
  HeapEncoder();
  ~HeapEncoder();

  // Times must not fall within a batch; one that does is taken for the last.
  void Add(const HeapEvent& event);
  size_t entries() const;
  // Moves what was added to `batch`, and begins anew.
  void Take(HeapBatch* batch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Not thread safe.
class HeapDecoder {
 public:
  HeapDecoder();
  ~HeapDecoder();

  // Calls `take` with each entry, in order. Where the columns do not fit each
  // other: an error that names the column, and what came before was given out.
  absl::Status Decode(const HeapBatch& batch,
                      absl::FunctionRef<void(const HeapEvent&)> take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_HEAP_CODEC_H_
