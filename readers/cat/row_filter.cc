#include "readers/cat/row_filter.h"

#include <algorithm>

#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Clocks of threads may differ a little: rows are ordered by number, not
// exactly by time. So reading goes on for this long after the last time asked
// for.
constexpr uint64_t kTimeSlackUs = 1000000;
// Page and heap events follow rows of their time within a second.
constexpr uint64_t kExtraSlackUs = 3000000;
// Decisions are cached for ids up to this: a few MiB for each kind of id.
constexpr uint32_t kMaxRemembered = 1 << 21;

// Matches one character `c` against the set that starts at pattern[at] == '['.
// Returns the index after the set, or 0 if the set does not end or does not
// contain c (*matched distinguishes these).
size_t MatchSet(absl::string_view pattern, size_t at, char c, bool* matched) {
  size_t i = at + 1;
  const bool negated = i < pattern.size() && pattern[i] == '!';
  if (negated) ++i;
  const size_t first = i;
  bool found = false;
  for (; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' &&
        pattern[i + 2] != ']') {
      found |= pattern[i] <= c && c <= pattern[i + 2];
      i += 2;
    } else {
      found |= pattern[i] == c;
    }
  }
  if (i >= pattern.size()) return 0;
  *matched = found != negated;
  return i + 1;
}

// Matches one element of the pattern (not a star) at `*p` against the text at
// `*t`, and advances both. REQUIRES: both are before the end.
bool MatchOne(absl::string_view pattern, size_t* p, absl::string_view text,
              size_t* t) {
  const char c = pattern[*p];
  if (c == '?') {
    ++*p;
    *t += FirstRune(text.substr(*t)).size;
    return true;
  }
  if (c == '[') {
    bool matched = false;
    const size_t after = MatchSet(pattern, *p, text[*t], &matched);
    if (after != 0) {
      *p = after;
      ++*t;
      return matched;
    }
  }
  ++*p;
  return text[(*t)++] == c;
}

bool AnyMatches(const std::vector<std::string>& patterns,
                absl::string_view text) {
  return std::any_of(
      patterns.begin(), patterns.end(),
      [text](const std::string& glob) { return GlobMatches(glob, text); });
}

// The magnitude of INT64_MIN does not fit in an int64_t.
uint64_t Magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value)
                   : static_cast<uint64_t>(value);
}

}  // namespace

// Only the last star is tried again: what stars before it took can stay. So
// time is at most the product of both lengths, without recursion.
bool GlobMatches(absl::string_view pattern, absl::string_view text) {
  size_t p = 0, t = 0;
  size_t star = absl::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p >= pattern.size() || !MatchOne(pattern, &p, text, &t)) {
      // Let the last star take one more character.
      if (star == absl::string_view::npos) return false;
      p = star + 1;
      t = ++star_text;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// About rows only: marks and other records have filters of their own.
bool FilterOptions::PassesEverything() const {
  return calls && !HasTimes() && threads.empty() && files.empty() &&
         functions.empty() && (kinds & kRowKinds) == kRowKinds &&
         min_drss_bytes == 0 && every <= 1;
}

// The cheap tests come first. `every` counts only rows that pass all others.
bool RowFilter::PassesNext(const Row& row) {
  if (!options_.calls || row.time_us < options_.from_us ||
      row.time_us > options_.to_us ||
      Magnitude(row.drss_bytes) < options_.min_drss_bytes ||
      (options_.kinds >> static_cast<int>(row.what) & 1) == 0 ||
      !PassesSite(row.site) || !PassesThread(row.thread)) {
    return false;
  }
  return passed_++ % options_.every == 0;
}

bool RowFilter::PassesOther(uint64_t time_us, uint32_t kind, uint32_t thread) {
  return time_us >= options_.from_us && time_us <= options_.to_us &&
         (options_.kinds & kind) != 0 && PassesThread(thread);
}

bool RowFilter::PassesMark(const Mark& mark) {
  return options_.marks &&
         PassesOther(mark.time_us(), FilterOptions::kMarkBit, mark.thread());
}

bool RowFilter::PassesPage(const PageEntry& entry) {
  return options_.extra.pages &&
         PassesOther(entry.time_us, FilterOptions::kPageBit, entry.thread) &&
         PassesStack(entry.stack);
}

bool RowFilter::PassesHeap(const HeapEvent& event) {
  const uint32_t kind =
      event.is_free ? FilterOptions::kFreeBit : FilterOptions::kAllocBit;
  if (!options_.extra.heap || !PassesOther(event.time_us, kind, event.thread)) {
    return false;
  }
  return event.is_free ? !HasPlaces() : PassesStack(event.stack);
}

bool RowFilter::PassesGil(const GilEvent& event) {
  if (!options_.extra.gil ||
      !PassesOther(event.time_ns / 1000, FilterOptions::kGilBit,
                   event.thread)) {
    return false;
  }
  return HasGilStack(event.action) ? PassesStack(event.stack) : !HasPlaces();
}

bool RowFilter::IsPast(uint64_t time_us) const {
  return time_us > options_.to_us &&
         time_us - options_.to_us >
             (options_.extra.any() ? kExtraSlackUs : kTimeSlackUs);
}

bool RowFilter::PassesPlace(absl::string_view file,
                            absl::string_view function) const {
  return (options_.files.empty() || AnyMatches(options_.files, file)) &&
         (options_.functions.empty() ||
          AnyMatches(options_.functions, function));
}

// The decision on an id, cached: a run has many more rows than sites. A vector
// grows by half, so ids may come in any order.
template <typename Judge>
bool RowFilter::Remembered(uint32_t id, std::vector<Verdict>* verdicts,
                           Judge judge) {
  if (id < verdicts->size() && (*verdicts)[id] != kUnknown) {
    return (*verdicts)[id] == kPass;
  }
  const bool passes = judge();
  if (id <= kMaxRemembered) {
    if (id >= verdicts->size()) verdicts->resize(id + id / 2 + 64);
    (*verdicts)[id] = passes ? kPass : kFail;
  }
  return passes;
}

bool RowFilter::PassesSite(uint32_t site) {
  if (!HasPlaces()) return true;
  return Remembered(site, &sites_, [&] {
    const SourceLocation place = index_.Resolve(site);
    return PassesPlace(place.file, place.function);
  });
}

bool RowFilter::PassesStack(uint32_t stack) {
  if (!HasPlaces()) return true;
  return Remembered(stack, &stacks_, [&] {
    const SourceLocation place = index_.ResolveStack(stack);
    return PassesPlace(place.file, place.code_name);
  });
}

bool RowFilter::PassesThread(uint32_t thread) {
  if (options_.threads.empty()) return true;
  return Remembered(thread, &threads_, [&] {
    return AnyMatches(options_.threads, index_.ThreadLabel(thread)) ||
           AnyMatches(options_.threads, index_.ThreadName(thread));
  });
}

}  // namespace pymemrun
