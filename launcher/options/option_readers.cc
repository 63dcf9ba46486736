#include "launcher/options/option_readers.h"

#include <signal.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "text/size_text.h"

namespace pymemrun {
namespace {

// Calls `take` with each piece of a comma-separated list until it refuses one.
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

// One page in 10,000 is one in 40 MB.
constexpr int64_t kMaxPagePeriod = 10000;

// Reads a list of `names`: name i sets bit i.
template <size_t N>
bool ReadBits(const std::string& text, const std::string_view (&names)[N],
              uint32_t* bits) {
  *bits = 0;
  return EachOf(text, [&](std::string_view part) {
    const auto* name = std::find(std::begin(names), std::end(names), part);
    if (name == std::end(names)) return false;
    *bits |= 1u << (name - std::begin(names));
    return true;
  });
}

// In a burst, one page in this many gets its own stack, if 1 in `weight` is
// recorded. The number is prime, so that lines that touch pages in turn do not
// correlate with it.
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

// The whole of `text` as a number from `lowest` to `highest`. strtod(3) skips
// spaces at the start, which are refused here. A NaN fails both comparisons.
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

}  // namespace

bool ReadTrace(const std::string& text, Options* options) {
  uint32_t bits = 0;
  const bool valid = text == "none" || ReadBits(text, kTraceWords, &bits);
  options->trace_given = true;
  options->traces = TraceSet(bits);
  return valid;
}

// Modules are named as in an import statement. Paths and relative names are
// refused.
bool ReadImport(const std::string& text, Options* options) {
  return EachOf(text, [options](std::string_view name) {
    constexpr std::string_view kNotInNames = " /\\\t\n";
    options->import.emplace_back(name);
    return !name.empty() && name.front() != '.' &&
           name.find_first_of(kNotInNames) == std::string_view::npos;
  });
}

// At most 10 digits, so that the product fits 64 bits: an hour has as many us.
bool ReadGilMin(const std::string& text, Options* options) {
  constexpr Named<uint64_t> kUnits[] = {
      {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
  constexpr uint64_t kMostNs = uint64_t{3600} * 1000000000;
  const size_t digits =
      std::min(text.find_first_not_of("0123456789"), text.size());
  uint64_t unit = 0;
  if (digits == 0 || digits > 10 ||
      !Choose(text.substr(digits), kUnits, &unit)) {
    return false;
  }
  options->gil_min_ns = std::stoull(text.substr(0, digits)) * unit;
  return options->gil_min_ns != 0 && options->gil_min_ns <= kMostNs;
}

// auto: all pages are recorded, and signals are rare in bursts. 1: each page
// has a signal. N: one page in N is recorded, and bursts have few signals, too.
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
  return ReadBits(text, {"call", "return", "c_call", "c_return", "c_except"},
                  &options->kinds);
}

bool ReadMinDrss(const std::string& text, Options* options) {
  std::optional<uint64_t> size = ParseSize(text);
  if (size) options->min_drss_bytes = *size;
  return size.has_value();
}

bool ReadMinCallDrss(const std::string& text, Options* options) {
  const std::optional<uint64_t> size = ParseSize(text);
  if (!size || *size == 0) return false;
  options->min_call_drss_bytes = *size;
  return true;
}

bool ReadContext(const std::string& text, Options* options) {
  std::optional<int64_t> count = ParseNumber(text, 0, kMaxContext);
  if (count) options->context = static_cast<uint32_t>(*count);
  return count.has_value();
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

// The budget is an option of its own, and the two come in any order: so it is
// kept. A size is a mean distance, braces hold classes.
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
  return ReadBits(text, {"obj", "mem", "raw"}, &options->heap.domains);
}

bool ReadLight(const std::string&, Options* options) {
  options->heap.native = true;
  // A signal for each page that comes costs more than the rest together.
  if (options->page_source == PageSource::kAuto) {
    options->page_source = PageSource::kScan;
  }
  return ReadTrace("pages", options) && ReadHeap("sampled", options);
}

bool ReadFull(const std::string&, Options* options) {
  options->heap.native = true;
  return ReadTrace("calls,pages", options) && ReadHeap("all", options);
}

namespace {

// A name such as USR2, SIGUSR2 or RTMIN+3; 0 for anything else, and for what no
// program can handle.
int SignalOf(std::string_view name) {
  constexpr Named<int> kNames[] = {
      {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP},
      {"QUIT", SIGQUIT}, {"PWR", SIGPWR},   {"WINCH", SIGWINCH},
      {"CONT", SIGCONT}, {"URG", SIGURG},   {"IO", SIGIO},
      {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"INT", SIGINT},
  };
  if (name.substr(0, 3) == "SIG") name.remove_prefix(3);
  int number = 0;
  if (name.substr(0, 6) == "RTMIN+") {
    // SIGRTMIN is known only at run time: glibc keeps some of the kernel's for
    // itself (signal(7)).
    const std::string digits(name.substr(6));
    if (digits.empty() || digits.size() > 2 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      return 0;
    }
    number = SIGRTMIN + std::stoi(digits);
    return number <= SIGRTMAX ? number : 0;
  }
  Choose(std::string(name), kNames, &number);
  return number;
}

// A time such as 60s, 5m or 500ms, from `least` to a week; 0 for anything else.
uint64_t MillisecondsOf(std::string_view text, uint64_t least = 100) {
  constexpr uint64_t kMost = uint64_t{7} * 24 * 3600 * 1000;
  constexpr Named<uint64_t> kUnits[] = {
      {"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000}};
  const size_t digits =
      std::min(text.find_first_not_of("0123456789"), text.size());
  uint64_t unit = 0;
  if (digits == 0 || digits > 9 ||
      !Choose(std::string(text.substr(digits)), kUnits, &unit)) {
    return 0;
  }
  const uint64_t time = std::stoull(std::string(text.substr(0, digits))) * unit;
  return time >= least && time <= kMost ? time : 0;
}

// False, too, where a moment of this kind was given already: only one of
// the two would count.
bool ReadMoment(std::string_view moment, ObjectsConfig* objects) {
  constexpr std::string_view kSignal = "signal:", kEvery = "every:";
  constexpr std::string_view kRss = "rss>";
  const auto set = [](auto* field, auto value) {
    if (value == 0 || *field != 0) return false;
    *field = value;
    return true;
  };
  if (moment == "peak") return set(&objects->at_peak, true);
  if (moment == "exit") return set(&objects->at_exit, true);
  if (moment == "signal") return set(&objects->signal, SIGUSR2);
  if (moment.substr(0, kEvery.size()) == kEvery) {
    return set(&objects->every_ms,
               MillisecondsOf(moment.substr(kEvery.size())));
  }
  if (moment.substr(0, kRss.size()) == kRss) {
    return set(&objects->rss_above_bytes,
               ParseSize(moment.substr(kRss.size())).value_or(0));
  }
  if (moment.substr(0, kSignal.size()) != kSignal) return false;
  return set(&objects->signal, SignalOf(moment.substr(kSignal.size())));
}

}  // namespace

bool ReadCountersEvery(const std::string& text, Options* options) {
  options->counters_every_ms = MillisecondsOf(text, 10);
  return options->counters_every_ms != 0;
}

bool ReadObjects(const std::string& text, Options* options) {
  return EachOf(text, [options](std::string_view moment) {
    return ReadMoment(moment, &options->objects);
  });
}

bool ReadFollow(const std::string& text, Options* options) {
  options->follow = text == "none"   ? Follow::kNone
                    : text == "fork" ? Follow::kFork
                                     : Follow::kAll;
  return text == "none" || text == "fork" || text == "all";
}

bool ReadOutput(const std::string& text, Options* options) {
  return SetText<&Options::output>(text, options) && text != "-";
}

}  // namespace pymemrun
