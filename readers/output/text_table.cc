#include "readers/output/text_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "text/block_chart.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// One long name must not make every row as long.
constexpr size_t kMostWidth = 1000;
constexpr size_t kGap = 2;           // between columns
constexpr size_t kFewestName = 10;   // the least width of a name column
constexpr size_t kFewestFrame = 28;  // after its indentation
constexpr size_t kFewestKey = 12;    // of the column that identifies rows
constexpr size_t kFewestBar = 8, kMostBar = 24;

double NumberOf(const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  if (const auto* whole = std::get_if<uint64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  return std::get<double>(cell);
}

// A cell as people read it: a size with its unit, a share in percent, a name
// escaped.
std::string TextOf(const Cell& cell, CellLook look) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return TerminalText(*text);
  }
  if (look == CellLook::kBytes) return HumanBytes(NumberOf(cell));
  if (look == CellLook::kShare) {
    return absl::StrFormat("%.1f %%", 100 * NumberOf(cell));
  }
  return PlainCell(cell);
}

// "load (/a/long/path/job.py:5)" with the path shortened as others are.
std::string ShortFrame(absl::string_view frame, const Terminal& terminal) {
  const size_t open = frame.rfind('(');
  if (open == absl::string_view::npos || !absl::EndsWith(frame, ")")) {
    return std::string(frame);
  }
  return absl::StrCat(
      frame.substr(0, open + 1),
      ShortestPath(frame.substr(open + 1), terminal.folder, terminal.unicode));
}

// "load (job.py:5)".
std::string WithoutFolder(absl::string_view frame) {
  const size_t open = frame.rfind('('), slash = frame.rfind('/');
  if (open == absl::string_view::npos || slash == absl::string_view::npos ||
      slash < open) {
    return std::string(frame);
  }
  return absl::StrCat(frame.substr(0, open + 1), frame.substr(slash + 1));
}

// "folder/file.py:5 f" without its folders: "file.py:5 f".
std::string WithoutFolders(absl::string_view line) {
  return std::string(
      line.substr(line.substr(0, line.find(':')).rfind('/') + 1));
}

// A column with its title and cells as text. Steps that make the table narrower
// change only these texts.
struct TextColumn {
  const Table::Heading* heading;
  std::vector<std::string> cells;  // starts with the title
  size_t width = 0;
  bool is_name = false;
  bool is_key = false;
  double most = 0;  // largest share

  void Measure() {
    width = 0;
    for (const std::string& cell : cells) {
      width = std::max(width, std::min(ColumnsOf(cell), kMostWidth));
    }
  }
  bool IsEmpty() const {
    return std::all_of(cells.begin() + 1, cells.end(),
                       [](const std::string& cell) {
                         return cell.empty() || cell == "-" || cell == "0" ||
                                cell == "0 bytes" || cell == "0.0 %";
                       });
  }
  // Shortens the title to what is needed.
  void ShortenTitle() {
    std::string& title = cells[0];
    title = title.substr(title.rfind(' ') + 1);
    Measure();
  }
  // Indents frames less, after dots, if they are so deep that they would have
  // less than `most` columns.
  void Outdent(size_t most, bool unicode) {
    const size_t deepest =
        std::max({most / 4, most - std::min(most, kFewestFrame), size_t{1}});
    for (std::string& cell : cells) {
      const size_t indent = std::min(cell.find_first_not_of(' '), cell.size());
      if (indent <= deepest) continue;
      cell.replace(
          0, indent,
          absl::StrCat(std::string(deepest - 1, ' '), unicode ? "…" : "."));
    }
  }
  void Cut(size_t most, bool unicode) {
    if (width <= most) return;
    if (heading->name == "frame") Outdent(most, unicode);
    for (std::string& cell : cells) {
      if (ColumnsOf(cell) <= most) continue;
      if (heading->name == "frame") cell = WithoutFolder(cell);
      if (heading->name == "top_line") cell = WithoutFolders(cell);
      // A value is not a place: its start says more.
      cell = heading->name == "value" ? CutToColumns(cell, most)
                                      : CutLabel(cell, most, unicode);
    }
    width = most;
  }
};

// Makes all cells as text, then narrows the columns until they fit the
// terminal.
class TextTable {
 public:
  TextTable(const Table& table, const Terminal& terminal, bool in_order)
      : table_(table), terminal_(terminal) {
    for (size_t i = 0; i < table.headings.size(); ++i) {
      columns_.push_back(ColumnOf(i));
    }
    if (in_order) {
      if (terminal.fits()) KeepFirst();
      if (terminal.fits()) CutWidest();
      return;
    }
    // Stable: columns keep the table's order within each group.
    std::stable_partition(
        columns_.begin(), columns_.end(),
        [](const TextColumn& column) { return !column.is_name; });
    std::stable_partition(
        columns_.begin(), columns_.end(),
        [](const TextColumn& column) { return column.is_key; });
    if (terminal.fits()) {
      Fit();
      AddBars();
    }
  }

