// Options that several commands of pymemreport have. Those of files:
// file_options.h.
#ifndef PYMEMRUN_READERS_REPORT_OPTION_GROUPS_H_
#define PYMEMRUN_READERS_REPORT_OPTION_GROUPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "readers/output/table.h"
#include "readers/places/place_tree.h"
#include "readers/places/table_view.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/growth/profile_table.h"
#include "readers/replay/moments/moment.h"
#include "readers/run/console.h"

namespace pymemrun {

// --csv and --json.
struct FormatOptions {
  bool csv = false, json = false;

  // `rows`: a sentence that says what a row is, where that is not a place.
  void Add(CLI::App* app, const std::string& rows = "");
  TableFormat format() const;
  bool as_text() const { return format() == TableFormat::kText; }
};

// Behind --sort's own sentence.
inline constexpr char kSortsOtherwise[] =
    "Append :asc or :desc to choose the order.";

// And how many rows are listed: for machines all, unless they say otherwise. In
// what order.
struct TableOptions : FormatOptions {
  std::optional<uint64_t> given_limit;
  uint64_t usual_limit = 0;  // 0: all
  TableView view;

  // `listed`: what a row of text is. `otherwise`: what other options do to the
  // usual limit: ", with --off 30".
  void Add(CLI::App* app, uint64_t usual, const std::string& rows = "",
           const std::string& listed = "places",
           const std::string& otherwise = "");
  // Behind Add(): --sort, by a column that the table has.
  void AddSort(CLI::App* app);
  uint64_t limit() const {
    return given_limit.value_or(as_text() ? usual_limit : 0);
  }
  // "3 more processes not shown (--limit)", with a newline; empty: all are.
  std::string NotShown(size_t all, absl::string_view one,
                       absl::string_view many) const;
  // How many rows a table is to be made with.
  uint64_t made_limit() const { return view.any() ? 0 : limit(); }
  // Prints it; as text below the heading, and without what is only for machines
  // or empty.
  void Print(absl::string_view heading, Table table,
             OutputBuffer* output) const;
  // Leaves the rows that are asked for, in their order. Returns of how many
  // these are the first; nothing: a usage error, which has been said. `output`
  // knows which run the table is of, for the message that no row is left.
  std::optional<size_t> Choose(const Console& console, OutputBuffer* output,
                               Table* table) const;
};

// --file, --exclude and --function. `what` is chosen by them: places, series.
void AddFiles(CLI::App* app, const std::string& what, TableView* view);
// The same of places, if --by groups them by what has files, or functions.
// Behind AddGroupBy().
void AddFilesOfPlaces(CLI::App* app, TableView* view);
// Says that these options leave none of the places, if they leave `none`. Names
// the run where `output` has several.
void SayNoPlaces(bool none, const TableView& view, std::optional<GroupBy> by,
                 const Console& console, OutputBuffer* output);
// --task, of places that are tasks.
void AddTasks(CLI::App* app, TableView* view);

// --thread.
void AddThread(CLI::App* app, std::string* thread);
// --thread-attribution, of growth; `usual`: when which.
void AddAttribution(CLI::App* app, std::optional<Attribution>* attribution,
                    const std::string& usual);
// Whether the run has no such thread; says so.
bool SayNoThread(ThreadFilter* threads, absl::string_view shown_name,
                 const Console& console);

// And which.
struct PlaceOptions : TableOptions {
  std::string thread;  // see ThreadFilter

  // Behind --by.
  void AddPlaces(CLI::App* app, uint64_t usual,
                 const std::string& otherwise = "");
  // Prints the table, below the heading if it is text; returns the exit code.
  // `folds`: what is not listed is summed up.
  int PrintPlaces(absl::string_view heading, Table table, GroupBy by,
                  bool folds, const Console& console,
                  OutputBuffer* output) const;
};

// --stacks and --collapsed, of places.
struct StackOptions {
  bool stacks = false, collapsed = false;

  // Behind --own.
  void Add(CLI::App* app);
  bool any() const { return stacks || collapsed; }
  // Prints a tree as they say.
  void Print(const PlaceTree& tree, const TableOptions& options,
             OutputBuffer* output) const;
};

// --by, of these; `help` tells them.
void AddGroupBy(CLI::App* app, GroupBy* by,
                const std::vector<GroupBy>& accepted, const std::string& help);

// --own, which says what the user's own code is.
void AddOwn(CLI::App* app);

// --at, which every report means alike.
void AddMoment(CLI::App* app, Moment* moment);
// Nothing: it was not given.
void AddMoment(CLI::App* app, std::optional<Moment>* moment);

// An option of other commands, which this one refuses and says why.
void Refuse(CLI::App* app, const std::string& name, const std::string& why);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_OPTION_GROUPS_H_
