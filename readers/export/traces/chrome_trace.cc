#include "readers/export/traces/chrome_trace.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/export/traces/trace_ids.h"
#include "text/escape.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Ids for lanes below threads. No Linux thread has them, see trace_ids.h.
constexpr int64_t kFirstLaneTid = int64_t{1} << 30;

std::string Json(absl::string_view name) {
  std::string text;
  AppendJsonString(TerminalText(name), &text);
  return text;
}

absl::string_view CategoryOf(SliceName::Kind kind) {
  switch (kind) {
    case SliceName::kOwn:
      return "own";
    case SliceName::kLibrary:
      return "library";
    case SliceName::kC:
      return "C";
    case SliceName::kOther:
      break;
  }
  return "other";
}

// Completes the event. `any`: it already has arguments.
void AppendArguments(const SliceEnd& end, bool any, std::string* event) {
  const auto append = [&](absl::string_view name, const auto& value) {
    absl::StrAppend(event, any ? "," : "", "\"", name, "\":", value);
    any = true;
  };
  if (end.growth_bytes != 0) append("rss_growth_bytes", end.growth_bytes);
  if (end.let_go_us != 0) append("let_go_us", end.let_go_us);
  if (end.had_gil_us != 0) append("had_gil_us", end.had_gil_us);
  if (end.ran_us != 0) append("ran_us", end.ran_us);
  if (end.wanted_cpu_us != 0) append("wanted_cpu_us", end.wanted_cpu_us);
  if (end.is_cut) append("end_not_seen", "true");
  if (end.is_estimated) append("estimated", "true");
  event->append("}}");
}

}  // namespace

// The fields that place an event on a track.
std::string ChromeTrace::Place(int64_t tid) const {
  return absl::StrCat("\"pid\":", pid_, ",\"tid\":", tid);
}

void ChromeTrace::Append(absl::string_view event) {
  output_.Append(any_ ? ",\n" : "");
  output_.Append(event);
  any_ = true;
}

// start_realtime_ns is a string: JSON numbers have 53 bits in most viewers.
void ChromeTrace::SetProcess(const Header& header) {
  pid_ = TracePid(header.pid());
  output_.Append(
      absl::StrCat("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"exporter\":"
                   "\"pymemreport " PYMEMRUN_VERSION
                   "\",\"clock\":\"microseconds of CLOCK_MONOTONIC since "
                   "the run's start\",\"start_realtime_ns\":\"",
                   header.start_realtime_ns(), "\"},\n\"traceEvents\":[\n"));
  Append(absl::StrCat("{\"ph\":\"M\",\"name\":\"process_name\",", Place(pid_),
                      ",\"args\":{\"name\":", Json(ProcessName(header)), "}}"));
}

uint32_t ChromeTrace::AddTrack(int64_t tid, std::string name) {
  tracks_.emplace_back();
  tracks_.back().tid = tid;
  tracks_.back().name = std::move(name);
  return static_cast<uint32_t>(tracks_.size() - 1);
}

uint32_t ChromeTrace::AddNamedTrack(int64_t tid, std::string name,
                                    uint32_t order) {
  const uint32_t number = AddTrack(tid, std::move(name));
  Track& track = tracks_[number];
  track.order = order;
  Append(absl::StrCat("{\"ph\":\"M\",\"name\":\"thread_name\",",
                      Place(track.tid), ",\"args\":{\"name\":", track.name,
                      "}}"));
  Append(absl::StrCat("{\"ph\":\"M\",\"name\":\"thread_sort_index\",",
                      Place(track.tid), ",\"args\":{\"sort_index\":", order,
                      "}}"));
  return number;
}

uint32_t ChromeTrace::AddThread(const TrackThread& thread) {
  uint32_t& number = thread_tracks_[thread.id];
  if (number == 0) {
    number = AddNamedTrack(TraceTid(thread), Json(thread.name), thread.id);
  }
  return number;
}

