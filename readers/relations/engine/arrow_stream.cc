#include "readers/relations/engine/arrow_stream.h"

#include <errno.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr int64_t kNullable = 2;  // of ArrowSchema::flags
// A batch ends when a column has more text than this: offsets have 31 bits.
constexpr size_t kBatchText = 64 << 20;

// Arrow's text is UTF-8: other bytes become \xff, as in CSV and tuples.
void AppendAsUtf8(absl::string_view text, std::string* out) {
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    const absl::string_view bytes = text.substr(0, rune.size);
    if (rune.kind == Rune::kScalar) {
      absl::StrAppend(out, bytes);
    } else {
      AppendVisible(rune, bytes, out);
    }
    text.remove_prefix(rune.size);
  }
}

// What the release() of an exported struct deletes. Children that the consumer
// has not taken go with it.
template <typename Exported>
struct Family {
  std::vector<Exported> children;
  std::vector<Exported*> pointers;
};

template <typename Exported>
void ReleaseChildren(Family<Exported>* family) {
  for (Exported& child : family->children) {
    if (child.release != nullptr) child.release(&child);
  }
}

// What ArrowSchema::private_data points to.
struct SchemaData : Family<ArrowSchema> {
  std::string metadata;
};

// A struct without release() counts as released. A consumer that took a child
// has moved it away, and left its release() null.
void ReleaseSchema(ArrowSchema* schema) {
  auto* const data = static_cast<SchemaData*>(schema->private_data);
  ReleaseChildren(data);
  delete data;
  schema->release = nullptr;
}

// Letters of Arrow's C data interface: utf8, int64, float64.
const char* FormatOf(ValueKind kind) {
  switch (kind) {
    case ValueKind::kText:
      return "u";
    case ValueKind::kInteger:
      return "l";
    case ValueKind::kReal:
      break;
  }
  return "g";
}

// One pair, as the interface has it: numbers are the machine's int32.
std::string MetadataOf(Unit unit) {
  const auto append = [](absl::string_view text, std::string* to) {
    const auto size = static_cast<int32_t>(text.size());
    to->append(reinterpret_cast<const char*>(&size), sizeof(size));
    absl::StrAppend(to, text);
  };
  constexpr int32_t kPairs = 1;
  std::string metadata(reinterpret_cast<const char*>(&kPairs), sizeof(kPairs));
  append("unit", &metadata);
  append(UnitName(unit), &metadata);
  return metadata;
}

void ExportField(const RelationColumn& column, ArrowSchema* field) {
  auto data = std::make_unique<SchemaData>();
  if (column.type.unit != Unit::kNone)
    data->metadata = MetadataOf(column.type.unit);
  *field = {};
  field->format = FormatOf(column.type.kind);
  field->name = column.name;
  if (!data->metadata.empty()) field->metadata = data->metadata.data();
  field->flags = kNullable;
  field->release = ReleaseSchema;
  field->private_data = data.release();
}

void ExportSchema(const Relation& relation, ArrowSchema* schema) {
  auto data = std::make_unique<SchemaData>();
  data->children.resize(relation.columns().size());
  for (size_t i = 0; i < data->children.size(); ++i) {
    ExportField(relation.columns()[i], &data->children[i]);
    data->pointers.push_back(&data->children[i]);
  }
  *schema = {};
  schema->format = "+s";
  schema->name = "";
  schema->n_children = static_cast<int64_t>(data->children.size());
  schema->children = data->pointers.data();
  schema->release = ReleaseSchema;
  schema->private_data = data.release();
}

// The cells of a column of a batch.
struct ColumnData : Family<ArrowArray> {
  std::vector<uint8_t> valid;  // a bit for each row
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<int32_t> ends = {0};  // of the texts
  std::string text;
  const void* buffers[3] = {};
  int64_t nulls = 0;
};

void ReleaseArray(ArrowArray* array) {
  auto* const data = static_cast<ColumnData*>(array->private_data);
  ReleaseChildren(data);
  delete data;
  array->release = nullptr;
}

// Arrow is by column: each cell is appended to its column's buffers. An unknown
// cell has a bit of 0 and any value. A real column may get whole numbers, as
// from counters.
void AddCell(const RelationValue& value, ValueKind kind, int64_t row,
             ColumnData* column) {
  if (row % 8 == 0) column->valid.push_back(0);
  const bool is_known = !std::holds_alternative<std::monostate>(value);
  column->nulls += !is_known;
  column->valid.back() |= static_cast<uint8_t>(is_known << (row % 8));
  const auto* const integer = std::get_if<int64_t>(&value);
  const auto* const real = std::get_if<double>(&value);
  switch (kind) {
    case ValueKind::kText:
      if (const auto* text = std::get_if<absl::string_view>(&value)) {
        AppendAsUtf8(*text, &column->text);
      }
      column->ends.push_back(static_cast<int32_t>(column->text.size()));
      return;
    case ValueKind::kInteger:
      column->integers.push_back(integer != nullptr ? *integer : 0);
      return;
    case ValueKind::kReal:
      column->reals.push_back(real != nullptr ? *real
                              : integer != nullptr
                                  ? static_cast<double>(*integer)
                                  : 0);
  }
}

