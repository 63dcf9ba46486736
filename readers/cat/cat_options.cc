#include "readers/cat/cat_options.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/run/run_files.h"

namespace pymemrun {
namespace {

using Format = CatOptions::Format;

constexpr struct {
  const char* name;
  const char* help;
  Format format;
} kFormats[] = {
    {"--text", "Print text (default).", Format::kText},
    {"--csv", "Print CSV (RFC 4180) with a header row.", Format::kCsv},
    {"--jsonl", "Print JSON lines.", Format::kJsonl},
    {"--raw", "Print the decompressed stream of delimited protobuf records.",
     Format::kRaw},
    {"--summary",
     "Print what was recorded, the highest RSS and how the run ended.",
     Format::kSummary},
};

void AddInput(CLI::App* app, CatOptions* options) {
  app->add_option(
         "FILE", options->files,
         "Run files, or folders; - reads standard input. Several are merged by "
         "time.")
      ->option_text("FILE...");
  for (const auto& known : kFormats) {
    app->add_flag_callback(
        known.name, [=] { options->format = known.format; }, known.help);
  }
  app->add_flag(
      "--follow", options->follow,
      "Keep reading a run that is still being written, until it ends.");
}

// Moments are looked up later, in each file; plain times go into the filter
// here.
void AddRange(CLI::App* app, CatOptions* options) {
  AddParsed(app, "--from", &options->from, ParseMoment, "T",
            "Print rows whose Clock is at least T: a time (1.5, 1500ms, 50%), "
            "a mark's label, peak, heap-peak, end or exit. Standard input and "
            "--follow take only times.");
  AddParsed(app, "--to", &options->to, ParseMoment, "T",
            "Print rows up to this Clock.");
}

// An option takes one value each time, so that a FILE may follow it.
void AddFilters(CLI::App* app, FilterOptions* filter) {
  const auto add_globs = [app](const char* name,
                               std::vector<std::string>* globs,
                               const char* help) {
    app->add_option(name, *globs, help)
        ->allow_extra_args(false)
        ->option_text("GLOB");
  };
  add_globs("--thread", &filter->threads,
            "Print rows of threads with this name or name#id. Repeatable.");
  add_globs("--file", &filter->files,
            "Print rows of files with this whole path. Repeatable.");
  add_globs("--function", &filter->functions,
            "Print rows of functions with this name. Repeatable.");
}

// The option --records says what is printed at all, --what chooses among these
// rows.
void AddKinds(CLI::App* app, FilterOptions* filter) {
  AddParsed(app, "--what", &filter->kinds, ParseKinds, "LIST",
            "Print rows of these kinds: call,return,c_call,c_return,c_except "
            "and mark,page,alloc,free,gil.");
  AddParsed(
      app, "--min-drss", &filter->min_drss_bytes, ParseBytes, "BYTES",
      "Print rows whose dRSS is at least BYTES, up or down: 4096, 4KiB, 1M.");
  AddParsed(
      app, "--every", &filter->every,
      [](absl::string_view text) -> absl::StatusOr<uint64_t> {
        const auto every = ParseNumber(text, 1);
        if (!every.ok()) return Expected("a number above 0", text);
        return every;
      },
      "N",
      "Print every Nth row that passes the other filters, with its context.");
  app->add_option_function<std::string>(
         "--records",
         [filter](const std::string& list) {
           const absl::Status status = ParseRecords(list, filter);
           if (!status.ok()) {
             throw CLI::ValidationError("--records",
                                        std::string(status.message()));
           }
         },
         "Print these records: calls,marks (default both), pages, heap, gil. "
         "Each kind has its own columns.")
      ->option_text("LIST");
}

void AddOutput(CLI::App* app, CatOptions* options) {
  AddParsed(app, "--columns", &options->columns, ParseColumns, "LIST",
            "Print these columns, in this order. thread_drss_bytes is empty "
            "for standard input and with --follow.");
  app->add_flag("!--no-header", options->with_header, "Print no header line.");
  app->add_flag(
      "--raw-text", options->raw_text,
      "In CSV, print text that begins with = + - @ without a ' before it.");
  app->add_flag("--net", options->net,
                "Subtract the tracer's own bytes from RSS.");
  app->set_version_flag("--version",
                        std::string("pymemcat ") + PYMEMRUN_VERSION,
                        "Print the version.");
  SetUsualOptions(app, {"--csv", "--jsonl", "--summary", "--from", "--function",
                        "--columns"});
}

// What is wrong with the formats given; empty: nothing.
std::string FormatProblem(const CLI::App& app) {
  int given = 0;
  std::string names;
  for (const auto& known : kFormats) {
    given += app.count(known.name) > 0 ? 1 : 0;
    absl::StrAppend(&names, names.empty() ? "" : ", ", known.name);
  }
  return given > 1 ? absl::StrCat("give one of ", names) : "";
}

// What is wrong with the combination of options; empty: nothing.
std::string Contradiction(const CatOptions& options) {
  const size_t files = options.files.size();
  if (files == 0) return "expected a FILE";
  if (files > CatOptions::kMaxFiles) {
    return absl::StrCat("expected at most ", CatOptions::kMaxFiles,
                        " FILEs, found ", files);
  }
  if (std::count(options.files.begin(), options.files.end(), "-") > 1) {
    return "standard input (-) can be read only once";
  }
  if (options.follow && files > 1) return "--follow takes one FILE";
  if (options.filter.from_us > options.filter.to_us) {
    return "--from is later than --to: there is no time between them";
  }
  // A moment needs a reading of its own before rows are printed.
  if (options.SeekMoments() &&
      (options.follow || absl::c_linear_search(options.files, "-"))) {
    return "--from and --to take only times if the run can be read only once";
  }
  if (options.format != Format::kRaw) return "";
  if (files > 1) return "--raw takes one FILE";
  if (!options.filter.PassesEverything() || options.SeekMoments() ||
      !options.filter.marks || options.filter.extra.any() ||
      !options.columns.empty() || options.net) {
    return "--raw prints the whole stream: it takes no filter and no columns";
  }
  return "";
}

}  // namespace

// Text has columns of its own unless some are named.
bool CatOptions::HasColumn(Column column) const {
  if (!filter.calls) return false;
  if (columns.empty() && format != Format::kCsv && format != Format::kJsonl) {
    return false;
  }
  const std::vector<Column> machine = MachineColumns(filter.extra);
  const std::vector<Column>& printed = columns.empty() ? machine : columns;
  return std::count(printed.begin(), printed.end(), column) > 0;
}

// Single options are checked while they are parsed, combinations after that.
std::optional<int> ParseCatOptions(const std::vector<std::string>& arguments,
                                   const Console& console,
                                   CatOptions* options) {
  CLI::App app(
      "Prints the rows of run files as text, CSV, JSON lines or protobuf.",
      console.program);
  FilterOptions& filter = options->filter;
  AddInput(&app, options);
  AddRange(&app, options);
  AddFilters(&app, &filter);
  AddKinds(&app, &filter);
  AddOutput(&app, options);
  const std::optional<int> ended = ParseArguments(&app, arguments, console);
  if (ended.has_value()) return ended;
  if (!options->SeekMoments()) {
    if (options->from.has_value()) filter.from_us = options->from->time_us;
    if (options->to.has_value()) filter.to_us = options->to->time_us;
  }
  const bool has_places = !filter.files.empty() || !filter.functions.empty() ||
                          filter.min_drss_bytes > 0;
  if (has_places && app.count("--records") + app.count("--what") == 0) {
    filter.marks = false;  // they have no file, function or dRSS
  }
  options->files = WithFolders(options->files);
  std::string problem = FormatProblem(app);
  if (problem.empty()) problem = Contradiction(*options);
  if (problem.empty()) return std::nullopt;
  console.Usage(problem);
  return kExitUsage;
}

// The order of kNames is that of What, then of the bits in FilterOptions.
absl::StatusOr<uint32_t> ParseKinds(absl::string_view list) {
  static constexpr absl::string_view kNames[] = {
      "call", "return", "c_call", "c_return", "c_except",
      "mark", "page",   "alloc",  "free",     "gil"};
  uint32_t kinds = 0;
  for (absl::string_view word : absl::StrSplit(list, ',')) {
    const auto* found = std::find(std::begin(kNames), std::end(kNames),
                                  absl::AsciiStrToLower(word));
    if (found == std::end(kNames)) {
      return IsNot(
          word,
          "a kind of event; there are "
          "call,return,c_call,c_return,c_except,mark,page,alloc,free,gil");
    }
    kinds |= 1u << (found - std::begin(kNames));
  }
  return kinds;
}

// The list replaces the defaults, so both begin as unset.
absl::Status ParseRecords(absl::string_view list, FilterOptions* options) {
  options->calls = options->marks = false;
  options->extra = {};
  for (absl::string_view word : absl::StrSplit(list, ',')) {
    if (word == "calls") {
      options->calls = true;
    } else if (word == "marks") {
      options->marks = true;
    } else if (word == "pages") {
      options->extra.pages = true;
    } else if (word == "heap") {
      options->extra.heap = true;
    } else if (word == "gil") {
      options->extra.gil = true;
    } else {
      return IsNot(word,
                   "a kind of record; there are calls,marks,pages,heap,gil");
    }
  }
  return absl::OkStatus();
}

}  // namespace pymemrun
