#include "readers/relations/engine/arrow_stream.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

// Rows 0, 1, 2 ... of a text, its length, and a real; each third one is of
// nothing known.
class Numbers final : public Relation {
 public:
  explicit Numbers(int64_t rows, bool fails = false)
      : rows_(rows), fails_(fails) {}
  const char* name() const override { return "numbers"; }
  const char* about() const override { return "a number"; }
  absl::Span<const RelationColumn> columns() const override {
    static constexpr RelationColumn kColumns[] = {
        {"text", kText, "as it is written"},
        {"size", kBytes, "of that"},
        {"half", kSeconds, "of the number"}};
    return kColumns;
  }
  std::unique_ptr<RowCursor> Rows() override {
    return std::make_unique<Cursor>(rows_, fails_);
  }

 private:
  class Cursor final : public RowCursor {
   public:
    Cursor(int64_t rows, bool fails) : rows_(rows), fails_(fails) {}
    absl::StatusOr<bool> Next() override {
      if (++at_ < rows_) return true;
      if (fails_) return absl::DataLossError("the file is damaged");
      return false;
    }
    RelationValue At(int column) override {
      if (at_ % 3 == 2) return {};
      // The byte is no UTF-8.
      text_ = std::to_string(at_) + (at_ == 1 ? "\xff" : "");
      if (column == 0) return absl::string_view(text_);
      if (column == 1) return static_cast<int64_t>(text_.size());
      return static_cast<double>(at_) / 2;
    }

   private:
    const int64_t rows_;
    const bool fails_;
    int64_t at_ = -1;
    std::string text_;
  };

  const int64_t rows_;
  const bool fails_;
};

class ArrowStreamTest : public testing::Test {
 protected:
  void Export(int64_t rows, bool fails = false) {
    ExportArrowStream(std::make_shared<Numbers>(rows, fails), &stream_);
  }
  ~ArrowStreamTest() override { stream_.release(&stream_); }

  ArrowArrayStream stream_;
};

TEST_F(ArrowStreamTest, TheSchemaHasNamesFormatsAndUnits) {
  Export(0);
  ArrowSchema schema;
  ASSERT_EQ(stream_.get_schema(&stream_, &schema), 0);
  EXPECT_STREQ(schema.format, "+s");
  ASSERT_EQ(schema.n_children, 3);
  EXPECT_STREQ(schema.children[0]->format, "u");
  EXPECT_STREQ(schema.children[0]->name, "text");
  EXPECT_EQ(schema.children[0]->metadata, nullptr);
  EXPECT_STREQ(schema.children[1]->format, "l");
  EXPECT_STREQ(schema.children[2]->format, "g");
  const std::string unit(schema.children[1]->metadata, 4 + 4 + 4 + 4 + 5);
  EXPECT_EQ(unit, std::string("\1\0\0\0\4\0\0\0unit\5\0\0\0bytes", 21));
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
}

TEST_F(ArrowStreamTest, BatchesHoldTheCells) {
  Export(3);
  ArrowArray batch;
  ASSERT_EQ(stream_.get_next(&stream_, &batch), 0);
  ASSERT_EQ(batch.length, 3);
  const ArrowArray& text = *batch.children[0];
  EXPECT_EQ(text.null_count, 1);
  EXPECT_EQ(*static_cast<const uint8_t*>(text.buffers[0]), 3);
  const auto* const ends = static_cast<const int32_t*>(text.buffers[1]);
  EXPECT_THAT(std::vector<int32_t>(ends, ends + 4), ElementsAre(0, 1, 6, 6));
  EXPECT_EQ(std::string(static_cast<const char*>(text.buffers[2]), 6),
            "01\\xff");
  const auto* const sizes =
      static_cast<const int64_t*>(batch.children[1]->buffers[1]);
  EXPECT_THAT(std::vector<int64_t>(sizes, sizes + 2), ElementsAre(1, 2));
  const auto* const halves =
      static_cast<const double*>(batch.children[2]->buffers[1]);
  EXPECT_EQ(halves[1], 0.5);
  // The consumer may take a child along.
  ArrowArray taken = *batch.children[1];
  batch.children[1]->release = nullptr;
  batch.release(&batch);
  EXPECT_EQ(static_cast<const int64_t*>(taken.buffers[1])[0], 1);
  taken.release(&taken);
  ASSERT_EQ(stream_.get_next(&stream_, &batch), 0);
  EXPECT_EQ(batch.release, nullptr);
}

TEST_F(ArrowStreamTest, ManyRowsComeInSeveralBatches) {
  Export(2 * kArrowBatchRows + 1);
  std::vector<int64_t> lengths;
  for (;;) {
    ArrowArray batch;
    ASSERT_EQ(stream_.get_next(&stream_, &batch), 0);
    if (batch.release == nullptr) break;
    lengths.push_back(batch.length);
    batch.release(&batch);
  }
  EXPECT_THAT(lengths, ElementsAre(kArrowBatchRows, kArrowBatchRows, 1));
}

TEST_F(ArrowStreamTest, AFailureIsTold) {
  Export(1, /*fails=*/true);
  EXPECT_EQ(stream_.get_last_error(&stream_), nullptr);
  ArrowArray batch;
  EXPECT_NE(stream_.get_next(&stream_, &batch), 0);
  EXPECT_STREQ(stream_.get_last_error(&stream_), "the file is damaged");
}

}  // namespace
}  // namespace pymemrun
