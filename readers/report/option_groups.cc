#include "readers/report/option_groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "readers/options/option_values.h"
#include "readers/places/rough_rows.h"
#include "text/report_text.h"

namespace pymemrun {

void FileOptions::Add(CLI::App* app, const char* usage, const char* help) {
  app->add_option("FILE", paths, help)->required()->option_text(usage);
}

void FileOptions::AddOne(CLI::App* app) {
  count = 1;
  Add(app, "FILE...", "Run files, or folders; - reads standard input.");
}

void FileOptions::AddTwo(CLI::App* app) {
  count = 2;
  Add(app, "OLD NEW", "Two run files; - reads standard input.");
}

void FileOptions::AddSeveral(CLI::App* app) {
  Add(app, "FILE...", "Run files, or folders; - reads standard input.");
}

void FileOptions::AddOutput(CLI::App* app) {
  app->add_option("-o,--output", output,
                  "Write to PATH instead of standard output. An older file "
                  "there is replaced only if all went well.")
      ->option_text("PATH");
  AddChoice<ColorMode>(
      app, "--color", &colors,
      {{"auto", ColorMode::kAuto},
       {"always", ColorMode::kAlways},
       {"never", ColorMode::kNever}},
      "WHEN",
      "Print colours on a terminal without $NO_COLOR (auto, the default), "
      "always or never.");
}

std::vector<std::string> FileOptions::All() const {
  std::vector<std::string> all = paths;
  if (!compared.empty()) all.push_back(compared);
  return all;
}

std::string FileOptions::Problem() const {
  if (count == 2 && paths.size() != 2) {
    return absl::StrCat("takes two files, OLD and NEW, found ", paths.size());
  }
  const std::vector<std::string> all = All();
  if (std::count(all.begin(), all.end(), "-") > 1) {
    return "standard input (-) can be read once only";
  }
  return "";
}

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

void TableOptions::Add(CLI::App* app, uint64_t usual, const std::string& rows) {
  FormatOptions::Add(app, rows);
  usual_limit = usual;
  AddParsed(
      app, "--limit", &given_limit,
      [](absl::string_view text) { return ParseNumber(text, 0); }, "N",
      absl::StrCat("List at most N rows (", usual,
                   usual == 0 ? ": all)." : "; CSV and JSON: all). 0: all."));
}

void AddFiles(CLI::App* app, const std::string& what, TableView* view) {
  const auto add_globs = [app](const char* name, const std::string& help,
                               std::vector<std::string>* globs) {
    app->add_option(name, *globs, help)
        ->option_text("GLOB")
        ->allow_extra_args(false);
  };
  add_globs("--file",
            absl::StrCat("List ", what,
                         "files that match GLOB, or whose path ends so: "
                         "etl.py, pandas/*. Repeatable."),
            &view->files);
  add_globs("--exclude",
            absl::StrCat("List ", what, "other files than these. Repeatable."),
            &view->excluded);
}

std::string TableOptions::NotShown(size_t all, absl::string_view one,
                                   absl::string_view many) const {
  if (limit() == 0 || all <= limit()) return "";
  return absl::StrCat(Counted(all - limit(), absl::StrCat("more ", one),
                              absl::StrCat("more ", many)),
                      " not shown (--limit)\n");
}

void TableOptions::Print(absl::string_view heading, Table table,
                         OutputBuffer* output) const {
  if (as_text()) {
    output->AppendLines(heading);
    DropRough(&table);
    DropEmptyColumns(&table);
  }
  PrintTable(table, format(), output);
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
      absl::StrCat("Whose growth is: caused, of the thread whose faults "
                   "brought the pages; observed, of the thread whose "
                   "event saw it. ",
                   usual));
}

void SayNoCause(absl::string_view shown_name, const Console& console) {
  console.Say(absl::StrCat(shown_name, ": ", LackText(Recorded::kFaults)));
}

bool SayNoThread(ThreadFilter* threads, absl::string_view shown_name,
                 const Console& console) {
  const absl::Status known = threads->Check();
  if (known.ok()) return false;
  console.Say(absl::StrCat(shown_name, ": ", known.message()));
  return true;
}

void PlaceOptions::AddPlaces(CLI::App* app, uint64_t usual) {
  Add(app, usual);
  app->add_option(
         "--sort", view.sort,
         "Sort by a column, such as file or live: sizes go down, names "
         "up.")
      ->option_text("COLUMN");
  AddFiles(app, "", &view);
  AddThread(app, &thread);
  Need(app, {"--file", "--exclude"}, "--by line|library-line|function|file");
}

int PlaceOptions::PrintPlaces(absl::string_view heading, Table table,
                              GroupBy by, bool folds, const Console& console,
                              OutputBuffer* output) const {
  if (view.any()) {
    const absl::Status applied = view.Apply(limit(), folds, &table);
    if (!applied.ok()) {
      console.Usage(applied.message());
      return kExitUsage;
    }
    if (table.places == 0 && view.chooses_files()) {
      const bool both = !view.files.empty() && !view.excluded.empty();
      console.Say(absl::StrCat(
          both                 ? "--file and --exclude leave"
          : view.files.empty() ? "--exclude leaves"
                               : "--file leaves",
          " no place",
          by == GroupBy::kLine
              ? " of your code's; --by library-line has those of libraries"
              : ""));
    }
  }
  if (as_text()) {
    output->AppendLines(heading);
    DropRough(&table);
  }
  PrintTable(table, format(), output);
  return kExitOk;
}

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
      "Print a tree of call stacks. --limit N then counts frames; self "
      "is without the frames below.");
  app->add_flag("--collapsed", collapsed,
                "Print a line for each stack, frame;frame;frame bytes, for "
                "tools that draw flame graphs.");
  Exclude(app, {"--collapsed"}, {"--csv", "--json", "--limit"});
  Exclude(app, {"--stacks", "--collapsed"}, {"--sort", "--file", "--exclude"});
  ExcludeEachOther(app, {"--stacks", "--collapsed"});
}

void AddGroupBy(CLI::App* app, GroupBy* by,
                const std::vector<GroupBy>& accepted, const std::string& help) {
  Choices<GroupBy> choices;
  for (const GroupBy of : accepted) choices.emplace_back(GroupByName(of), of);
  AddChoice(app, "--by", by, choices, "KIND", help);
}

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
            "most live bytes), end (of the program's code) "
            "or exit (after finalization). Or a time (1.5, 1500ms, 50%), "
            "or a mark's label.");
}

}  // namespace

void AddMoment(CLI::App* app, Moment* moment) { AddMomentTo(app, moment); }

void AddMoment(CLI::App* app, std::optional<Moment>* moment) {
  AddMomentTo(app, moment);
}

void Refuse(CLI::App* app, const std::string& name, const std::string& why) {
  app->add_option_function<std::string>(name,
                                        [name, why](const std::string&) {
                                          throw CLI::ValidationError(name, why);
                                        })
      ->group("");
}

}  // namespace pymemrun
