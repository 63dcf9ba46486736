// The tracks of thread states: a lane below each thread shows when it ran,
// waited for a CPU, or slept, and for what. Joined with its holds of the GIL
// and its waits for it.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/replay/states/state_replay.h"
#include "readers/tracks/track_source.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

struct StateLook {
  absl::string_view name, color, says;
  bool is_idle = false, by_share = false;
};
// By ThreadState. Green: runs; dark red: waits for the GIL; orange: sleeps.
constexpr StateLook kLooks[kThreadStates] = {
    {"runs with the GIL", "#2da44e", "", false},
    {"runs without the GIL", "#7fd08a", "", false},
    {"wants a CPU", "#e3c53f", "", true},
    {"S(GIL)", kGilWaitColor, "sleeps until the GIL is free", true},
    {"S(lock)", "#cf5a1b", "sleeps until a lock is free", true},
    {"S(I/O)", "#f0913f", "sleeps for I/O", true},
    {"S(time)", "#f8c997", "sleeps for a set time", true},
    {"S(page)", "#9a6fb0", "sleeps until a page is there", true},
    {"S(other)", "#f9e4cf", "sleeps for less than some ms, or other reasons",
     true}};
// Replaces S(GIL) in a free-threaded interpreter.
constexpr StateLook kPythonLook = {
    "S(Python)", kGilWaitColor,
    "sleeps until a lock of the interpreter is free, or all threads go on",
    true};
constexpr StateLook kRanLook = {
    "ran for a part of this time", "#7fd08a",
    "height: share of time on a CPU, from schedstat", false, true};

// Context switches are added when the file has been read, one thread after the
// other. Scheduler counts are added as slices as they come: when a thread ran
// between two counts is unknown. Not thread safe.
class StateTracks final : public StateReplay {
 public:
  StateTracks(const SourceOptions& options, TrackSink* sink)
      : options_(options), sink_(*sink), threads_(&index(), sink) {}

  bool OnSched(const SchedSample* samples, size_t count) override;

  std::vector<std::string> Notes() const;

 private:
  struct Counts {
    uint32_t lane = 0;                   // 0: it has none yet
    uint64_t given_us = 0;               // slices were added up to this time...
    uint64_t ran_us = 0, wanted_us = 0;  // ...with these sums
  };

  void OnSpan(uint32_t thread, const StateSpan& span) override;
  void GiveCounts(const SchedSample& sample, uint64_t begin_us);
  uint32_t NameOf(const StateSpan& span);
  SliceEnd EndOf(const StateSpan& span) const;
  uint32_t AddName(absl::string_view text, const StateLook& look);

  const SourceOptions options_;
  TrackSink& sink_;
  TrackThreads threads_;
  std::array<uint32_t, kThreadStates> names_ = {};      // 0: not asked for yet
  absl::flat_hash_map<uint8_t, uint32_t> other_names_;  // of S(other)
  uint32_t thread_ = 0, lane_ = 0;  // of the spans that come now
  uint32_t ran_name_ = 0;
  std::vector<Counts> counts_;  // by first ThreadDef.ids
  uint64_t batch_us_ = 0;       // when the last counts were read
  uint64_t given_ = 0, too_short_ = 0;
};

uint32_t StateTracks::AddName(absl::string_view text, const StateLook& look) {
  SliceName name;
  name.name = text;
  name.color = look.color;
  name.says = look.says;
  name.is_idle = look.is_idle;
  name.by_share = look.by_share;
  return sink_.AddName(name);
}

// In the order of the table, so that pictures always have the same order of
// colours.
uint32_t StateTracks::NameOf(const StateSpan& span) {
  if (names_[0] == 0) {
    for (size_t i = 0; i < kThreadStates; ++i) {
      const auto state = static_cast<ThreadState>(i);
      const bool is_python = state == ThreadState::kGil && HasLocksAlone();
      const StateLook& look = is_python ? kPythonLook : kLooks[i];
      const bool just_runs =
          state == ThreadState::kRuns && (!has_gil() || HasLocksAlone());
      names_[i] = AddName(just_runs ? "runs" : look.name, look);
    }
  }
  const auto state = static_cast<size_t>(span.state);
  const absl::string_view call = OtherName(span.other);
  if (span.state != ThreadState::kOther || call.empty() ||
      options_.for_picture) {
    return names_[state];
  }
  uint32_t& name = other_names_[span.other];
  if (name == 0) name = AddName(absl::StrCat("S(", call, ")"), kLooks[state]);
  return name;
}

