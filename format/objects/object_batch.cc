#include "format/objects/object_batch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

// Most bytes of a node without its text, and of a reference, in the columns. A
// varint has up to 10 bytes for 64 bits, 5 for 32 bits and 3 for a distance
// between rows. So the size of a batch is known before it is serialised.
constexpr size_t kMostNodeBytes = 10 + 5 + 10 + 5 + 13 + 8 + 11 + 8 + 8 + 23;
constexpr size_t kMostReferenceBytes = 10 + 1 + 8;
constexpr size_t kMaxLateBytes = 10;

absl::Status Refused(absl::string_view what, uint64_t found) {
  return absl::InvalidArgumentError(absl::StrCat(what, ", found ", found));
}

// The columns that only some nodes, or some references, have a value in.
absl::Status CheckSparse(const ObjectBatch& b, uint64_t nodes,
                         uint64_t references) {
  RETURN_IF_ERROR(CheckAt("objects.length_at", b.length_at(), 0, nodes));
  RETURN_IF_ERROR(
      CheckLength("objects.length", b.length_at_size(), b.length_size()));
  RETURN_IF_ERROR(CheckAt("objects.text_at", b.text_at(), 0, nodes));
  RETURN_IF_ERROR(CheckLength("objects.text", b.text_at_size(), b.text_size()));
  RETURN_IF_ERROR(CheckAt("objects.hash_at", b.hash_at(), 0, nodes));
  RETURN_IF_ERROR(CheckLength("objects.hash", b.hash_at_size(), b.hash_size()));
  RETURN_IF_ERROR(CheckAt("objects.flags_at", b.flags_at(), 0, nodes));
  RETURN_IF_ERROR(
      CheckLength("objects.flags", b.flags_at_size(), b.flags_size()));
  RETURN_IF_ERROR(CheckAt("objects.line_at", b.line_at(), 0, nodes));
  RETURN_IF_ERROR(CheckLength("objects.line", b.line_at_size(), b.line_size()));
  RETURN_IF_ERROR(CheckAt("objects.beside_at", b.beside_at(), 0, nodes));
  RETURN_IF_ERROR(CheckLength("objects.beside_bytes", b.beside_at_size(),
                              b.beside_bytes_size()));
  RETURN_IF_ERROR(CheckLength("objects.beside_step", b.beside_at_size(),
                              b.beside_step_size()));
  RETURN_IF_ERROR(
      CheckAt("objects.edge_name_at", b.edge_name_at(), 0, references));
  return CheckLength("objects.edge_name", b.edge_name_at_size(),
                     b.edge_name_size());
}

// Checks all lengths, so that the cursors can read by index.
absl::Status CheckColumns(const ObjectBatch& b) {
  const auto nodes = static_cast<uint64_t>(b.address_step_size());
  const auto references = static_cast<uint64_t>(b.target_size());
  if (std::max(nodes, references) > kMaxBatchEntries) {
    return WrongColumn("objects",
                       absl::StrCat("at most ", kMaxBatchEntries, " entries"),
                       std::max(nodes, references));
  }
  RETURN_IF_ERROR(CheckLength("objects.type", nodes, b.type_size()));
  RETURN_IF_ERROR(
      CheckLength("objects.size_bytes", nodes, b.size_bytes_size()));
  RETURN_IF_ERROR(CheckLength("objects.edges", nodes, b.edges_size()));
  RETURN_IF_ERROR(CheckLength("objects.late_edges",
                              static_cast<uint64_t>(b.late_node_size()),
                              b.late_edges_size()));
  RETURN_IF_ERROR(CheckLength("objects.edge_kind", references,
                              static_cast<int>(b.edge_kind().size())));
  return CheckSparse(b, nodes, references);
}

absl::Status CheckValues(const ObjectBatch& b) {
  for (const uint64_t size : b.size_bytes()) {
    if (size > kMaxSizeBytes) {
      return WrongColumn("objects.size_bytes", "at most 2^62", size);
    }
  }
  for (const uint64_t bytes : b.beside_bytes()) {
    if (bytes > kMaxSizeBytes) {
      return WrongColumn("objects.beside_bytes", "at most 2^62", bytes);
    }
  }
  for (const std::string& text : b.text()) {
    if (text.size() > kMaxObjectTextBytes) {
      return WrongColumn(
          "objects.text",
          absl::StrCat("at most ", kMaxObjectTextBytes, " bytes"), text.size());
    }
  }
  return absl::OkStatus();
}