// Buffers in Arrow's order: validity, then values, or offsets and text. Without
// unknown cells there is no validity.
void ExportColumn(ValueKind kind, int64_t rows,
                  std::unique_ptr<ColumnData> column, ArrowArray* array) {
  *array = {};
  array->length = rows;
  array->null_count = column->nulls;
  array->n_buffers = kind == ValueKind::kText ? 3 : 2;
  array->buffers = column->buffers;
  if (column->nulls > 0) column->buffers[0] = column->valid.data();
  if (kind == ValueKind::kText) {
    column->buffers[1] = column->ends.data();
    column->buffers[2] = column->text.data();
  } else if (kind == ValueKind::kInteger) {
    column->buffers[1] = column->integers.data();
  } else {
    column->buffers[1] = column->reals.data();
  }
  array->release = ReleaseArray;
  array->private_data = column.release();
}

// What ArrowArrayStream::private_data points to. Reads rows only as the
// consumer asks for batches, so memory is that of one batch.
class Stream {
 public:
  explicit Stream(std::shared_ptr<Relation> relation)
      : relation_(std::move(relation)), rows_(relation_->Rows()) {}

  int Schema(ArrowSchema* schema) {
    ExportSchema(*relation_, schema);
    return 0;
  }
  // A released array marks the end.
  int Next(ArrowArray* batch) {
    const auto columns = relation_->columns();
    std::vector<std::unique_ptr<ColumnData>> cells(columns.size());
    for (auto& column : cells) column = std::make_unique<ColumnData>();
    int64_t rows = 0;
    size_t most_text = 0;
    while (!ended_ && rows < kArrowBatchRows && most_text < kBatchText) {
      const absl::StatusOr<bool> more = rows_->Next();
      ended_ = !more.ok() || !*more;
      if (!more.ok()) {
        error_ = std::string(more.status().message());
        return EIO;
      }
      if (ended_) break;
      for (size_t i = 0; i < columns.size(); ++i) {
        AddCell(rows_->At(static_cast<int>(i)), columns[i].type.kind, rows,
                cells[i].get());
        most_text = std::max(most_text, cells[i]->text.size());
      }
      ++rows;
    }
    *batch = {};
    if (rows > 0) Export(std::move(cells), rows, batch);
    return 0;
  }
  const char* error() const {
    return error_.empty() ? nullptr : error_.c_str();
  }

 private:
  // A batch is a struct array, whose children are the columns.
  void Export(std::vector<std::unique_ptr<ColumnData>> cells, int64_t rows,
              ArrowArray* batch) const {
    auto data = std::make_unique<ColumnData>();
    data->children.resize(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      ExportColumn(relation_->columns()[i].type.kind, rows, std::move(cells[i]),
                   &data->children[i]);
      data->pointers.push_back(&data->children[i]);
    }
    batch->length = rows;
    batch->n_buffers = 1;
    batch->buffers = data->buffers;
    batch->n_children = static_cast<int64_t>(data->children.size());
    batch->children = data->pointers.data();
    batch->release = ReleaseArray;
    batch->private_data = data.release();
  }

  const std::shared_ptr<Relation> relation_;
  const std::unique_ptr<RowCursor> rows_;
  bool ended_ = false;
  std::string error_;
};

Stream* StreamOf(ArrowArrayStream* stream) {
  return static_cast<Stream*>(stream->private_data);
}

}  // namespace

void ExportArrowStream(std::shared_ptr<Relation> relation,
                       ArrowArrayStream* stream) {
  *stream = {};
  stream->get_schema = [](ArrowArrayStream* of, ArrowSchema* out) {
    return StreamOf(of)->Schema(out);
  };
  stream->get_next = [](ArrowArrayStream* of, ArrowArray* out) {
    return StreamOf(of)->Next(out);
  };
  stream->get_last_error = [](ArrowArrayStream* of) {
    return StreamOf(of)->error();
  };
  stream->release = [](ArrowArrayStream* of) {
    delete StreamOf(of);
    of->release = nullptr;
  };
  stream->private_data =
      std::make_unique<Stream>(std::move(relation)).release();
}

}  // namespace pymemrun
