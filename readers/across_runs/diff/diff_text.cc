#include "readers/across_runs/diff/diff_text.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/across_runs/diff/gate.h"
#include "readers/across_runs/diff/run_diff.h"
#include "readers/across_runs/diff/unlike_runs.h"
#include "readers/output/screen_text.h"
#include "readers/output/table_columns.h"
#include "readers/output/whole_number.h"
#include "text/escape.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

absl::string_view LabelOf(Total total) {
  static constexpr absl::string_view kLabels[kTotals] = {
      "peak RSS",   "heap at its peak", "heap at the end",
      "RSS growth", "wall time",        "CPU time"};
  return kLabels[static_cast<size_t>(total)];
}

absl::string_view LabelOf(Holding holding) {
  static constexpr absl::string_view kLabels[kHoldings] = {
      "Live bytes at their peak",
      "Live bytes when the program's code had ended",
      "Resident bytes at the highest RSS", "Growth of RSS seen at events"};
  return kLabels[static_cast<size_t>(holding)];
}

// Growth differs from run to run without a reason, so it is shown only if
// nothing better is known.
bool IsLastResort(Holding holding) { return holding == Holding::kGrowth; }

// Names the moment of both sides, each with its own time.
std::string TitleOf(Holding holding, const RunSide& before,
                    const RunSide& after) {
  if (!after.moment().has_value() || IsLastResort(holding)) {
    return std::string(LabelOf(holding));
  }
  const std::string& name = after.moment()->name;
  return absl::StrCat(
      holding == Holding::kHeap ? "Live bytes" : "Resident bytes", " at ", name,
      name.empty() ? "" : " (", "old ", HumanSeconds(before.moment()->time_us),
      ", new ", HumanSeconds(after.moment()->time_us), name.empty() ? "" : ")");
}

// What both runs recorded. Growth depends on which events happened to see it,
// so it counts only if nothing else is known.
std::vector<Holding> Comparable(const RunSide& before, const RunSide& after) {
  std::vector<Holding> found;
  for (size_t i = 0; i < kHoldings; ++i) {
    const auto holding = static_cast<Holding>(i);
    if (!before.knows(holding) || !after.knows(holding)) continue;
    if (IsLastResort(holding) && !found.empty()) continue;
    found.push_back(holding);
  }
  return found;
}

std::string MarkOf(const MatchedPlace& place) {
  return place.is_new    ? "new"
         : place.is_gone ? "gone"
         : place.moved   ? "moved"
         : place.edited  ? "edited"
                         : "";
}

// Whether live bytes of a run are estimates.
bool HasErrors(const RunSide& before, const RunSide& after) {
  return before.total(Total::kHeap).variance > 0 ||
         after.total(Total::kHeap).variance > 0;
}

class DiffPrinter {
 public:
  DiffPrinter(const RunSide& before, const RunSide& after,
              const DiffOptions& options, OutputBuffer* output)
      : before_(before),
        after_(after),
        options_(options),
        has_errors_(HasErrors(before, after)),
        match_(options.by, &before.facts().index(), &after.facts().index()),
        output_(*output) {}

  // Tries the view on an empty table: a wrong column is found before any
  // output.
  absl::Status CanShow() const {
    Table none = PlaceColumns().Make({});
    return options_.view.Apply(0, /*folds=*/false, &none);
  }
  void Print() {
    if (options_.format == TableFormat::kText) {
      PrintTotals();
      PrintUnlike();
      if (options_.stacks) {
        PrintSection(TitleOf(Holding::kHeap, before_, after_), StackTable());
        return;
      }
      const std::vector<Holding> holdings = Comparable(before_, after_);
      for (const Holding holding : holdings) {
        Table table = PlacesOf(holding);
        // The limit is for each kind of bytes.
        const size_t left = Cut(&table);
        PrintSection(TitleOf(holding, before_, after_), table);
        if (left > 0) {
          output_.Append(absl::StrCat(Counted(left, "more row"),
                                      "; --limit 0 lists all\n"));
        }
      }
      if (holdings.empty()) {
        output_.AppendLines(
            "\nNo places can be compared: the runs did not record "
            "the same kinds of events.\n");
      }
      return;
    }
    const bool json = options_.format == TableFormat::kJson;
    if (json) {
      output_.Append("{\"totals\": ");
      PrintTable(TotalTable(), options_.format, &output_);
      output_.Append(options_.stacks ? ", \"stacks\": " : ", \"places\": ");
    }
    PrintTable(options_.stacks ? StackTable() : AllPlaces(), options_.format,
               &output_);
    if (json) output_.Append("}\n");
  }