// A lane is a thread of its own, directly below its thread.
uint32_t ChromeTrace::AddLane(uint32_t thread_track, absl::string_view name) {
  std::string text = Json(name);
  uint32_t order = 0;
  if (thread_track != 0) {
    // "thread: lane", both without their inner quotes.
    std::string& thread = tracks_[thread_track].name;
    text = absl::StrCat(absl::string_view(thread).substr(0, thread.size() - 1),
                        ": ", absl::string_view(text).substr(1));
    order = tracks_[thread_track].order;
  }
  return AddNamedTrack(kFirstLaneTid + lanes_++, std::move(text), order);
}

// A counter has no row of its own: its "name" is all of an event up to the
// value.
uint32_t ChromeTrace::AddCounter(absl::string_view name, CounterUnit unit) {
  absl::string_view in;
  switch (unit) {
    case CounterUnit::kBytes:
      in = "bytes";
      break;
    case CounterUnit::kMicroseconds:
      in = "us";
      break;
    case CounterUnit::kCount:
      in = "count";
      break;
  }
  const uint32_t number = AddTrack(
      pid_, absl::StrCat("\"name\":", Json(name), ",\"args\":{\"", in, "\":"));
  return number;
}

uint32_t ChromeTrace::AddName(const SliceName& name) {
  std::string text = absl::StrCat("\"name\":", Json(name.name), ",\"cat\":\"",
                                  CategoryOf(name.kind), "\",\"args\":{");
  if (!name.file.empty()) {
    absl::StrAppend(&text, "\"file\":", Json(name.file),
                    ",\"line\":", name.line);
  }
  names_.push_back(std::move(text));
  return static_cast<uint32_t>(names_.size() - 1);
}

// Nothing is written: the event needs its end.
void ChromeTrace::Begin(uint32_t track, uint64_t time_us, uint32_t name) {
  tracks_[track].open.push_back({time_us, name, {}});
}

void ChromeTrace::End(uint32_t track, uint64_t time_us, const SliceEnd& end) {
  std::vector<Open>& open = tracks_[track].open;
  if (open.empty()) return;
  Open slice = std::move(open.back());
  open.pop_back();
  const std::string& name = names_[slice.name];
  std::string event = absl::StrCat("{\"ph\":\"X\",\"ts\":", slice.time_us,
                                   ",\"dur\":", time_us - slice.time_us, ",",
                                   Place(tracks_[track].tid), ",", name);
  AppendArguments(end, name.back() != '{', &event);
  slice.waiting.push_back(std::move(event));
  // It started together with the slice around it, which must be written first.
  if (slice.time_us != time_us && !open.empty() &&
      open.back().time_us == slice.time_us) {
    open.back().waiting = std::move(slice.waiting);
    return;
  }
  // The innermost slice ended first, so the outermost one is last.
  for (auto waiting = slice.waiting.rbegin(); waiting != slice.waiting.rend();
       ++waiting) {
    Append(*waiting);
  }
}

void ChromeTrace::Count(uint32_t counter, uint64_t time_us, int64_t value) {
  Append(absl::StrCat("{\"ph\":\"C\",\"ts\":", time_us, ",", Place(pid_), ",",
                      tracks_[counter].name, value, "}}"));
}

// JSON cannot express infinity or NaN.
void ChromeTrace::CountReal(uint32_t counter, uint64_t time_us, double value) {
  if (!std::isfinite(value)) return;
  Append(absl::StrCat("{\"ph\":\"C\",\"ts\":", time_us, ",", Place(pid_), ",",
                      tracks_[counter].name, absl::StrFormat("%.17g", value),
                      "}}"));
}

void ChromeTrace::Instant(uint32_t track, uint64_t time_us,
                          absl::string_view text) {
  const int64_t tid = track == 0 ? pid_ : tracks_[track].tid;
  Append(absl::StrCat("{\"ph\":\"i\",\"ts\":", time_us, ",", Place(tid),
                      ",\"s\":\"", track == 0 ? "p" : "t",
                      "\",\"name\":", Json(text), ",\"cat\":\"mark\"}"));
}

void ChromeTrace::Finish() { output_.Append("\n]}\n"); }

}  // namespace pymemrun
