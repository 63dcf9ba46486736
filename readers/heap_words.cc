#include "readers/heap_words.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "format/terminal_text.h"
#include "readers/option_values.h"

namespace pymemrun {
namespace {

using Command = ReportOptions::Command;

constexpr uint64_t kMostTop = 24;  // series that can be told apart

std::string Found(absl::string_view expected, absl::string_view found) {
  return absl::StrCat("expected ", expected, ", found '", TerminalText(found),
                      "'");
}

// Also one that is too low for every option.
bool IsNumber(absl::string_view text) {
  if (text.size() > 1 && text[0] == '-') text.remove_prefix(1);
  return !text.empty() &&
         text.find_first_not_of("0123456789") == absl::string_view::npos;
}

void DescribeMoment(CLI::App* app, HeapWords* words) {
  app->add_option("--at", words->at,
                  "the moment: peak (default; the most live bytes), end, or "
                  "seconds")
      ->option_text("T");
}

void DescribeHeap(CLI::App* app, HeapWords* words, ReportOptions* options) {
  DescribeMoment(app, words);
  app->add_option("--to", words->to,
                  "show what changed from --at T to this moment")
      ->option_text("T");
  app->add_option("--by", words->by,
                  "line (default), function (Python's), file, thread, "
                  "allocator, module (the file that called malloc)")
      ->option_text("KIND");
  app->add_flag(
      "--leaks", words->leaks,
      "what is alive when the program ends, without what the interpreter keeps "
      "for itself");
  app->add_flag("--reserved", words->reserved,
                "what C code has mapped, touched or not, where the run has "
                "recorded that");
  app->add_option("--temporary", words->temporary,
                  "blocks that were freed before their thread had allocated N "
                  "times more (1)")
      ->option_text("[N]");
  app->add_option("--diff", words->diff,
                  "show what FILE2, another run, has more or less")
      ->option_text("FILE2");
  DescribeCallTrees(app, options);
}

void DescribeHistory(CLI::App* app, HeapWords* words) {
  app->add_option("--interval", words->interval,
                  "the time between moments: 60s, 500ms, 5m (a sixtieth of the "
                  "range)")
      ->option_text("TIME");
  app->add_option("--top", words->top,
                  "a series for each of the N places with the highest peaks "
                  "(10)")
      ->option_text("N");
  app->add_option("--by", words->by,
                  "line (default), function (Python's), file, thread, "
                  "allocator, module, stack")
      ->option_text("KIND");
  app->add_option("--from", words->from, "begin at second T")->option_text("T");
  app->add_option("--to", words->to, "end at second T")->option_text("T");
  app->add_flag("--svg", words->svg, "draw a picture");
}

std::string TakeMoment(absl::string_view option, const std::string& text,
                       HeapMoment* moment) {
  if (text == "peak") {
    moment->kind = HeapMoment::kPeak;
  } else if (text == "end") {
    moment->kind = HeapMoment::kEnd;
  } else {
    const auto time_us = ParseSeconds(text);
    if (!time_us.ok()) {
      return absl::StrCat(option, ": ", Found("peak, end or seconds", text));
    }
    *moment = {HeapMoment::kTime, *time_us};
  }
  return "";
}

// "60s", "500ms", "5m", "2h"; a bare number is seconds.
bool ParseInterval(absl::string_view text, uint64_t* time_us) {
  struct Unit {
    absl::string_view name;
    double us;
  };
  constexpr Unit kUnits[] = {{"us", 1},  {"ms", 1e3},  {"s", 1e6},
                             {"m", 6e7}, {"h", 3.6e9}, {"", 1e6}};
  const size_t digits = text.find_first_not_of("0123456789.");
  const absl::string_view name =
      digits == absl::string_view::npos ? "" : text.substr(digits);
  double value = 0;
  if (!absl::SimpleAtod(text.substr(0, digits), &value)) return false;
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    const double us = value * unit.us;
    *time_us = us >= 1 && us < 1e15 ? static_cast<uint64_t>(us) : 0;
    return *time_us != 0;
  }
  return false;
}

std::string TakeHistory(const HeapWords& words, ReportOptions* options) {
  HeapOptions& heap = options->heap;
  if (!words.interval.empty() &&
      !ParseInterval(words.interval, &heap.interval_us)) {
    return absl::StrCat("--interval: ",
                        Found("a time such as 60s or 500ms", words.interval));
  }
  if (!absl::SimpleAtoi(words.top, &heap.top) || heap.top == 0 ||
      heap.top > kMostTop) {
    return absl::StrCat(
        "--top: ",
        Found(absl::StrCat("a number from 1 to ", kMostTop), words.top));
  }
  for (const bool is_to : {false, true}) {
    const std::string& text = is_to ? words.to : words.from;
    if (text.empty()) continue;
    const auto time_us = ParseSeconds(text);
    if (!time_us.ok()) {
      return absl::StrCat(is_to ? "--to: " : "--from: ",
                          Found("seconds", text));
    }
    (is_to ? heap.to_us : heap.from_us) = *time_us;
  }
  if (heap.to_us <= heap.from_us) return "--to must be after --from";
  options->as_svg = words.svg;
  if (words.svg && options->format != TableFormat::kText) {
    return "give one of --csv, --json and --svg";
  }
  return "";
}

std::string TakeExport(const std::string& format,
                       HeapOptions::Export* export_as) {
  if (format == "pprof") {
    *export_as = HeapOptions::Export::kPprof;
  } else if (format == "collapsed") {
    *export_as = HeapOptions::Export::kCollapsed;
  } else if (format == "speedscope") {
    *export_as = HeapOptions::Export::kSpeedscope;
  } else {
    return absl::StrCat("--format: ",
                        Found("pprof, collapsed or speedscope", format));
  }
  return "";
}

// What does not go together; empty: nothing.
std::string Forbidden(const HeapWords& words, const ReportOptions& options) {
  const HeapOptions& heap = options.heap;
  const int ways = (heap.leaks ? 1 : 0) + (heap.temporary != 0 ? 1 : 0) +
                   (heap.diff ? 1 : 0) + (heap.moments.size() > 1 ? 1 : 0) +
                   (heap.reserved ? 1 : 0);
  if (ways > 1) {
    return "give one of --leaks, --temporary, --diff, --to and --reserved";
  }
  if ((heap.leaks || heap.temporary != 0) && words.at != "peak") {
    return absl::StrCat(heap.leaks ? "--leaks" : "--temporary",
                        " is of the whole run: it takes no --at");
  }
  if (!options.stacks && !options.collapsed) return "";
  if (options.stacks && options.collapsed) {
    return "give one of --stacks and --collapsed";
  }
  if (heap.temporary != 0 || heap.diff || heap.reserved ||
      heap.moments.size() > 1) {
    return "--stacks and --collapsed are of what is alive at one moment";
  }
  if (heap.by == HeapBy::kAllocator || heap.by == HeapBy::kModule) {
    return "--stacks and --collapsed take --by line, function, file or thread";
  }
  return "";
}

}  // namespace

