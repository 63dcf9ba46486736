// ObjectBatch: nodes and references to columns, and back. What writes a dump
// encodes; RecordDecoder decodes.
#ifndef PYMEMRUN_FORMAT_OBJECTS_OBJECT_BATCH_H_
#define PYMEMRUN_FORMAT_OBJECTS_OBJECT_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/batches/sparse_column.h"
#include "format/objects/object_node.h"

namespace pymemrun {

// Turns nodes, each followed by its references, into records of batches. What
// breaks the rules of ObjectBatch fails with kInvalidArgument and changes
// nothing, so the nodes may come from a process that is not trusted. The ids of
// types and names are for the caller to check. Not thread safe.
class ObjectBatchEncoder {
 public:
  // Gets each batch as a serialised pymemrun.Record, valid during the call.
  using Emit = std::function<absl::Status(absl::string_view record)>;
  static constexpr size_t kBatchBytes = size_t{1} << 20;

  explicit ObjectBatchEncoder(Emit emit, size_t batch_bytes = kBatchBytes);

  // The next node: its number is nodes(). A reference must have reached it,
  // unless it is the root. `node.number` is not looked at.
  absl::Status AddNode(const ObjectNode& node);
  // A reference of the node that was added last, or of that of ContinueNode().
  // `target` is at most next_new(), and next_new() gives the target that
  // number.
  absl::Status AddReference(EdgeKind kind, uint32_t name, uint64_t target);
  // The references up to the next AddNode() are more of node `number`.
  absl::Status ContinueNode(uint64_t number);
  // Emits what there is. To be called at the end, and at any time.
  absl::Status Flush();

  uint64_t nodes() const { return nodes_; }
  uint64_t references() const { return references_; }
  // The number that the next node to be reached gets.
  uint64_t next_new() const { return next_new_; }

 private:
  absl::Status FlushWhenFull(size_t more_bytes);
  absl::Status CountReference();
  void AppendSparse(uint32_t row, const ObjectNode& node);

  const Emit emit_;
  const size_t batch_bytes_;
  uint64_t nodes_ = 0, references_ = 0, next_new_ = 1;
  uint64_t from_ = 0;  // whose references come
  size_t bytes_ = 0;   // of the batch, at most
  uint64_t last_address_ = 0;
  RowSteps length_at_, text_at_, hash_at_, flags_at_, line_at_, name_at_,
      beside_at_;
  Record record_;
  std::string serialised_;
};

// Checks the batches of a dump one after the other. Not thread safe.
class ObjectBatchChecker {
 public:
  struct Ids {  // the highest ones
    uint32_t type = 0, name = 0;
  };
  // Checks everything but whether the ids are defined: lengths of parallel
  // columns, distances, numbers. A gap in the numbers is good `after_damage`
  // only. Fails with kDataLoss, and has then seen nothing of the batch.
  absl::Status Check(const ObjectBatch& batch, bool after_damage, Ids* ids);

 private:
  uint64_t next_node_ = 0;
  uint64_t next_new_ = 1;
};

// Give the nodes and the references of a batch, some at a time. The batch must
// outlive them. REQUIRES: Check() found it good, and its ids are defined.
class ObjectNodeCursor {
 public:
  explicit ObjectNodeCursor(const ObjectBatch& batch);
  // Fills up to `size` nodes; returns how many, 0 at the end.
  size_t Next(ObjectNode* nodes, size_t size);

 private:
  void TakeBeside(uint64_t row, ObjectNode* node);

  const ObjectBatch& batch_;
  SparseCursor length_, text_, hash_, flags_, line_, beside_;
  uint64_t address_ = 0;
  uint64_t row_ = 0;
};

class ObjectReferenceCursor {
 public:
  explicit ObjectReferenceCursor(const ObjectBatch& batch);
  size_t Next(ObjectReference* references, size_t size);

 private:
  void NextSource();

  const ObjectBatch& batch_;
  SparseCursor name_;
  uint64_t next_new_;
  uint64_t from_ = 0;    // of the references that come...
  uint64_t left_ = 0;    // number of these
  uint64_t source_ = 0;  // late nodes, then nodes, that were begun
  uint64_t row_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_OBJECTS_OBJECT_BATCH_H_
