#include "readers/report/option_groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/places/place_table.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {

void FormatOptions::Add(CLI::App* app, const std::string& rows) {
  const std::string more = rows.empty() ? "" : " " + rows;
  app->add_flag("--csv", csv, absl::StrCat("Print CSV.", more));
  app->add_flag("--json", json, absl::StrCat("Print JSON.", more));
  ExcludeEachOther(app, {"--csv", "--json"});
}

TableFormat FormatOptions::format() const {
  return csv    ? TableFormat::kCsv
         : json ? TableFormat::kJson
                : TableFormat::kText;
}

// The default depends on the format, which is known only after parsing: see
// limit().
void TableOptions::Add(CLI::App* app, uint64_t usual, const std::string& rows,
                       const std::string& listed,
                       const std::string& otherwise) {
  FormatOptions::Add(app, rows);
  usual_limit = usual;
  const std::string number = usual == 0 ? "all" : absl::StrCat(usual);
  const std::string help =
      usual == 0 && otherwise.empty()
          ? ", the default)."
          : absl::StrCat("). Default ", number, otherwise, "; CSV, JSON: all.");
  AddParsed(
      app, "--limit", &given_limit,
      [](absl::string_view text) { return ParseNumber(text, 0); }, "N",
      absl::StrCat("List at most N ", listed, " (0: all", help));
}

void TableOptions::AddSort(CLI::App* app) {
  app->add_option(
         "--sort", view.sort,
         absl::StrCat("Sort by a column of the table: the largest size "
                      "first, names from A to Z. ",
                      kSortsOtherwise))
      ->option_text("COLUMN")
      ->group(kMoreOptions);
}

namespace {

// An option of one value each time it is given, so that a FILE may follow it.
void AddGlobs(CLI::App* app, const std::string& name, const std::string& what,
              std::vector<std::string>* globs) {
  app->add_option(name, *globs, absl::StrCat("List ", what, ". Repeatable."))
      ->option_text("GLOB")
      ->allow_extra_args(false);
}

}  // namespace

// `what` begins each help text: "places of files that ...".
void AddFiles(CLI::App* app, const std::string& what, TableView* view) {
  AddGlobs(
      app, "--file",
      absl::StrCat(
          what,
          "files whose path, or the end of it, matches GLOB: etl.py, pandas/*"),
      &view->files);
  AddGlobs(app, "--exclude", absl::StrCat(what, "files that do not match GLOB"),
           &view->excluded);
  AddGlobs(app, "--function",
           absl::StrCat(what, "functions whose names match GLOB"),
           &view->functions);
}

// A thread or an allocator has no file to choose by.
void AddFilesOfPlaces(CLI::App* app, TableView* view) {
  AddFiles(app, "", view);
  Need(app, {"--file", "--exclude"}, "--by line|library-line|function|file");
  Need(app, {"--function"}, "--by line|library-line|function");
}

namespace {

void SayLeavesNone(const TableView& view, absl::string_view of,
                   const Console& console, OutputBuffer* output) {
  const std::string& run = output->runs().name;
  console.Say(absl::StrCat(TerminalText(run), run.empty() ? "" : ": ",
                           view.LeavesNone(), of));
}

}  // namespace

void SayNoPlaces(bool none, const TableView& view, std::optional<GroupBy> by,
                 const Console& console, OutputBuffer* output) {
  if (!none || !view.chooses_places()) return;
  SayLeavesNone(view,
                by == GroupBy::kLine
                    ? "place; --by library-line lists those of libraries, too"
                    : "place",
                console, output);
}

void AddTasks(CLI::App* app, TableView* view) {
  AddGlobs(app, "--task", "tasks whose names match GLOB", &view->tasks);
}

std::string TableOptions::NotShown(size_t all, absl::string_view one,
                                   absl::string_view many) const {
  if (limit() == 0 || all <= limit()) return "";
  return absl::StrCat(Counted(all - limit(), absl::StrCat("more ", one),
                              absl::StrCat("more ", many)),
                      " not shown (--limit)\n");
}

// Machines get all columns, so that a script finds the same ones in each run.
void TableOptions::Print(absl::string_view heading, Table table,
                         OutputBuffer* output) const {
  if (as_text()) {
    output->AppendLines(heading);
    DropRough(&table);
    DropEmptyColumns(&table);
  }
  PrintTable(table, format(), output);
}

// Rows behind table->places, such as sums, are kept: only places are cut.
std::optional<size_t> TableOptions::Choose(const Console& console,
                                           OutputBuffer* output,
                                           Table* table) const {
  const bool any = table->places > 0;
  TableView shown = view;
  shown.drops_empty = as_text();
  const absl::Status applied = shown.Apply(0, /*folds=*/false, table);
  if (!applied.ok()) {
    console.Usage(applied.message());
    return std::nullopt;
  }
  const size_t all = table->places;
  if (any && all == 0) SayLeavesNone(view, "row", console, output);
  if (limit() != 0 && limit() < all) {
    const auto begin = table->rows.begin();
    table->rows.erase(begin + static_cast<ptrdiff_t>(limit()),
                      begin + static_cast<ptrdiff_t>(all));
    table->places = limit();
  }
  return all;
}