// REQUIRES: NameOf() was called.
SliceEnd StateTracks::EndOf(const StateSpan& span) const {
  SliceEnd end;
  end.is_estimated = span.is_estimated;
  if (span.gil_ns == 0) return end;
  const auto had =
      static_cast<double>(span.gil_ns) / static_cast<double>(span.long_ns());
  if (span.state == ThreadState::kRunsWithGil) {
    end.let_go_us = (span.long_ns() - span.gil_ns) / 1000;
    end.share = had;
    end.rest_name = names_[static_cast<size_t>(ThreadState::kRuns)];
  } else {
    end.had_gil_us = span.gil_ns / 1000;
    end.share = 1 - had;
    end.rest_name = names_[static_cast<size_t>(ThreadState::kRunsWithGil)];
  }
  return end;
}

// Spans come one thread after the other, so one lane is open at a time.
void StateTracks::OnSpan(uint32_t thread, const StateSpan& span) {
  if (thread == 0) return;  // it did not fit
  const uint64_t begin_us = span.begin_ns / 1000, end_us = span.end_ns / 1000;
  if (end_us - begin_us < options_.min_us) {
    ++too_short_;
    return;
  }
  if (thread != thread_) {
    thread_ = thread;
    lane_ = sink_.AddLane(threads_.TrackOf(thread), "state");
  }
  ++given_;
  sink_.Begin(lane_, begin_us, NameOf(span));
  sink_.End(lane_, end_us, EndOf(span));
}

// Threads without changes since the last batch have no entry.
bool StateTracks::OnSched(const SchedSample* samples, size_t count) {
  StateReplay::OnSched(samples, count);
  if (has_switches() || count == 0) return true;
  const uint64_t time_us = std::max(samples[0].time_us, batch_us_);
  for (size_t i = 0; i < count; ++i) GiveCounts(samples[i], batch_us_);
  batch_us_ = time_us;
  return true;
}

// A slice from the last batch, or from the thread's last slice, up to this
// count.
void StateTracks::GiveCounts(const SchedSample& sample, uint64_t begin_us) {
  const uint32_t thread = index().FirstThread(sample.thread);
  if (thread == 0 || thread > index().threads()) return;
  if (thread >= counts_.size()) counts_.resize(thread + 1);
  Counts& of = counts_[thread];
  begin_us = std::max(begin_us, of.given_us);
  if (sample.time_us <= begin_us) return;
  const uint64_t long_us = sample.time_us - begin_us;
  // The kernel's count may exceed the slice: the rest goes to the next one.
  const auto more = [&](uint64_t ns, uint64_t* given_us) {
    const uint64_t us =
        std::min(ns / 1000 - std::min(ns / 1000, *given_us), long_us);
    *given_us += us;
    return us;
  };
  SliceEnd end;
  end.ran_us = more(sample.run_ns, &of.ran_us);
  end.wanted_cpu_us = more(sample.runnable_ns, &of.wanted_us);
  if (end.ran_us + end.wanted_cpu_us == 0) return;
  if (long_us < options_.min_us) {
    ++too_short_;
    return;
  }
  end.share = static_cast<double>(end.ran_us) / static_cast<double>(long_us);
  if (of.lane == 0) {
    of.lane = sink_.AddLane(threads_.TrackOf(thread), "ran, by schedstat");
  }
  if (ran_name_ == 0) {
    ran_name_ = AddName(kRanLook.name, kRanLook);
  }
  of.given_us = sample.time_us;
  ++given_;
  sink_.Begin(of.lane, begin_us, ran_name_);
  sink_.End(of.lane, sample.time_us, end);
}

std::vector<std::string> StateTracks::Notes() const {
  std::vector<std::string> notes;
  if (too_short_ > 0) {
    notes.push_back(ShorterText(given_, too_short_, "state", "states",
                                "of threads", options_.min_us));
  }
  if (has_states() && !has_switches()) {
    notes.push_back(
        absl::StrCat("states of threads by schedstat: a slice shows for how "
                     "long a thread ran, not when (",
                     TerminalText(reason()), ")"));
  }
  if (lost() > 0) {
    notes.push_back(
        absl::StrCat(Counted(lost(), "context switch", "context switches"),
                     " lost: states of threads are not exact"));
  }
  return notes;
}

}  // namespace

std::unique_ptr<TrackSource> NewStateSource(const SourceOptions& options) {
  return std::make_unique<ReadOnce<StateTracks>>(options);
}

}  // namespace pymemrun
