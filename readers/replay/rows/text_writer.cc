// Rows as text, see row_writer.h.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/replay/rows/plan_writer.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

struct TextStyle {
  static constexpr absl::string_view kRowStart = "";
  static constexpr absl::string_view kRowEnd = "\n";
  static constexpr Column kMarkLabel = Column::kFile;

  // Widths are in characters. A longer value moves the rest of its line.
  struct Look {
    absl::string_view title;
    size_t width;
    bool right;
  };
  // By Column.
  static const Look& LookOf(Column column) {
    static constexpr Look kLooks[kColumns] = {
        {"Event", 12, false},       {"dEvent", 7, false},
        {"Clock", 12, false},       {"What", 8, false},
        {"File", 80, false},        {"#line", 5, false},
        {"Function", 32, false},    {"RSS", 12, true},
        {"dRSS", 12, true},         {"Thread", 24, false},
        {"Pid", 8, false},          {"", 5, false},
        {"Module", 24, false},      {"Exact", 5, false},
        {"Stack", 5, false},        {"Unix time", 17, false},
        {"Address", 14, false},     {"Action", 9, false},
        {"Pages", 8, false},        {"Moved to", 14, false},
        {"Infer", 5, false},        {"Instruction in", 14, false},
        {"Address", 14, false},     {"Size", 12, true},
        {"Allocator", 9, false},    {"Weight", 12, false},
        {"Called from", 14, false}, {"Call", 12, false},
        {"Call time", 12, false},   {"Call dRSS", 12, true},
        {"Thread dRSS", 12, true},  {"GIL", 5, false},
        {"Free s", 12, false},      {"Pauses", 8, false},
        {"Paused s", 12, false},    {"By", 24, false},
        {"Thread dRSS", 12, true}};
    return kLooks[static_cast<int>(column)];
  }

  // The # of the line follows the file name directly.
  void Before(Column column, const Column* previous, std::string* out) const {
    const bool touches = previous != nullptr && column == Column::kLine &&
                         *previous == Column::kFile;
    if (previous != nullptr && !touches) *out += ' ';
  }

  static void Pad(size_t used, size_t width, std::string* out) {
    if (used < width) out->append(width - used, ' ');
  }

  void TextCell(Column column, absl::string_view name, std::string* out) const {
    const size_t used = AppendTerminalText(name, out);
    Pad(used, LookOf(column).width, out);
  }

  // A line number is "#", then padding, then digits: "#  12".
  void NumberCell(Column column, uint64_t value, std::string* out) const {
    const std::string digits = std::to_string(value);
    if (column == Column::kLine) {
      *out += '#';
      Pad(digits.size(), 4, out);
      *out += digits;
    } else {
      *out += digits;
      Pad(digits.size(), LookOf(column).width, out);
    }
  }

  // Functions that return `char*` write in place, at a fixed width: they are
  // called for each row.
  char* Event(uint64_t number, char* out) const {
    return WriteLeft(12, out,
                     [=](char* at) { return WriteDecimal(number, at); });
  }
  char* Devent(uint64_t devent, char* out) const {
    *out++ = '+';
    return WriteLeft(6, out,
                     [=](char* at) { return WriteDecimal(devent, at); });
  }
  char* Clock(uint64_t time_us, char* out) const {
    return WriteLeft(12, out,
                     [=](char* at) { return WriteSeconds(time_us, at); });
  }
  char* Rss(uint64_t rss_bytes, char* out) const {
    return WriteRight(12, rss_bytes, out);
  }
  char* Drss(int64_t drss_bytes, char* out) const {
    return WriteRight(12, drss_bytes, out);
  }
  char* Context(RowContext context, char* out) const {
    static constexpr char kTexts[3][6] = {"     ", "NEXT:", "PREV:"};
    std::memcpy(out, kTexts[static_cast<int>(context)], 5);
    return out + 5;
  }
  char* Exact(bool exact, char* out) const {
    std::memcpy(out, exact ? "yes  " : "no   ", 5);
    return out + 5;
  }

  void EmptyCell(Column column, std::string* out) const {
    Pad(0, LookOf(column).width, out);
  }
  void ExtraContext(absl::string_view label, std::string* out) const {
    absl::StrAppend(out, label, ":");
  }
  void SizeCell(Column column, uint64_t bytes, std::string* out) const {
    DigitsCell(column, std::to_string(bytes), out);
  }
  // Sizes are right-aligned, all other numbers left-aligned.
  void DigitsCell(Column column, absl::string_view digits,
                  std::string* out) const {
    const Look& look = LookOf(column);
    if (look.right) Pad(digits.size(), look.width, out);
    absl::StrAppend(out, digits);
    if (!look.right) Pad(digits.size(), look.width, out);
  }
  void DecimalCell(Column column, double value, std::string* out) const {
    TextCell(column, absl::StrFormat("%.10g", value), out);
  }

  void Header(const std::vector<Column>& columns, OutputBuffer* out) const {
    std::string line;
    const Column* previous = nullptr;
    for (const Column& column : columns) {
      Before(column, previous, &line);
      const Look& look = LookOf(column);
      if (look.right) Pad(look.title.size(), look.width, &line);
      absl::StrAppend(&line, look.title);
      if (!look.right) Pad(look.title.size(), look.width, &line);
      previous = &column;
    }
    line += '\n';
    out->Append(line);
  }
};

}  // namespace

std::unique_ptr<RowWriter> NewTextWriter(const RowWriter::Options& options,
                                         OutputBuffer* output) {
  const bool own_columns = options.columns.empty();
  return std::make_unique<PlanWriter<TextStyle>>(
      TextStyle(),
      own_columns
          ? TextColumns(options.with_context, options.with_pid, options.extra)
          : options.columns,
      options.with_header, own_columns, output);
}

}  // namespace pymemrun
