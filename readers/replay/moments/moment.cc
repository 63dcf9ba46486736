#include "readers/replay/moments/moment.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "readers/run/replay_visitor.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Whether these are digits with at most one point: no sign, exponent, "inf" or
// "nan".
bool IsPlainDecimal(absl::string_view text) {
  return !text.empty() && text != "." &&
         std::count(text.begin(), text.end(), '.') <= 1 &&
         text.find_first_not_of("0123456789.") == absl::string_view::npos;
}

absl::Status Expected(absl::string_view expected, absl::string_view found) {
  return absl::InvalidArgumentError(absl::StrCat(
      "expected ", expected, ", found '", TerminalText(found), "'"));
}

// How far `to` is behind `from`; nothing: each run has its own.
std::optional<double> Between(const Moment& from, const Moment& to) {
  if (from.kind != to.kind) return std::nullopt;
  if (from.kind == Moment::kShare) return to.share - from.share;
  if (from.kind != Moment::kTime) return std::nullopt;
  return static_cast<double>(to.time_us) - static_cast<double>(from.time_us);
}

}  // namespace

// The unit is what follows the digits, as a whole: "5min" is no time.
std::optional<uint64_t> ParseDuration(absl::string_view text) {
  struct Unit {
    absl::string_view name;
    double us;
  };
  constexpr Unit kUnits[] = {{"us", 1},  {"ms", 1e3},  {"s", 1e6},
                             {"m", 6e7}, {"h", 3.6e9}, {"", 1e6}};
  const size_t digits =
      std::min(text.find_first_not_of("0123456789."), text.size());
  double value = 0;
  if (!IsPlainDecimal(text.substr(0, digits)) ||
      !absl::SimpleAtod(text.substr(0, digits), &value)) {
    return std::nullopt;
  }
  for (const Unit& unit : kUnits) {
    if (unit.name != text.substr(digits)) continue;
    const double us = value * unit.us;
    if (us < 1e15) return static_cast<uint64_t>(std::llround(us));
  }
  return std::nullopt;
}

absl::StatusOr<uint64_t> ParseTime(absl::string_view text) {
  const auto time_us = ParseDuration(text);
  if (time_us.has_value()) return *time_us;
  return Expected("a time such as 60s or 500ms", text);
}

// Words win over times, and times over marks. A mark named "peak" needs
// "mark:peak".
absl::StatusOr<Moment> ParseMoment(absl::string_view text) {
  constexpr std::pair<absl::string_view, Moment::Kind> kWords[] = {
      {"peak", Moment::kPeak},
      {"heap-peak", Moment::kHeapPeak},
      {"end", Moment::kEnd},
      {"exit", Moment::kExit}};
  for (const auto& [word, kind] : kWords) {
    if (word == text) return Moment{kind};
  }
  Moment moment;
  if (const auto time_us = ParseDuration(text); time_us.has_value()) {
    moment.kind = Moment::kTime;
    moment.time_us = *time_us;
    return moment;
  }
  absl::string_view number = text;
  double percent = 0;
  if (absl::ConsumeSuffix(&number, "%") && IsPlainDecimal(number) &&
      absl::SimpleAtod(number, &percent)) {
    if (percent > 100) return Expected("a share from 0% to 100%", text);
    moment.kind = Moment::kShare;
    moment.share = percent / 100;
    return moment;
  }
  if (IsPlainDecimal(text)) return Expected("a time of the run", text);
  moment.kind = Moment::kMark;
  moment.label = std::string(absl::StripPrefix(text, "mark:"));
  return moment;
}

absl::StatusOr<Moment> ParseEnd(absl::string_view text, const Moment& from,
                                absl::string_view bound, bool may_be_empty) {
  auto to = ParseMoment(text);
  if (!to.ok()) return to;
  const auto between = Between(from, *to);
  if (!between.has_value() || *between > 0) return to;
  if (may_be_empty && *between == 0) return to;
  return Expected(
      absl::StrCat("a moment ", may_be_empty ? "not before " : "after ", bound),
      text);
}

namespace {

// Batches are sorted by time, except pages, so the first and the last event are
// enough.
class LastMoment final : public RecordVisitor {
 public:
  // Stops at the first moment later than `enough_us`.
  explicit LastMoment(uint64_t enough_us) : enough_us_(enough_us) {}
  bool OnRows(const Row* rows, size_t count) override {
    return count == 0 || Take(rows[0].time_us, rows[count - 1].time_us);
  }
  bool OnPages(const PageEntry* entries, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      Take(entries[i].time_us, entries[i].time_us);
    }
    return last_us_ <= enough_us_;
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    return count == 0 || Take(events[0].time_us, events[count - 1].time_us);
  }
  bool OnGil(const GilEvent* events, size_t count) override {
    return TakeNanos(events, count);
  }
  bool OnStates(const StateEvent* events, size_t count) override {
    return TakeNanos(events, count);
  }
  bool OnTasks(const TaskEvent* events, size_t count) override {
    return TakeNanos(events, count);
  }
  bool OnSched(const SchedSample* samples, size_t count) override {
    return count == 0 || Take(samples[count - 1].time_us);
  }
  void OnResidency(const ResidencyView& seen) override { Take(seen.time_us); }
  void OnMark(const Mark& mark) override { Take(mark.time_us()); }
  void OnProcess(const ProcessSample& sample) override {
    Take(sample.time_us());
  }
  void OnFooter(const Footer& footer) override { Take(footer.end_us()); }

  uint64_t last_us() const { return last_us_; }
  // The times of the first and the last event of threads. Without events the
  // first is after the last.
  const std::pair<uint64_t, uint64_t>& event_us() const { return event_us_; }

 private:
  bool Take(uint64_t first_us, uint64_t last_us) {
    event_us_.first = std::min(event_us_.first, first_us);
    event_us_.second = std::max(event_us_.second, last_us);
    return Take(last_us);
  }
  template <typename Event>
  bool TakeNanos(const Event* events, size_t count) {
    return count == 0 ||
           Take(events[0].time_ns / 1000, events[count - 1].time_ns / 1000);
  }
  bool Take(uint64_t time_us) {
    last_us_ = std::max(last_us_, time_us);
    return last_us_ <= enough_us_;
  }

  const uint64_t enough_us_;
  uint64_t last_us_ = 0;
  std::pair<uint64_t, uint64_t> event_us_ = {UINT64_MAX, 0};
};

uint64_t LastMomentBut(uint64_t enough_us, RereadFile* file) {
  LastMoment last(enough_us);
  file->ReadAgain(&last);
  return last.last_us();
}

}  // namespace

uint64_t LastMomentOf(RereadFile* file) {
  return LastMomentBut(UINT64_MAX, file);
}

std::optional<std::pair<uint64_t, uint64_t>> EventTimesOf(RereadFile* file) {
  LastMoment last(UINT64_MAX);
  file->ReadAgain(&last);
  if (last.event_us().first > last.event_us().second) return std::nullopt;
  return last.event_us();
}

bool GoesOnAfter(uint64_t time_us, RereadFile* file) {
  return LastMomentBut(time_us, file) > time_us;
}

}  // namespace pymemrun