void AddThread(CLI::App* app, std::string* thread) {
  app->add_option("--thread", *thread,
                  "Show only threads with this name, pattern or id.")
      ->option_text("NAME|ID");
}

void AddAttribution(CLI::App* app, std::optional<Attribution>* attribution,
                    const std::string& usual) {
  AddChoice(
      app, "--thread-attribution", attribution,
      Choices<std::optional<Attribution>>{{"caused", Attribution::kCaused},
                                          {"observed", Attribution::kObserved}},
      "WHOSE",
      absl::StrCat("Charge growth to the thread whose page faults added the "
                   "pages (caused), or to the thread whose event recorded it "
                   "(observed). ",
                   usual));
}

// Threads are known only when the file was read, so a wrong name is no parse
// error.
bool SayNoThread(ThreadFilter* threads, absl::string_view shown_name,
                 const Console& console) {
  const absl::Status known = threads->Check();
  if (known.ok()) return false;
  console.Say(absl::StrCat(shown_name, ": ", known.message()));
  return true;
}

// What every report of places takes. The order is that of the help.
void PlaceOptions::AddPlaces(CLI::App* app, uint64_t usual,
                             const std::string& otherwise) {
  Add(app, usual, "", "places", otherwise);
  AddSort(app);
  AddFilesOfPlaces(app, &view);
  AddTasks(app, &view);
  AddThread(app, &thread);
  Need(app, {"--task"}, "--by task");
}

// Without a choice or an order of the user's, the table was made with the
// limit.
int PlaceOptions::PrintPlaces(absl::string_view heading, Table table,
                              GroupBy by, bool folds, const Console& console,
                              OutputBuffer* output) const {
  if (view.any()) {
    const absl::Status applied = view.Apply(limit(), folds, &table);
    if (!applied.ok()) {
      console.Usage(applied.message());
      return kExitUsage;
    }
    SayNoPlaces(table.places == 0, view, by, console, output);
  }
  if (as_text()) {
    output->AppendLines(heading);
    DropRough(&table);
  }
  PrintTable(table, format(), output);
  return kExitOk;
}

// Collapsed stacks have no limit: tools that draw them need all.
void StackOptions::Print(const PlaceTree& tree, const TableOptions& options,
                         OutputBuffer* output) const {
  if (collapsed) return tree.PrintCollapsed(output);
  Table table = tree.ToTable(options.limit(), options.format());
  if (options.as_text()) DropRough(&table);
  PrintTable(table, options.format(), output);
}

void StackOptions::Add(CLI::App* app) {
  app->add_flag(
      "--stacks", stacks,
      "Print a tree of call stacks. --limit N then counts frames. The column "
      "self has what a frame holds itself, without the frames below it.");
  app->add_flag("--collapsed", collapsed,
                "Print a line for each stack, frame;frame;frame bytes, for "
                "tools that draw flame graphs.");
  // Trees have all frames, whoever's they are.
  Exclude(app, {"--stacks", "--collapsed"}, {"--own"});
  Exclude(app, {"--collapsed"}, {"--csv", "--json", "--limit"});
  Exclude(app, {"--stacks", "--collapsed"},
          {"--sort", "--file", "--exclude", "--function"});
  ExcludeEachOther(app, {"--stacks", "--collapsed"});
}

void AddGroupBy(CLI::App* app, GroupBy* by,
                const std::vector<GroupBy>& accepted, const std::string& help) {
  Choices<GroupBy> choices;
  for (const GroupBy of : accepted) choices.emplace_back(GroupByName(of), of);
  AddChoice(app, "--by", by, choices, "KIND", help);
}

// Sets a global of OwnCode, as every index of a run asks it.
void AddOwn(CLI::App* app) {
  app->add_option_function<std::vector<std::string>>(
         "--own", OwnCode::SetPatterns,
         "Treat only files that match GLOB as your code. GLOB may match the "
         "end of a path. Repeatable.")
      ->option_text("GLOB")
      ->allow_extra_args(false);
}

namespace {

template <typename Target>
void AddMomentTo(CLI::App* app, Target* moment) {
  AddParsed(app, "--at", moment, ParseMoment, "T",
            "Show this moment: peak (default; the highest RSS), heap-peak (the "
            "most live bytes), end (of the program's code) or exit (after "
            "finalization). Also takes a time (1.5, 1500ms, 50%) or a mark's "
            "label.");
}

}  // namespace

void AddMoment(CLI::App* app, Moment* moment) { AddMomentTo(app, moment); }

void AddMoment(CLI::App* app, std::optional<Moment>* moment) {
  AddMomentTo(app, moment);
}

// A hidden option whose parsing fails: the message is better than "unknown".
void Refuse(CLI::App* app, const std::string& name, const std::string& why) {
  app->add_option_function<std::string>(name,
                                        [name, why](const std::string&) {
                                          throw CLI::ValidationError(name, why);
                                        })
      ->group("");
}

}  // namespace pymemrun