// Checks that each reference has a source node. The first ones are of the late
// nodes, which came in earlier batches; those of each node of this batch
// follow. So the sum of all counts must be the number of targets.
absl::Status CheckSources(const ObjectBatch& b) {
  uint64_t sources = 0;
  for (const uint64_t distance : b.late_node()) {
    if (distance == 0 || distance > b.first_node()) {
      return WrongColumn("objects.late_node",
                         absl::StrCat("1 to ", b.first_node()), distance);
    }
  }
  for (const uint32_t edges : b.edges()) sources += edges;
  RETURN_IF_ERROR(AddAll("objects.late_edges", b.late_edges(), &sources));
  return CheckLength("objects.target", sources, b.target_size());
}

// A target is a distance back from the next new number, or 0 for the next new
// node. *next_new is that number before them, and is set to that after them.
absl::Status CheckTargets(const ObjectBatch& b, uint64_t* next_new) {
  for (const uint64_t back : b.target()) {
    if (back > *next_new) {
      return WrongColumn("objects.target", absl::StrCat("at most ", *next_new),
                         back);
    }
    if (back == 0 && ++*next_new > kMaxObjects) {
      return WrongColumn("objects.target",
                         absl::StrCat("at most ", kMaxObjects, " objects"),
                         *next_new);
    }
  }
  return absl::OkStatus();
}

}  // namespace

ObjectBatchEncoder::ObjectBatchEncoder(Emit emit, size_t batch_bytes)
    : emit_(std::move(emit)), batch_bytes_(batch_bytes) {
  record_.mutable_objects();
}

absl::Status ObjectBatchEncoder::FlushWhenFull(size_t more_bytes) {
  if (bytes_ != 0 && bytes_ + more_bytes > batch_bytes_) return Flush();
  return absl::OkStatus();
}

// A reference to a node that was not reached before is encoded as 0, and gives
// that node the next number. So numbers of new nodes are never written, and
// nodes must be added in the order in which they were reached.
absl::Status ObjectBatchEncoder::AddNode(const ObjectNode& node) {
  if (nodes_ >= next_new_) {
    return Refused("expected a node that a reference reached", nodes_);
  }
  if (node.size_bytes > kMaxSizeBytes) {
    return Refused("expected a size of at most 2^62", node.size_bytes);
  }
  if (node.beside_bytes > kMaxSizeBytes) {
    return Refused("expected at most 2^62 bytes beside it", node.beside_bytes);
  }
  if (node.text.size() > kMaxObjectTextBytes) {
    return Refused("expected a short text", node.text.size());
  }
  const size_t bytes = kMostNodeBytes + node.text.size();
  RETURN_IF_ERROR(FlushWhenFull(bytes));
  ObjectBatch* b = record_.mutable_objects();
  if (bytes_ == 0) b->set_first_new(next_new_);
  const auto row = static_cast<uint32_t>(b->address_step_size());
  if (row == 0) b->set_first_node(nodes_);
  b->add_address_step(static_cast<int64_t>(node.address - last_address_));
  last_address_ = node.address;
  b->add_type(node.type);
  b->add_size_bytes(node.size_bytes);
  b->add_edges(0);
  AppendSparse(row, node);
  bytes_ += bytes;
  from_ = nodes_++;
  return absl::OkStatus();
}

// Absent and 0 are the same for all of these except length and text, where a
// length of 0 is a fact.
void ObjectBatchEncoder::AppendSparse(uint32_t row, const ObjectNode& node) {
  ObjectBatch* b = record_.mutable_objects();
  if (node.length.has_value()) {
    b->add_length_at(length_at_.StepTo(row));
    b->add_length(*node.length);
  }
  if (node.has_text()) {
    b->add_text_at(text_at_.StepTo(row));
    b->add_text(node.text.data(), node.text.size());
  }
  if (node.text_hash != 0) {
    b->add_hash_at(hash_at_.StepTo(row));
    b->add_hash(node.text_hash);
  }
  if (node.flags != 0) {
    b->add_flags_at(flags_at_.StepTo(row));
    b->add_flags(node.flags);
  }
  if (node.line != 0) {
    b->add_line_at(line_at_.StepTo(row));
    b->add_line(node.line);
  }
  if (node.beside_bytes != 0) {
    b->add_beside_at(beside_at_.StepTo(row));
    b->add_beside_bytes(node.beside_bytes);
    b->add_beside_step(static_cast<int64_t>(node.beside - node.address));
  }
}