 private:
  // As much of a total's line as fits: `rest` is left out first, then the old
  // figure.
  std::string TotalLine(absl::string_view name, const std::string& before,
                        const std::string& after, const std::string& change,
                        const std::string& rest) const {
    constexpr size_t kNameColumns = 17, kWideColumns = 80, kFewColumns = 52;
    const Terminal& terminal = output_.terminal();
    const size_t width = terminal.fits() ? terminal.columns : SIZE_MAX;
    const size_t columns = width >= kWideColumns ? 13 : 11;
    std::string text(PadRight(name, kNameColumns));
    if (width >= kFewColumns) absl::StrAppend(&text, PadLeft(before, columns));
    absl::StrAppend(&text, PadLeft(after, columns), PadLeft(change, columns));
    if (ColumnsOf(text) + ColumnsOf(rest) <= width) text += rest;
    return absl::StrCat(absl::StripTrailingAsciiWhitespace(text), "\n");
  }

  // A total that neither run has is left out; one of a single run has no
  // change.
  void PrintTotals() {
    output_.Append(TotalLine("", "old", "new", "change", ""));
    for (size_t i = 0; i < kTotals; ++i) {
      const auto total = static_cast<Total>(i);
      const Figure &was = before_.total(total), &is = after_.total(total);
      if (!was.is_known && !is.is_known) continue;
      const auto text = [total](const Figure& figure) -> std::string {
        return figure.is_known ? FigureText(total, figure.value) : "-";
      };
      std::string change, rest;
      if (was.is_known && is.is_known) {
        const Change both = ChangeOf(was, is);
        change = FigureText(total, both.bytes(), /*with_sign=*/true);
        if (was.value > 0) {
          rest = PadLeft(
              absl::StrFormat("%+.1f %%", 100 * both.bytes() / was.value), 11);
        }
        if (both.variance > 0) {
          absl::StrAppend(&rest, "  ±", HumanBytes(both.Error()));
        }
      }
      output_.Append(
          TotalLine(LabelOf(total), text(was), text(is), change, rest));
    }
  }

  void PrintUnlike() {
    ScreenText text(&output_.terminal());
    for (const std::string& note : UnlikeRuns(before_, after_)) {
      text.Line();
      text.Paragraph(note);
    }
    output_.Append(text.Take());
  }

  void PrintSection(absl::string_view label, const Table& table) {
    output_.Append("\n");
    output_.AppendLines(absl::StrCat(label, "\n"));
    if (!table.rows.empty()) {
      PrintTable(table, TableFormat::kText, &output_);
    } else if (options_.view.chooses_places()) {
      output_.AppendLines("no listed place changed\n");
    } else {
      output_.AppendLines(has_errors_ ? "no significant change\n"
                                      : "nothing changed\n");
    }
  }

  bool as_text() const { return options_.format == TableFormat::kText; }

  // In text the mark comes early, as the last columns are left out first.
  TableColumns<DiffRow> ChangeColumns() const {
    TableColumns<DiffRow> columns;
    columns.AddBytes("change_bytes", "change", [](const DiffRow& row) {
      return SignedNumber(row.change.bytes());
    });
    const auto mark = [](const DiffRow& row) { return MarkOf(row.place); };
    if (as_text()) columns.Add("mark", "mark", mark);
    columns.AddBytes("before_bytes", "old", [](const DiffRow& row) {
      return WholeNumber(row.change.before);
    });
    columns.AddBytes("after_bytes", "new", [](const DiffRow& row) {
      return WholeNumber(row.change.after);
    });
    if (has_errors_ || !as_text()) {
      columns.AddError("error_bytes", "std error", [](const DiffRow& row) {
        return std::fmax(row.change.variance, 0);
      });
    }
    if (!as_text()) columns.Add("mark", mark);
    return columns;
  }

  // For machines, also the place in the run before.
  TableColumns<DiffRow> PlaceColumns() const {
    TableColumns<DiffRow> columns;
    const std::vector<Table::Heading> names = PlaceHeadings(options_.by);
    const auto add = [&](size_t i, std::string name, Place MatchedPlace::*of) {
      columns.Add(std::move(name), names[i].title, names[i].look,
                  [=, by = options_.by](const DiffRow& row) {
                    return PlaceCells(by, row.place.*of)[i];
                  });
    };
    for (size_t i = 0; i < names.size(); ++i) {
      add(i, names[i].name, &MatchedPlace::place);
    }
    columns.Append(ChangeColumns());
    for (size_t i = 0; i < names.size() && !as_text(); ++i) {
      add(i, "before_" + names[i].name, &MatchedPlace::before);
    }
    return columns;
  }