  const std::vector<std::string>& left_out() const { return left_out_; }
  void Print(OutputBuffer* output) const {
    for (size_t r = 0; r <= table_.rows.size(); ++r) {
      std::string line;
      for (size_t i = 0; i < columns_.size(); ++i) {
        const TextColumn& column = columns_[i];
        const std::string& cell = column.cells[r];
        const bool is_last = i + 1 == columns_.size();
        // Numbers are right-aligned, names left-aligned; the last name is not
        // padded.
        absl::StrAppend(&line, i == 0 ? "" : std::string(kGap, ' '),
                        !column.is_name && !column.is_key
                            ? PadLeft(cell, column.width)
                        : is_last ? cell
                                  : PadRight(cell, column.width));
        if (static_cast<int>(i) == bars_after_) AddBar(r, &line);
      }
      // Some rows have no last name.
      while (terminal_.fits() && !line.empty() && line.back() == ' ') {
        line.pop_back();
      }
      output->Append(r == 0 ? terminal_.Bold(line) : line);
      output->Append("\n");
    }
  }

 private:
  TextColumn ColumnOf(size_t i) const {
    TextColumn column;
    column.heading = &table_.headings[i];
    column.is_name = column.heading->look == CellLook::kName;
    column.is_key = column.heading->look == CellLook::kKey;
    // A SELECT may use any column names.
    column.cells.push_back(TerminalText(column.heading->title));
    for (const auto& row : table_.rows) {
      column.cells.push_back(TextOf(row[i], column.heading->look));
      if (column.heading->look == CellLook::kShare &&
          !std::holds_alternative<std::monostate>(row[i])) {
        column.most = std::max(column.most, NumberOf(row[i]));
      }
      if (!terminal_.fits()) continue;
      std::string& cell = column.cells.back();
      if (column.heading->name == "file" ||
          column.heading->name == "top_line") {
        cell = ShortestPath(cell, terminal_.folder, terminal_.unicode);
      } else if (column.heading->name == "frame") {
        cell = ShortFrame(cell, terminal_);
      }
    }
    column.Measure();
    return column;
  }

  // Includes the gaps.
  size_t WidthOf(bool names) const {
    size_t width = 0;
    for (const TextColumn& column : columns_) {
      if (column.is_name == names) width += column.width + kGap;
    }
    return width;
  }
  size_t Width() const {
    return WidthOf(true) + WidthOf(false) - (columns_.empty() ? 0 : kGap);
  }
  // The columns left for numbers, after the least for names.
  size_t Room() const {
    const bool has_frames = columns_.back().heading->name == "frame";
    const size_t wanted =
        std::min(WidthOf(true), terminal_.columns * (has_frames ? 3 : 2) / 5);
    return terminal_.columns + kGap - wanted;
  }

  // The first columns identify a row and have its size: they always stay.
  // In order of how little is lost: titles, empty columns, shares, numbers,
  // names.
  void Fit() {
    if (Width() <= terminal_.columns) return;
    for (TextColumn& column : columns_) {
      if (column.is_name) column.ShortenTitle();
    }
    NameInFirstColumn();
    columns_.erase(
        std::remove_if(columns_.begin() + std::min(kKept, columns_.size()),
                       columns_.end(),
                       [](const TextColumn& column) {
                         return !column.is_name && column.IsEmpty();
                       }),
        columns_.end());
    FitKey();
    DropNumbers();
    CutNames();
  }

  // Keeps the first columns that fit with their texts cut.
  void KeepFirst() {
    size_t used = 0, kept = 0;
    for (const TextColumn& column : columns_) {
      used += kept == 0 ? 0 : kGap;
      used +=
          column.is_name ? std::min(column.width, kFewestName) : column.width;
      if (kept > 0 && used > terminal_.columns) break;
      ++kept;
    }
    for (size_t i = kept; i < columns_.size(); ++i) {
      left_out_.push_back(columns_[i].cells[0]);
    }
    columns_.erase(columns_.begin() + static_cast<ptrdiff_t>(kept),
                   columns_.end());
  }

