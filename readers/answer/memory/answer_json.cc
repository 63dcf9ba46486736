#include "readers/answer/memory/answer_json.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "readers/answer/memory/answer_notes.h"
#include "text/escape.h"

namespace pymemrun {
namespace {

std::string Quoted(absl::string_view text) {
  std::string quoted;
  AppendJsonString(text, &quoted);
  return quoted;
}

std::string TextOrNull(absl::string_view text) {
  return text.empty() ? "null" : Quoted(text);
}

std::string Whole(double number) {
  return absl::StrCat(static_cast<int64_t>(std::llround(number)));
}

// All digits of the microseconds, without a rounding to double.
std::string Seconds(uint64_t us) {
  return absl::StrFormat("%d.%06d", us / 1000000, us % 1000000);
}

// Members in order, each with its value as JSON.
using Members = std::vector<std::pair<absl::string_view, std::string>>;

std::string ObjectOf(const Members& members) {
  return absl::StrCat("{",
                      absl::StrJoin(members, ", ",
                                    [](std::string* out, const auto& member) {
                                      absl::StrAppend(out, Quoted(member.first),
                                                      ": ", member.second);
                                    }),
                      "}");
}

// Names and files are bytes of the program; AppendJsonString() escapes them.
std::string PlaceJson(const PlaceHolding& holding) {
  const Place& place = holding.place;
  return ObjectOf(
      {{"file", TextOrNull(place.file)},
       {"line", place.line == 0 ? "null" : absl::StrCat(place.line)},
       {"own", holding.is_own ? "true" : "false"},
       {"bytes", Whole(holding.bytes)},
       {"error_bytes", Whole(std::sqrt(std::max(holding.variance, 0.0)))},
       {"file_bytes", Whole(holding.file_bytes)},
       {"pool_bytes", Whole(holding.pool_bytes)},
       {"kept_by", TextOrNull(holding.kept_by)},
       {"waits_bytes", Whole(holding.waits_bytes)},
       {"called", TextOrNull(holding.called)},
       {"thread", TextOrNull(holding.thread)}});
}

// The parts are rounded so that they add up to RSS.
std::string PartsJson(const MemorySplit& split) {
  const std::pair<absl::string_view, double> parts[] = {
      {"python_heap", split.python_bytes},
      {"native_heap", split.native_bytes},
      {"pools", split.pool_bytes},
      {"free", split.free_bytes},
      {"files_and_code", split.file_bytes},
      {"file_copies", split.copied_bytes},
      {"stacks", split.stack_bytes},
      {"before_tracing", split.before_bytes},
      {"since_fork", split.since_fork_bytes},
      {"tracing", split.tracing_bytes}};
  Members members;
  // What rounding adds or takes goes into `unattributed`.
  int64_t rest = std::llround(split.rss_bytes);
  for (const auto& [name, bytes] : parts) {
    members.emplace_back(name, Whole(bytes));
    rest -= std::llround(bytes);
  }
  members.emplace_back("unattributed", absl::StrCat(rest));
  return ObjectOf(members);
}

// What is missing, and what this means.
std::string Caveats(const Answer& answer) {
  std::vector<std::string> caveats;
  for (const std::string& text : {LossText(answer), CutText(answer)}) {
    if (!text.empty()) caveats.push_back(Quoted(text));
  }
  return absl::StrJoin(caveats, ", ");
}

std::string MomentJson(const AnswerMoment& moment) {
  const MemorySplit& split = moment.split;
  const std::string places =
      absl::StrJoin(split.places, ",\n    ",
                    [](std::string* out, const PlaceHolding& holding) {
                      *out += PlaceJson(holding);
                    });
  return absl::StrCat("{\"time_s\": ", Seconds(moment.time_us),
                      ", \"rss_bytes\": ", Whole(split.rss_bytes),
                      ", \"heap_error_bytes\": ", Whole(split.heap_error_bytes),
                      ",\n   \"parts\": ", PartsJson(split),
                      ",\n   \"places\": [", places.empty() ? "" : "\n    ",
                      places, "]}");
}

}  // namespace

std::string AnswerJson(const Answer& answer) {
  return absl::StrCat(
      "{\"script\": ", TextOrNull(answer.facts.header.script()),
      ",\n \"caveats\": [", Caveats(answer), "]",
      ",\n \"duration_s\": ", Seconds(answer.facts.DurationUs()),
      ",\n \"peak_rss_bytes\": ", Whole(answer.peak_bytes),
      ",\n \"peak_is_least\": ", answer.PeakIsOpen() ? "true" : "false",
      ",\n \"peak\": ", MomentJson(answer.peak),
      ",\n \"end\": ", MomentJson(answer.end), "}\n");
}

}  // namespace pymemrun
