// Exports the rows of a relation through Arrow's C stream interface:
// https://arrow.apache.org/docs/format/CStreamInterface.html
#ifndef PYMEMRUN_READERS_RELATIONS_ENGINE_ARROW_STREAM_H_
#define PYMEMRUN_READERS_RELATIONS_ENGINE_ARROW_STREAM_H_

#include <cstdint>
#include <memory>

#include "readers/relations/engine/relation.h"

// The structs of the interface: names and layouts must not change.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace pymemrun {

inline constexpr int64_t kArrowBatchRows = 1 << 16;

// Fills in `stream`; its owner calls release(). A batch has up to
// kArrowBatchRows rows. Integers are int64, reals float64, text is utf8, with
// other bytes as \xff. If a column has a unit, its field has it as the metadata
// "unit". The stream keeps `relation` alive until it is released.
void ExportArrowStream(std::shared_ptr<Relation> relation,
                       ArrowArrayStream* stream);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_ENGINE_ARROW_STREAM_H_