absl::Status ObjectBatchEncoder::ContinueNode(uint64_t number) {
  if (number >= nodes_) return Refused("expected a node that came", number);
  from_ = number;
  return absl::OkStatus();
}

// `target` equal to next_new_ is a node that is reached for the first time. All
// checks come before the first change, so a refused reference leaves the batch
// as it was.
absl::Status ObjectBatchEncoder::AddReference(EdgeKind kind, uint32_t name,
                                              uint64_t target) {
  if (nodes_ == 0) return Refused("expected a node first", target);
  if (target > next_new_) {
    return Refused(absl::StrCat("expected a target of at most ", next_new_),
                   target);
  }
  if (target == next_new_ && next_new_ >= kMaxObjects) {
    return Refused(absl::StrCat("expected at most ", kMaxObjects, " objects"),
                   next_new_ + 1);
  }
  RETURN_IF_ERROR(FlushWhenFull(kMostReferenceBytes));
  RETURN_IF_ERROR(CountReference());
  ObjectBatch* b = record_.mutable_objects();
  if (name != 0) {
    b->add_edge_name_at(
        name_at_.StepTo(static_cast<uint32_t>(b->target_size())));
    b->add_edge_name(name);
  }
  b->add_target(target == next_new_ ? 0 : next_new_ - target);
  b->mutable_edge_kind()->push_back(static_cast<char>(kind));
  if (target == next_new_) ++next_new_;
  ++references_;
  bytes_ += kMostReferenceBytes;
  return absl::OkStatus();
}

// Counts a reference of from_. References of earlier nodes precede those of
// nodes in this batch. If nodes are already in it, the batch is ended first.
absl::Status ObjectBatchEncoder::CountReference() {
  ObjectBatch* b = record_.mutable_objects();
  const int own = b->edges_size();
  if (own != 0 && from_ + 1 == nodes_) {
    b->set_edges(own - 1, b->edges(own - 1) + 1);
    return absl::OkStatus();
  }
  if (own != 0) RETURN_IF_ERROR(Flush());
  if (bytes_ == 0) b->set_first_new(next_new_);
  b->set_first_node(nodes_);
  const int last = b->late_node_size() - 1;
  if (last >= 0 && b->late_node(last) == nodes_ - from_) {
    b->set_late_edges(last, b->late_edges(last) + 1);
    return absl::OkStatus();
  }
  b->add_late_node(nodes_ - from_);
  b->add_late_edges(1);
  bytes_ += 2 * kMaxLateBytes;
  return absl::OkStatus();
}

absl::Status ObjectBatchEncoder::Flush() {
  if (bytes_ == 0) return absl::OkStatus();
  // Each batch can be read without the others, so all differences start anew.
  record_.SerializeToString(&serialised_);
  record_.mutable_objects()->Clear();
  bytes_ = 0;
  last_address_ = 0;
  length_at_ = text_at_ = hash_at_ = flags_at_ = line_at_ = name_at_ =
      beside_at_ = RowSteps();
  return emit_(serialised_);
}

// Batches of a dump follow each other without gaps: both the numbers of nodes
// and the new numbers go on where the last batch ended. After damage they may
// jump ahead, but never back. The state changes only when all is good.
absl::Status ObjectBatchChecker::Check(const ObjectBatch& batch,
                                       bool after_damage, Ids* ids) {
  RETURN_IF_ERROR(CheckColumns(batch));
  RETURN_IF_ERROR(CheckValues(batch));
  RETURN_IF_ERROR(CheckSources(batch));
  const uint64_t first = batch.first_node(), first_new = batch.first_new();
  if (first < next_node_ || (first > next_node_ && !after_damage)) {
    return WrongColumn("objects.first_node", absl::StrCat(next_node_), first);
  }
  if (first_new < next_new_ || (first_new > next_new_ && !after_damage) ||
      first_new > kMaxObjects) {
    return WrongColumn("objects.first_new", absl::StrCat(next_new_), first_new);
  }
  uint64_t next_new = first_new;
  RETURN_IF_ERROR(CheckTargets(batch, &next_new));
  const uint64_t end = first + static_cast<uint64_t>(batch.address_step_size());
  if (end > next_new || end < first) {
    return WrongColumn("objects.first_node",
                       absl::StrCat("nodes below ", next_new), first);
  }
  RETURN_IF_ERROR(CheckIds("objects.type", batch.type(), 0, &ids->type));
  RETURN_IF_ERROR(
      CheckIds("objects.edge_name", batch.edge_name(), 1, &ids->name));
  next_node_ = end;
  next_new_ = next_new;
  return absl::OkStatus();
}

