#include "collector/process/launch_text.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "collector/process/monotonic_clock.h"
#include "format/limits.h"
#include "format/records/format_version.h"

namespace pymemrun {
namespace {

// Some 35 years: in nanoseconds it still fits into 64 bits.
constexpr uint64_t kMostEveryMs = uint64_t{1} << 40;

// An invalid number counts as 0.
uint64_t Number(absl::string_view text) {
  uint64_t value = 0;
  return absl::SimpleAtoi(text, &value) ? value : 0;
}

// Each of these functions takes the keys of one subject, and returns false for
// all others.
bool SetPages(absl::string_view key, uint64_t value, LaunchText* launch) {
  if (key == "page_counters") {
    launch->traces.Set(Trace::kPages);
    launch->page_counters = static_cast<uint32_t>(value);
  } else if (key == "page_signals") {
    launch->page_signals = static_cast<uint32_t>(value);
  } else if (key == "page_period") {
    launch->header.set_page_period(static_cast<uint32_t>(value));
  } else if (key == "page_scan") {
    launch->header.set_page_scan(value != 0);
  } else if (key == "preloaded") {
    launch->header.set_preloaded(value != 0);
  } else if (key == "gil_min_wait_ns") {
    launch->gil_min_wait_ns = value;
    launch->traces.Set(Trace::kGil, value != 0);
  } else if (key == "tasks") {
    launch->traces.Set(Trace::kTasks, value != 0);
  } else if (key == "state_events") {
    launch->traces.Set(Trace::kStates);
    launch->state_events = static_cast<uint32_t>(value);
  } else if (key == "page_weight") {
    launch->header.set_page_weight(static_cast<uint32_t>(value));
  } else {
    return false;
  }
  return true;
}

// A mode that is not known is skipped like an unknown key.
bool SetHeap(absl::string_view key, absl::string_view value,
             LaunchText* launch) {
  if (key == "heap") {
    const uint64_t mode = Number(value);
    if (mode > HeapMode_MAX) return false;
    launch->header.set_heap(static_cast<HeapMode>(mode));
    launch->traces.Set(Trace::kHeap, mode != HEAP_OFF);
  } else if (key == "heap_native") {
    launch->header.set_heap_native(Number(value) != 0);
  } else if (key == "heap_mean_bytes") {
    launch->heap_rates.set_mean_bytes(Number(value));
  } else if (key == "heap_class") {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(value, absl::MaxSplits(':', 1));
    HeapClass* const one = launch->heap_rates.add_classes();
    one->set_below_bytes(Number(parts.first));
    double probability = 0;
    if (absl::SimpleAtod(parts.second, &probability)) {
      one->set_probability(probability);
    }
  } else {
    return false;
  }
  return true;
}

bool SetDumps(absl::string_view key, uint64_t value, DumpWishes* dumps) {
  if (key == "objects_every_ms") {
    dumps->every_ms = std::min(value, kMostEveryMs);
  } else if (key == "objects_rss_above") {
    dumps->rss_above_bytes = value;
  } else if (key == "objects_at_peak") {
    dumps->at_peak = value != 0;
  } else {
    return false;
  }
  return true;
}

bool SetFileOption(absl::string_view key, absl::string_view value,
                   LaunchText* launch) {
  int level = 0;
  if (key == "counters_every_ms") {
    launch->counters_every_ms = std::min(Number(value), kMostEveryMs);
  } else if (key == "earlier_tsc") {
    launch->earlier_tsc = Number(value);
  } else if (key == "earlier_monotonic_ns") {
    launch->earlier_monotonic_ns = Number(value);
  } else if (key == "follow_all") {
    launch->follow_all = Number(value) != 0;
  } else if (key == "traces_started") {
    launch->traces_started = Number(value) != 0;
  } else if (key == "store_source") {
    launch->store_source = Number(value) != 0;
  } else if (key != "compress_level") {
    return false;
  } else if (absl::SimpleAtoi(value, &level)) {
    launch->compress_level = level;
  }
  return true;
}

bool SetNumber(absl::string_view key, uint64_t value, Header* header) {
  Filters* filters = header->mutable_filters();
  if (key == "pid") {
    header->set_pid(static_cast<uint32_t>(value));
  } else if (key == "parent_pid") {
    header->set_parent_pid(static_cast<uint32_t>(value));
  } else if (key == "start_ticks") {
    header->set_process_start_ticks(value);
  } else if (key == "parent_start_ticks") {
    header->set_parent_start_ticks(value);
  } else if (key == "forked") {
    header->set_forked(value != 0);
  } else if (key == "min_drss_bytes") {
    filters->set_min_drss_bytes(value);
  } else if (key == "min_call_drss_bytes") {
    filters->set_min_call_drss_bytes(value);
  } else if (key == "context") {
    filters->set_context(static_cast<uint32_t>(value));
  } else if (key == "drss_since_logged") {
    filters->set_drss_since_logged(value != 0);
  } else if (key == "stacks") {
    filters->set_stacks(value != 0);
  } else if (key == "paused") {
    filters->set_paused(value != 0);
  } else if (key == "pages_user_only") {
    header->set_pages_user_only(value != 0);
  } else if (key == "calls_off") {
    header->set_calls_off(value != 0);
  } else if (key == "kinds") {
    for (int what = What_MIN; what <= What_MAX; ++what) {
      if ((value >> what & 1) != 0) {
        filters->add_kinds(static_cast<What>(what));
      }
    }
  } else {
    return false;
  }
  return true;
}

// The field that a text belongs to; nullptr: the key is unknown. Keys that
// repeat add an element.
std::string* TextField(absl::string_view key, LaunchText* launch) {
  Header* header = &launch->header;
  Filters* filters = header->mutable_filters();
  if (key == "tool_version") return header->mutable_tool_version();
  if (key == "python") return header->mutable_python();
  if (key == "python_version") return header->mutable_python_version();
  if (key == "host") return header->mutable_host();
  if (key == "cwd") return header->mutable_cwd();
  if (key == "kernel") return header->mutable_kernel();
  if (key == "not_recorded") return header->mutable_not_recorded();
  if (key == "script") return header->mutable_script();
  if (key == "output") return &launch->output;
  if (key == "children") return &launch->children;
  if (key == "states_reason") return &launch->states_reason;
  if (key == "reporter") return &launch->reporter;
  if (key == "argv") return header->add_argv();
  if (key == "include") return filters->add_include();
  if (key == "exclude") return filters->add_exclude();
  if (key == "function") return filters->add_function();
  if (key == "thread") return filters->add_thread();
  return nullptr;
}

}  // namespace

// Entries "key=value", each with a 0 behind it. Unknown keys and entries
// without "=" are skipped.
LaunchText ParseLaunchText(absl::string_view text) {
  LaunchText launch;
  size_t argv_bytes = 0;
  while (!text.empty()) {
    const absl::string_view entry = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const size_t equals = entry.find('=');
    if (equals == absl::string_view::npos) continue;
    const absl::string_view key = entry.substr(0, equals);
    const absl::string_view value = entry.substr(equals + 1);
    // Readers must accept the header: the last arguments may be left out.
    if (key == "argv") argv_bytes += entry.size();
    if (key == "argv" && argv_bytes > kMaxKnownRecordBytes / 2) continue;
    if (SetNumber(key, Number(value), &launch.header)) continue;
    if (SetPages(key, Number(value), &launch)) continue;
    if (SetHeap(key, value, &launch)) continue;
    if (SetDumps(key, Number(value), &launch.dumps)) continue;
    if (SetFileOption(key, value, &launch)) continue;
    std::string* field = TextField(key, &launch);
    if (field != nullptr) field->assign(value.data(), value.size());
  }
  // Readers take a period other than 0 as the sign of page events.
  if (launch.traces.has(Trace::kPages) && launch.header.page_period() == 0) {
    launch.header.set_page_period(1);
  }
  return launch;
}

// At most 16 MiB are read, as the text comes from outside. Without a text
// everything has its default.
LaunchText ReadLaunchText(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0 || info.st_size <= 0) return {};
  std::string text(std::min<off_t>(info.st_size, 16 << 20), '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : got);
  return ParseLaunchText(text);
}

// Without StartFacts the program has ended before tracing began. The header
// then has the times of now.
void AddStartToHeader(const StartFacts* start, uint32_t page_bytes,
                      Header* header) {
  header->set_format_version(
      header->heap_native() ? kFormatVersion : kFormatVersionWithoutRanges);
  header->set_page_bytes(page_bytes);
  if (start == nullptr) {
    header->set_start_realtime_ns(ClockNs(CLOCK_REALTIME));
    header->set_start_monotonic_ns(ClockNs(CLOCK_MONOTONIC));
    return;
  }
  header->set_start_realtime_ns(start->realtime_ns);
  header->set_start_monotonic_ns(start->monotonic_ns);
  header->set_clock(start->time_is_tsc != 0 ? TSC : MONOTONIC);
  header->set_rss_source(static_cast<RssSource>(start->rss_source));
  header->set_rss_source_reason(
      start->rss_source_reason,
      strnlen(start->rss_source_reason, sizeof(start->rss_source_reason)));
  header->set_statm_step_bytes(uint64_t{start->statm_step_pages} * page_bytes);
  header->set_own_bytes(start->own_bytes);
  header->set_first_rss_bytes(start->first_rss_bytes);
  header->set_since_fork_bytes(start->since_fork_bytes);
}

}  // namespace pymemrun
