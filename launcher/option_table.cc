#include "launcher/option_table.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "format/size_text.h"

namespace pymemrun {
namespace {

// Calls `take` with each piece of a comma-separated list until one is refused.
template <typename Take>
bool EachOf(const std::string& list, Take take) {
  std::string_view rest = list;
  while (true) {
    size_t comma = rest.find(',');
    if (!take(rest.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    rest.remove_prefix(comma + 1);
  }
}

constexpr int64_t kMaxPagePeriod = 10000;

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

template <typename T, size_t N>
bool Choose(const std::string& text, const Named<T> (&names)[N], T* value) {
  for (const Named<T>& candidate : names) {
    if (candidate.name != text) continue;
    *value = candidate.value;
    return true;
  }
  return false;
}

bool ReadTrace(const std::string& text, Options* options) {
  options->trace_given = true;
  options->trace_calls = options->trace_pages = false;
  if (text == "none") return true;
  return EachOf(text, [&](std::string_view part) {
    if (part == "calls") options->trace_calls = true;
    if (part == "pages") options->trace_pages = true;
    return part == "calls" || part == "pages";
  });
}

// Of pages that come fast one in so many has the stack of its moment, where one
// in `weight` is recorded: a prime number, so that lines that touch pages in
// turn do not fall into step with it.
uint32_t SignalPeriod(uint32_t weight) {
  const auto is_prime = [](uint32_t number) {
    for (uint32_t i = 2; i * i <= number; ++i) {
      if (number % i == 0) return false;
    }
    return true;
  };
  uint32_t period = std::max(Options().page_period.faults, weight);
  while (!is_prime(period)) ++period;
  return period;
}

bool ReadPagePeriod(const std::string& text, Options* options) {
  options->page_period = Options().page_period;
  options->page_weight = 1;
  if (text == "auto") return true;
  const std::optional<int64_t> period = ParseNumber(text, 1, kMaxPagePeriod);
  if (!period) return false;
  options->page_weight = static_cast<uint32_t>(*period);
  const bool is_each = options->page_weight == 1;
  options->page_period = {is_each ? 1 : SignalPeriod(options->page_weight),
                          !is_each};
  return true;
}

bool ReadEvents(const std::string& text, Options* options) {
  constexpr std::string_view kKinds[] = {"call", "return", "c_call", "c_return",
                                         "c_except"};
  options->kinds = 0;
  return EachOf(text, [&](std::string_view part) {
    for (size_t i = 0; i < std::size(kKinds); ++i) {
      if (part != kKinds[i]) continue;
      options->kinds |= 1u << i;
      return true;
    }
    return false;
  });
}

bool ReadMinDrss(const std::string& text, Options* options) {
  std::optional<uint64_t> size = ParseSize(text);
  if (size) options->min_drss_bytes = *size;
  return size.has_value();
}

bool ReadDrssSince(const std::string& text, Options* options) {
  constexpr Named<bool> kNames[] = {{"previous", false}, {"logged", true}};
  return Choose(text, kNames, &options->drss_since_logged);
}

bool ReadContext(const std::string& text, Options* options) {
  std::optional<int64_t> count = ParseNumber(text, 0, kMaxContext);
  if (count) options->context = static_cast<uint32_t>(*count);
  return count.has_value();
}

bool ReadRssSource(const std::string& text, Options* options) {
  constexpr Named<GaugeSource> kNames[] = {{"auto", GaugeSource::kAuto},
                                           {"faults", GaugeSource::kFaults},
                                           {"hints", GaugeSource::kHints},
                                           {"rusage", GaugeSource::kRusage},
                                           {"statm", GaugeSource::kStatm}};
  return Choose(text, kNames, &options->rss_source);
}

bool ReadOnFull(const std::string& text, Options* options) {
  constexpr Named<OnFull> kNames[] = {{"block", OnFull::kBlock},
                                      {"drop", OnFull::kDrop}};
  return Choose(text, kNames, &options->on_full);
}

bool ReadCompress(const std::string& text, Options* options) {
  options->compress_level = kNoCompression;
  if (text == "none") return true;
  std::optional<int64_t> level = ParseNumber(text, 1, 19);
  if (level) options->compress_level = static_cast<int>(*level);
  return level.has_value();
}

bool ReadHeap(const std::string& text, Options* options) {
  constexpr Named<HeapMode> kNames[] = {{"off", HeapMode::kOff},
                                        {"sampled", HeapMode::kSampled},
                                        {"all", HeapMode::kAll},
                                        {"stats", HeapMode::kStats}};
  options->heap_given = true;
  return Choose(text, kNames, &options->heap.mode);
}

// The whole of `text` as a number from `lowest` to `highest`.
std::optional<double> ParseReal(const std::string& text, double lowest,
                                double highest) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || std::isspace(text[0])) return {};
  return value >= lowest && value <= highest ? std::optional(value)
                                             : std::nullopt;
}

// `{128:1e-4, 8192:0.1}`: rising sizes, each with its probability.
bool ReadSizeClasses(std::string_view text, HeapRatesConfig* rates) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}')
    return false;
  std::string inside(text.substr(1, text.size() - 2));
  std::erase(inside, ' ');
  rates->mean_bytes = 0;
  return EachOf(inside, [&](std::string_view part) {
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos) return false;
    const std::optional<uint64_t> below = ParseSize(part.substr(0, colon));
    const std::optional<double> probability =
        ParseReal(std::string(part.substr(colon + 1)), 0, 1);
    const size_t i = rates->class_count;
    if (!below || !probability || i == kMaxHeapClasses) return false;
    if (*below <= (i == 0 ? 0 : rates->classes[i - 1].below_bytes)) {
      return false;
    }
    rates->classes[rates->class_count++] = {*below, *probability};
    return true;
  });
}

