#include "readers/cat_options.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/option_values.h"

namespace pymemrun {
namespace {

// The options as they stand on the command line.
struct Words {
  bool text = false, csv = false, jsonl = false, raw = false, summary = false;
  bool no_header = false;
  std::string from, to, what, min_drss, columns, records, every;
};

void DescribeInput(CLI::App* app, CatOptions* options, Words* words) {
  app->add_option("FILE", options->files,
                  "run files; - reads standard input; several are merged by "
                  "time")
      ->option_text(" ");
  app->add_flag("--text", words->text, "print text (default)");
  app->add_flag("--csv", words->csv, "print CSV (RFC 4180)");
  app->add_flag("--jsonl", words->jsonl, "print JSON lines");
  app->add_flag("--raw", words->raw,
                "print the decompressed delimited protobuf stream");
  app->add_flag("--summary", words->summary, "print the run's end report");
  app->add_option("--from", words->from, "from this Clock on, in seconds")
      ->option_text("T");
  app->add_option("--to", words->to, "up to this Clock, in seconds")
      ->option_text("T");
  const auto add_globs = [app](const char* name,
                               std::vector<std::string>* globs,
                               const char* help) {
    app->add_option(name, *globs, help)
        ->allow_extra_args(false)
        ->option_text("GLOB");
  };
  add_globs("--thread", &options->filter.threads,
            "threads by name or name#id; repeatable, like the next two");
  add_globs("--file", &options->filter.files, "by whole path of the file");
  add_globs("--function", &options->filter.functions, "by function");
}

void DescribeOutput(CLI::App* app, CatOptions* options, Words* words) {
  app->add_option("--what", words->what,
                  "kinds: call,return,c_call,c_return,c_except,mark,page,alloc,"
                  "free")
      ->option_text("LIST");
  app->add_option("--min-drss", words->min_drss,
                  "rows with at least this abs(dRSS): 4096, 4KiB, 1M")
      ->option_text("BYTES");
  app->add_option("--every", words->every,
                  "of the rows that pass keep each N-th, with its context")
      ->option_text("N");
  app->add_option("--columns", words->columns, "these columns, in this order")
      ->option_text("LIST");
  app->add_option(
         "--records", words->records,
         "what to print: calls,marks (default both), pages, heap; each "
         "with columns of its own")
      ->option_text("LIST");
  app->add_flag("--no-header", words->no_header, "leave out the header line");
  app->add_flag("--raw-text", options->raw_text,
                "CSV: no ' before cells that look like formulas");
  app->add_flag("--follow", options->follow,
                "go on reading a run that still grows, until it ends");
  app->add_flag("--net", options->net, "subtract the tracer's own bytes");
}

// Sets *target to the parsed value of a word that was given; false once a
// message is in *problem.
template <typename Value>
bool Take(const char* name, const std::string& word,
          absl::StatusOr<Value> (*parse)(absl::string_view), Value* target,
          std::string* problem) {
  if (word.empty()) return true;
  absl::StatusOr<Value> value = parse(word);
  if (!value.ok()) {
    *problem = absl::StrCat(name, ": ", value.status().message());
    return false;
  }
  *target = *std::move(value);
  return true;
}

absl::StatusOr<uint64_t> ParseEvery(absl::string_view text) {
  uint64_t every;
  if (absl::SimpleAtoi(text, &every) && every > 0) return every;
  return absl::InvalidArgumentError(
      absl::StrCat("expected a number above 0, found '", text, "'"));
}

bool TakeFormat(const Words& words, CatOptions* options) {
  using Format = CatOptions::Format;
  const std::pair<bool, Format> formats[] = {{words.text, Format::kText},
                                             {words.csv, Format::kCsv},
                                             {words.jsonl, Format::kJsonl},
                                             {words.raw, Format::kRaw},
                                             {words.summary, Format::kSummary}};
  int given = 0;
  for (const auto& [is_given, format] : formats) {
    if (!is_given) continue;
    options->format = format;
    ++given;
  }
  return given <= 1;
}

// What is wrong with the combination of options; empty: nothing.
std::string Contradiction(const CatOptions& options) {
  using Format = CatOptions::Format;
  const size_t files = options.files.size();
  if (files == 0) return "expected a FILE";
  if (files > CatOptions::kMaxFiles) {
    return absl::StrCat("expected at most ", CatOptions::kMaxFiles,
                        " FILEs, found ", files);
  }
  if (std::count(options.files.begin(), options.files.end(), "-") > 1) {
    return "standard input (-) can be read once only";
  }
  if (options.follow && files > 1) return "--follow takes one FILE";
  if (options.filter.from_us > options.filter.to_us) {
    return "--from is later than --to: there is no time between them";
  }
  if (options.format != Format::kRaw) return "";
  if (files > 1) return "--raw takes one FILE";
  if (!options.filter.PassesEverything() || !options.filter.marks ||
      options.filter.extra.pages || options.filter.extra.heap ||
      !options.columns.empty() || options.net) {
    return "--raw prints the whole stream: it takes no filter and no columns";
  }
  return "";
}

// What is wrong with the words; empty: nothing.
std::string TakeWords(const Words& words, CatOptions* options) {
  if (!TakeFormat(words, options)) {
    return "give one of --text, --csv, --jsonl, --raw, --summary";
  }
  options->with_header = !words.no_header;
  FilterOptions& filter = options->filter;
  std::string problem;
  if (!Take("--from", words.from, ParseSeconds, &filter.from_us, &problem) ||
      !Take("--to", words.to, ParseSeconds, &filter.to_us, &problem) ||
      !Take("--what", words.what, ParseKinds, &filter.kinds, &problem) ||
      !Take("--min-drss", words.min_drss, ParseBytes, &filter.min_drss_bytes,
            &problem) ||
      !Take("--every", words.every, ParseEvery, &filter.every, &problem) ||
      !Take("--columns", words.columns, ParseColumns, &options->columns,
            &problem)) {
    return problem;
  }
  if (!words.records.empty()) {
    const absl::Status status = ParseRecords(words.records, &filter);
    if (!status.ok()) return absl::StrCat("--records: ", status.message());
  } else if (words.what.empty() &&
             (!filter.files.empty() || !filter.functions.empty() ||
              filter.min_drss_bytes > 0)) {
    filter.marks = false;  // they have no file, function or dRSS
  }
  return Contradiction(*options);
}

}  // namespace

std::optional<int> ParseCatOptions(const std::vector<std::string>& arguments,
                                   const Console& console,
                                   CatOptions* options) {
  CLI::App app(
      "Prints the rows of run files as text, CSV, JSON lines or protobuf.",
      console.program);
  Words words;
  DescribeInput(&app, options, &words);
  DescribeOutput(&app, options, &words);
  app.set_version_flag("--version",
                       std::string("pymemcat ") + PYMEMRUN_VERSION);
  const std::optional<int> ended = ParseArguments(&app, arguments, console);
  if (ended.has_value()) return ended;
  const std::string problem = TakeWords(words, options);
  if (problem.empty()) return std::nullopt;
  console.Usage(problem);
  return kExitUsage;
}

}  // namespace pymemrun