  std::vector<DiffRow> RowsOf(Holding holding) {
    return DiffPlaces(
        before_.places(holding), after_.places(holding),
        as_text() && holding == Holding::kResident ? kLeastResidentBytes : 0,
        &match_);
  }
  // REQUIRES: CanShow().
  Table PlacesOf(Holding holding) {
    Table table = PlaceColumns().Make(RowsOf(holding));
    options_.view.Apply(0, /*folds=*/false, &table).IgnoreError();
    return table;
  }
  // Keeps the first rows. Returns the number of the others.
  size_t Cut(Table* table) const {
    const size_t all = table->rows.size();
    if (options_.limit == 0 || all <= options_.limit) return 0;
    table->rows.resize(options_.limit);
    return all - options_.limit;
  }
  // The tables of all measures, one below the other. Each is sorted for itself,
  // as in text: what is measured differs.
  Table AllPlaces() {
    Table all = PlaceColumns().Make({});
    all.headings.insert(all.headings.begin(), {"measure", ""});
    for (const Holding holding : Comparable(before_, after_)) {
      Table table = PlacesOf(holding);
      Cut(&table);
      for (std::vector<Cell>& row : table.rows) {
        row.insert(row.begin(), std::string(HoldingName(holding)));
        all.rows.push_back(std::move(row));
      }
    }
    return all;
  }

  Table StackTable() {
    const TableColumns<DiffRow> columns = ChangeColumns();
    Table table;
    table.headings = PlaceTree::NameHeadings(options_.format);
    columns.AppendHeadings(&table.headings);
    for (const DiffRow& row : DiffStacks(before_.stacks(), after_.stacks(),
                                         options_.limit, &match_)) {
      table.rows.push_back(
          PlaceTree::NameCells(row.depth, row.place.place, options_.format));
      columns.AppendCells(row, &table.rows.back());
    }
    return table;
  }

  // In bytes and seconds.
  Table TotalTable() const {
    Table table;
    for (const char* const name :
         {"name", "unit", "before", "after", "change", "error"}) {
      table.headings.push_back({name, ""});
    }
    for (size_t i = 0; i < kTotals; ++i) {
      const auto total = static_cast<Total>(i);
      const auto cell = [total](bool is_known, double value) -> Cell {
        if (!is_known) return {};
        if (IsTime(total)) return value / 1e6;
        return SignedNumber(value);
      };
      const Figure &was = before_.total(total), &is = after_.total(total);
      const bool both = was.is_known && is.is_known;
      // Means nothing unless both are known: the cells then stay empty.
      const Change change = ChangeOf(was, is);
      table.rows.push_back(
          {std::string(TotalName(total)),
           std::string(IsTime(total) ? "seconds" : "bytes"),
           cell(was.is_known, was.value), cell(is.is_known, is.value),
           cell(both, change.bytes()), cell(both, change.Error())});
    }
    return table;
  }

  const RunSide &before_, &after_;
  const DiffOptions& options_;
  const bool has_errors_;
  PlaceMatch match_;
  OutputBuffer& output_;
};

std::string NameOf(const RunSide& run) {
  const absl::string_view path = run.facts().header.script();
  const absl::string_view name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "run" : std::string(name);
}

// "name": {"value": 1, ...}, or an entry of an array.
std::string FigureJson(const RunSide& run, Total total, FiguresFormat format) {
  const Figure& figure = run.total(total);
  // One run's own error, not that of a change.
  const double error = Change{0, 0, figure.variance}.Error();
  const auto number = [total](double value) {
    return IsTime(total) ? absl::StrFormat("%.6f", value / 1e6)
                         : absl::StrCat(SignedNumber(value));
  };
  std::string text, name;
  if (format == FiguresFormat::kBencher) {
    text = absl::StrCat("    \"", TotalName(total),
                        "\": {\"value\": ", number(figure.value));
    if (error > 0) {
      absl::StrAppend(&text,
                      ", \"lower_value\": ", number(figure.value - error),
                      ", \"upper_value\": ", number(figure.value + error));
    }
    return text + "}";
  }
  AppendJsonString(absl::StrCat(NameOf(run), " ", TotalName(total)), &name);
  text = absl::StrCat("  {\"name\": ", name, ", \"unit\": \"",
                      IsTime(total) ? "seconds" : "bytes",
                      "\", \"value\": ", number(figure.value));
  if (error > 0) {
    absl::StrAppend(&text, ", \"range\": \"± ", number(error), "\"");
  }
  return text + "}";
}

}  // namespace

absl::Status PrintDiff(const RunSide& before, const RunSide& after,
                       const DiffOptions& options, OutputBuffer* output) {
  DiffPrinter printer(before, after, options, output);
  const absl::Status can_show = printer.CanShow();
  if (can_show.ok()) printer.Print();
  return can_show;
}

std::string FiguresJson(const RunSide& run, FiguresFormat format) {
  std::string figures;
  for (size_t i = 0; i < kTotals; ++i) {
    const auto total = static_cast<Total>(i);
    if (!run.total(total).is_known) continue;
    absl::StrAppend(&figures, figures.empty() ? "" : ",\n",
                    FigureJson(run, total, format));
  }
  if (format == FiguresFormat::kSmallerIsBetter) {
    return absl::StrCat("[\n", figures, "\n]\n");
  }
  std::string name;
  AppendJsonString(NameOf(run), &name);
  return absl::StrCat("{\n  ", name, ": {\n", figures, "\n  }\n}\n");
}

}  // namespace pymemrun