  // Takes a column from the widest text until the table fits.
  void CutWidest() {
    std::vector<size_t> widths;
    for (const TextColumn& column : columns_) {
      widths.push_back(column.is_name ? column.width : 0);
    }
    for (size_t width = Width(); width > terminal_.columns; --width) {
      const auto widest = std::max_element(widths.begin(), widths.end());
      if (widest == widths.end() || *widest <= kFewestName) break;
      --*widest;
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].is_name) columns_[i].Cut(widths[i], terminal_.unicode);
    }
  }

  // The key column gets a quarter. Small shares are left out before it gets
  // less than it needs.
  void FitKey() {
    if (columns_.empty() || !columns_[0].is_key) return;
    TextColumn& key = columns_[0];
    const size_t most = std::max(terminal_.columns / 4, kFewestKey);
    const size_t wanted = std::min(key.width, most);
    while (SharesWidth() + wanted > terminal_.columns) {
      size_t least = 0, shares = 0;
      for (size_t i = kKept; i < columns_.size(); ++i) {
        if (columns_[i].heading->look != CellLook::kShare) continue;
        ++shares;
        if (least == 0 || columns_[i].most < columns_[least].most) least = i;
      }
      if (shares < kFewestShares) break;
      columns_.erase(columns_.begin() + least);
    }
    const size_t shares = SharesWidth();
    const size_t left =
        terminal_.columns > shares ? terminal_.columns - shares : 0;
    columns_[0].Cut(std::max(std::min(most, left), kFewestKey),
                    terminal_.unicode);
  }
  size_t SharesWidth() const {
    size_t width = 0;
    for (const TextColumn& column : columns_) {
      if (column.heading->look == CellLook::kShare)
        width += column.width + kGap;
    }
    return width;
  }

  // From the right, but not lines and shares.
  void DropNumbers() {
    for (size_t i = columns_.size(); i-- > kKept;) {
      if (WidthOf(false) <= Room()) return;
      if (!columns_[i].is_name && columns_[i].heading->name != "line" &&
          columns_[i].heading->look != CellLook::kShare) {
        columns_.erase(columns_.begin() + i);
      }
    }
  }

  // The last name gets a third of the room, if that is enough to be useful.
  void CutNames() {
    const size_t numbers = WidthOf(false);
    size_t room = terminal_.columns + kGap;
    room = room > numbers ? room - numbers : 0;
    const bool has_two =
        columns_.size() > 1 && columns_[columns_.size() - 2].is_name;
    if (has_two && WidthOf(true) > room && room / 3 < kFewestName) {
      columns_.pop_back();
    } else if (has_two) {
      const size_t others = WidthOf(true) - columns_.back().width;
      const size_t left = room > others + kGap ? room - others - kGap : 0;
      columns_.back().Cut(std::max(left, room / 3), terminal_.unicode);
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].is_name) continue;
      const size_t others = WidthOf(true) - columns_[i].width;
      const size_t left = room > others ? room - others : 0;
      columns_[i].Cut(std::max<size_t>(left, 8), terminal_.unicode);
    }
  }

  // A row without a file has its name in that column.
  void NameInFirstColumn() {
    if (columns_.size() < 2 || !columns_[columns_.size() - 2].is_name) return;
    TextColumn &file = columns_[columns_.size() - 2], &name = columns_.back();
    for (size_t r = 0; r < file.cells.size(); ++r) {
      if (!file.cells[r].empty()) continue;
      file.cells[r] = std::exchange(name.cells[r], std::string("-"));
    }
    file.Measure();
    name.Measure();
  }

  void AddBars() {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].heading->look != CellLook::kShare) continue;
      const size_t used = Width() + kGap;
      if (used + kFewestBar > terminal_.columns) return;
      bar_columns_ = std::min(terminal_.columns - used, kMostBar);
      bars_after_ = static_cast<int>(i);
      return;
    }
  }

  // The bar's cell is found by its heading, as columns were removed.
  void AddBar(size_t r, std::string* line) const {
    std::string bar;
    if (r > 0) {
      const Table::Heading* const of = columns_[bars_after_].heading;
      const Cell& cell = table_.rows[r - 1][of - table_.headings.data()];
      if (!std::holds_alternative<std::monostate>(cell)) {
        bar = BlockBar(NumberOf(cell), bar_columns_, terminal_.unicode);
      }
    }
    absl::StrAppend(line, std::string(kGap, ' '), terminal_.Bar(bar),
                    std::string(bar_columns_ - ColumnsOf(bar), ' '));
  }

  static constexpr size_t kKept = 2;
  static constexpr size_t kFewestShares = 4;

  const Table& table_;
  const Terminal& terminal_;
  std::vector<TextColumn> columns_;
  std::vector<std::string> left_out_;
  int bars_after_ = -1;
  size_t bar_columns_ = 0;
};

}  // namespace

void PrintTextTable(const Table& table, OutputBuffer* output) {
  TextTable(table, output->terminal(), /*in_order=*/false).Print(output);
}

void PrintTextTableInOrder(const Table& table, OutputBuffer* output) {
  const TextTable text(table, output->terminal(), /*in_order=*/true);
  text.Print(output);
  if (text.left_out().empty()) return;
  output->AppendLines(absl::StrCat(
      "\nwithout room: ", absl::StrJoin(text.left_out(), ", "), "\n"));
}

}  // namespace pymemrun