bool ReadHeapRates(const std::string& text, Options* options) {
  HeapRatesConfig& rates = options->heap.rates;
  const double budget = rates.budget;
  rates = {};
  rates.budget = budget;
  rates.adapt = text == "auto";
  if (rates.adapt) {
    rates.mean_bytes = kAdaptedFromBytes;
    return true;
  }
  const std::optional<uint64_t> mean = ParseSize(text);
  if (!mean) return ReadSizeClasses(text, &rates);
  rates.mean_bytes = *mean;
  return *mean > 0;
}

bool ReadHeapBudget(const std::string& text, Options* options) {
  if (text.empty() || text.back() != '%') return false;
  const std::optional<double> percent =
      ParseReal(text.substr(0, text.size() - 1), 0.1, 100);
  if (percent) options->heap.rates.budget = *percent / 100;
  return percent.has_value();
}

bool ReadHeapDomains(const std::string& text, Options* options) {
  constexpr std::string_view kDomains[] = {"obj", "mem", "raw"};
  options->heap.domains = 0;
  return EachOf(text, [&](std::string_view part) {
    for (size_t i = 0; i < std::size(kDomains); ++i) {
      if (part != kDomains[i]) continue;
      options->heap.domains |= 1u << i;
      return true;
    }
    return false;
  });
}

bool ReadNative(const std::string&, Options* options) {
  options->heap.native = true;
  return true;
}

bool ReadFollow(const std::string& text, Options* options) {
  options->follow = text;
  return text == "none" || text == "fork" || text == "all";
}

bool ReadOutput(const std::string& text, Options* options) {
  options->output = text;
  return !text.empty() && text != "-";
}

bool ReadPython(const std::string& text, Options* options) {
  options->python = text;
  return !text.empty();
}

template <bool Options::*kFlag>
bool SetFlag(const std::string&, Options* options) {
  options->*kFlag = true;
  return true;
}

template <std::vector<std::string> Options::*kList>
bool Append(const std::string& text, Options* options) {
  (options->*kList).push_back(text);
  return !text.empty();
}

}  // namespace

constexpr char kGlob[] = "a file pattern";