ObjectNodeCursor::ObjectNodeCursor(const ObjectBatch& batch)
    : batch_(batch),
      length_(batch.length_at()),
      text_(batch.text_at()),
      hash_(batch.hash_at()),
      flags_(batch.flags_at()),
      line_(batch.line_at()),
      beside_(batch.beside_at()) {}

void ObjectNodeCursor::TakeBeside(uint64_t row, ObjectNode* node) {
  if (row != beside_.next) return;
  node->beside_bytes = batch_.beside_bytes(beside_.index);
  node->beside =
      node->address + static_cast<uint64_t>(batch_.beside_step(beside_.index));
  beside_.Advance();
}

size_t ObjectNodeCursor::Next(ObjectNode* nodes, size_t size) {
  const uint64_t begin = row_;
  const uint64_t end = std::min<uint64_t>(
      static_cast<uint64_t>(batch_.address_step_size()), begin + size);
  const auto take = [](SparseCursor* cursor, uint64_t row, const auto& column,
                       auto* value) {
    if (row != cursor->next) return;
    *value = column.Get(cursor->index);
    cursor->Advance();
  };
  for (uint64_t i = begin; i < end; ++i) {
    ObjectNode& node = nodes[i - begin];
    const auto at = static_cast<int>(i);
    node = ObjectNode();
    // Modulo 2^64.
    address_ += static_cast<uint64_t>(batch_.address_step(at));
    node.address = address_;
    node.type = batch_.type(at);
    node.size_bytes = batch_.size_bytes(at);
    node.number = static_cast<uint32_t>(batch_.first_node() + i);
    take(&length_, i, batch_.length(), &node.length);
    take(&text_, i, batch_.text(), &node.text);
    take(&hash_, i, batch_.hash(), &node.text_hash);
    take(&flags_, i, batch_.flags(), &node.flags);
    take(&line_, i, batch_.line(), &node.line);
    TakeBeside(i, &node);
  }
  row_ = end;
  return static_cast<size_t>(end - begin);
}

ObjectReferenceCursor::ObjectReferenceCursor(const ObjectBatch& batch)
    : batch_(batch),
      name_(batch.edge_name_at()),
      next_new_(batch.first_new()) {}

// Goes to the next node with references, late nodes first. Ends, since the
// counts add up to the number of targets and it is called only for a target
// that is left.
void ObjectReferenceCursor::NextSource() {
  const auto late = static_cast<uint64_t>(batch_.late_node_size());
  while (left_ == 0) {
    if (source_ < late) {
      const auto at = static_cast<int>(source_);
      from_ = batch_.first_node() - batch_.late_node(at);
      left_ = batch_.late_edges(at);
    } else {
      const auto at = static_cast<int>(source_ - late);
      from_ = batch_.first_node() + static_cast<uint64_t>(at);
      left_ = batch_.edges(at);
    }
    ++source_;
  }
}

size_t ObjectReferenceCursor::Next(ObjectReference* references, size_t size) {
  const uint64_t begin = row_;
  const uint64_t end = std::min<uint64_t>(
      static_cast<uint64_t>(batch_.target_size()), begin + size);
  for (uint64_t i = begin; i < end; ++i) {
    ObjectReference& reference = references[i - begin];
    const auto at = static_cast<int>(i);
    if (left_ == 0) NextSource();
    --left_;
    reference.from = static_cast<uint32_t>(from_);
    const uint64_t back = batch_.target(at);
    reference.target =
        static_cast<uint32_t>(back == 0 ? next_new_++ : next_new_ - back);
    reference.kind =
        static_cast<EdgeKind>(static_cast<uint8_t>(batch_.edge_kind()[i]));
    reference.name = 0;
    if (i == name_.next) {
      reference.name = batch_.edge_name(name_.index);
      name_.Advance();
    }
  }
  row_ = end;
  return static_cast<size_t>(end - begin);
}

}  // namespace pymemrun