bool IsHeapCommand(Command command) { return command >= Command::kHeap; }

std::vector<std::string> WithTemporaryNumber(
    const std::vector<std::string>& arguments) {
  std::vector<std::string> changed;
  for (size_t i = 0; i < arguments.size(); ++i) {
    changed.push_back(arguments[i]);
    if (arguments[i] != "--temporary") continue;
    const bool has_number =
        i + 1 < arguments.size() && IsNumber(arguments[i + 1]);
    changed.back() += absl::StrCat("=", has_number ? arguments[++i] : "1");
  }
  return changed;
}

void DescribeCallTrees(CLI::App* app, ReportOptions* options) {
  app->add_flag("--stacks", options->stacks,
                "print a tree of call stacks; N is then frames");
  app->add_flag("--collapsed", options->collapsed,
                "print frame;frame;frame bytes, for tools that draw flame "
                "graphs");
}

void DescribeHeapCommand(CLI::App* app, HeapWords* words,
                         ReportOptions* options) {
  switch (options->command) {
    case Command::kHeap:
      return DescribeHeap(app, words, options);
    case Command::kHistory:
      return DescribeHistory(app, words);
    case Command::kSnapshot:
      DescribeMoment(app, words);
      app->add_flag("--collapsed", options->collapsed,
                    "print frame;frame;frame bytes, for tools that draw flame "
                    "graphs");
      return;
    case Command::kFlame:
      DescribeMoment(app, words);
      app->add_flag("--inverted", words->inverted,
                    "begin with the frames that allocated, callers below them");
      app->add_flag("--by-thread", words->by_thread, "a root for each thread");
      return;
    case Command::kExport:
      DescribeMoment(app, words);
      app->add_option("--format", words->format,
                      "pprof (default), collapsed (frame;frame;frame bytes), "
                      "speedscope")
          ->option_text("FORMAT");
      return;
    default:
      return;
  }
}

std::string TakeHeapWords(const HeapWords& words, ReportOptions* options) {
  HeapOptions& heap = options->heap;
  const bool history = options->command == Command::kHistory;
  if (options->files.size() > 1) return "takes one FILE";
  if (!ParseHeapBy(words.by, &heap.by) ||
      (!history && heap.by == HeapBy::kStack)) {
    return absl::StrCat(
        "--by: ",
        Found(history
                  ? "line, function, file, thread, allocator, module or stack"
                  : "line, function, file, thread, allocator or module",
              words.by));
  }
  if (history) return TakeHistory(words, options);
  std::string problem = TakeMoment("--at", words.at, &heap.moments[0]);
  if (problem.empty() && !words.to.empty()) {
    heap.moments.emplace_back();
    problem = TakeMoment("--to", words.to, &heap.moments[1]);
  }
  if (!problem.empty()) return problem;
  if (!words.temporary.empty() &&
      (!absl::SimpleAtoi(words.temporary, &heap.temporary) ||
       heap.temporary == 0)) {
    return absl::StrCat("--temporary: ",
                        Found("a number from 1 on", words.temporary));
  }
  problem = TakeExport(words.format, &heap.export_as);
  if (!problem.empty()) return problem;
  heap.inverted = words.inverted;
  heap.by_thread = words.by_thread;
  heap.leaks = words.leaks;
  heap.reserved = words.reserved;
  heap.diff = !words.diff.empty();
  if (heap.diff) options->files.push_back(words.diff);
  problem = Forbidden(words, *options);
  if (heap.leaks || heap.temporary != 0) {
    heap.moments[0].kind = HeapMoment::kEnd;
  }
  return problem;
}

}  // namespace pymemrun