const OptionRow kOptionTable[] = {
    {"output", "PATH",
     "the run file; also -o (run.pb in the current folder: always the latest "
     "run, an earlier one is first renamed to old-run.DATE_TIME_PID.pb). "
     "{pid} {time} {name} {host} in PATH expand",
     ReadOutput,
     "the path of a file (the run file never goes to standard output, which is "
     "the program's)",
     false, true},
    {"force", nullptr, "overwrite an output file that exists",
     SetFlag<&Options::force>, "", false, true},
    {"trace", "LIST", "what to trace: calls, pages, both, or none (calls)",
     ReadTrace, "calls, pages, calls,pages or none", false, true},
    {"page-period", "N",
     "with pages: record a random one in N, which stands for N; 1: each, with "
     "the stack of its own moment; auto: each, while they come fast one in 7 "
     "with its own stack and the others with their thread's nearest one (auto)",
     ReadPagePeriod, "auto, or a number from 1 to 10000", false, true, "pages"},
    {"min-drss", "BYTES",
     "log an event when RSS changed by BYTES or more, 0 logs every event (one "
     "page). Sizes: 4096, 4K = 4KiB = 4096, 1M = 1MiB = 1048576, 1MB = 1000000",
     ReadMinDrss, "a whole number of bytes such as 4096, 4KiB or 1M", false,
     true, "calls"},
    {"drss-since", "WHAT",
     "that change is against the `previous` event or the last `logged` one, "
     "which catches slow creep (previous)",
     ReadDrssSince, "previous or logged", false, true, "calls"},
    {"context", "N", "previous events kept before each logged one (1; 0 none)",
     ReadContext, "a number from 0 to 1024", false, true, "calls"},
    {"events", "LIST",
     "kinds to consider: call,return,c_call,c_return,c_except (all)",
     ReadEvents, "a list of call,return,c_call,c_return,c_except", false, true,
     "calls"},
    {"include", "GLOB",
     "only events in files whose full path matches; * crosses /; repeatable",
     Append<&Options::include>, kGlob, true, true, "calls"},
    {"exclude", "GLOB",
     "no events in files whose full path matches; repeatable",
     Append<&Options::exclude>, kGlob, true, true, "calls"},
    {"function", "GLOB", "only events of functions so named; repeatable",
     Append<&Options::function>, "a name pattern", true, true, "calls"},
    {"thread", "GLOB", "only events on threads so named; repeatable",
     Append<&Options::thread>, "a name pattern", true, true, "calls"},
    {"stacks", nullptr, "store the call stack of every logged event",
     SetFlag<&Options::stacks>, "", false, true, "calls"},
    {"rss-source", "SOURCE",
     "where RSS comes from: auto, faults, hints, rusage, statm (auto)",
     ReadRssSource, "auto, faults, hints, rusage or statm", false, true},
    {"verify-rss", nullptr,
     "check that source: read statm beside it at every event, which is slow, "
     "and report how often, for how long and by how much it was wrong",
     SetFlag<&Options::verify_rss>, "", false, true, "calls"},
    {"heap", "MODE",
     "allocations and frees of Python's allocators: off; sampled; all of them; "
     "stats, only a table of their sizes on stderr at the end; without --trace "
     "there is no run file then (sampled)",
     ReadHeap, "off, sampled, all or stats", false, true},
    {"heap-rates", "SPEC",
     "how allocations are sampled: a mean number of bytes between samples; "
     "size classes with their probabilities ({128:1e-4, 8192:0.1}: below 128 "
     "bytes one in 10000, below 8192 one in 10, larger ones always); auto: as "
     "many as the budget allows (512KiB)",
     ReadHeapRates,
     "auto, a size, or {SIZE:PROBABILITY, ...} with rising sizes, at most 16",
     false, true, "sampled"},
    {"heap-budget", "PERCENT",
     "with --heap-rates auto: what heap events may cost, of the program's time "
     "(5%)",
     ReadHeapBudget, "a percentage from 0.1% to 100%", false, true, "auto"},
    {"heap-domains", "LIST",
     "which of Python's allocators: obj,mem,raw (all). What one asks of the "
     "next counts once, as the first's",
     ReadHeapDomains, "a list of obj,mem,raw", false, true, "heap"},
    {"native", nullptr,
     "with --heap: also what C code asks of malloc and its kin, and what it "
     "maps",
     ReadNative, "", false, true, "recorded"},
    {"follow", "WHAT",
     "child processes to trace: none, fork, all (fork; until it is built no "
     "child is traced, and the end report says so)",
     ReadFollow, "none, fork or all", false, true},
    {"paused", nullptr,
     "start untraced, until the script calls pymemrun.start()",
     SetFlag<&Options::paused>, "", false, true},
    {"on-full", "WHAT",
     "when the collector is too slow: block the program for at most 2 s, or "
     "drop (block)",
     ReadOnFull, "block or drop", false, true},
    {"compress", "LEVEL", "zstd level of the run file, 1 to 19, or none (1)",
     ReadCompress, "a number from 1 to 19, or none", false, true},
    {"no-argv", nullptr, "leave script and arguments out of the run file",
     SetFlag<&Options::no_argv>, "", false, true},
    {"trace-startup", nullptr,
     "trace from the interpreter's `import site` on, not from the script on",
     SetFlag<&Options::trace_startup>, "", false, true},
    {"python", "PATH",
     "run as this python: a virtual environment's, or another installation of "
     "the same version (the active virtual environment's, else the built-in)",
     ReadPython, "a path", false, true},
    {"quiet", nullptr, "no end report on stderr", SetFlag<&Options::quiet>, "",
     false, true},
    {"version", nullptr, "show the versions of pymemrun and its interpreter",
     SetFlag<&Options::version>, "", false, false},
    {"help", nullptr, "show this text (-h shows the interpreter's)",
     SetFlag<&Options::help>, "", false, false},
    {nullptr, nullptr, nullptr, nullptr, nullptr, false, false},
};

}  // namespace pymemrun
