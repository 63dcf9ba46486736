// Tracks as lines of text. For tests only.
#ifndef PYMEMRUN_READERS_TRACKS_LINES_SINK_FOR_TESTS_H_
#define PYMEMRUN_READERS_TRACKS_LINES_SINK_FOR_TESTS_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/tracks/track_sink.h"

namespace pymemrun {

class LinesSink final : public TrackSink {
 public:
  void SetProcess(const Header& header) override {
    lines_.push_back(absl::StrCat("process ", header.pid()));
  }
  uint32_t AddThread(const TrackThread& thread) override {
    lines_.push_back(absl::StrCat("thread ", thread.name));
    return ++tracks_;
  }
  uint32_t AddLane(uint32_t thread_track, absl::string_view name) override {
    lines_.push_back(absl::StrCat("lane ", name, " of ", thread_track));
    return ++tracks_;
  }
  uint32_t AddCounter(absl::string_view name, CounterUnit) override {
    counters_.push_back(std::string(name));
    return static_cast<uint32_t>(counters_.size());
  }
  uint32_t AddName(const SliceName& name) override {
    names_.push_back(std::string(name.name));
    return static_cast<uint32_t>(names_.size());
  }
  void Begin(uint32_t track, uint64_t time_us, uint32_t name) override {
    lines_.push_back(
        absl::StrCat("begin ", track, " ", time_us, " ", names_[name - 1]));
  }
  void End(uint32_t track, uint64_t time_us, const SliceEnd& end) override {
    std::string line = absl::StrCat("end ", track, " ", time_us);
    if (end.growth_bytes != 0) {
      absl::StrAppend(&line, " grew ", end.growth_bytes);
    }
    if (end.let_go_us != 0) absl::StrAppend(&line, " let go ", end.let_go_us);
    if (end.had_gil_us != 0) absl::StrAppend(&line, " had ", end.had_gil_us);
    if (end.ran_us != 0) absl::StrAppend(&line, " ran ", end.ran_us);
    if (end.wanted_cpu_us != 0) {
      absl::StrAppend(&line, " wanted ", end.wanted_cpu_us);
    }
    if (end.is_estimated) line += " estimated";
    lines_.push_back(line + (end.is_cut ? " cut" : ""));
  }
  void Count(uint32_t counter, uint64_t time_us, int64_t value) override {
    lines_.push_back(
        absl::StrCat(counters_[counter - 1], " ", time_us, " ", value));
  }
  void CountReal(uint32_t counter, uint64_t time_us, double value) override {
    lines_.push_back(
        absl::StrCat(counters_[counter - 1], " ", time_us, " ", value));
  }
  void Instant(uint32_t track, uint64_t time_us,
               absl::string_view text) override {
    lines_.push_back(absl::StrCat("instant ", track, " ", time_us, " ", text));
  }
  void Grow(uint32_t track, uint64_t time_us, uint32_t name,
            double bytes) override {
    lines_.push_back(absl::StrCat("grow ", track, " ", time_us, " ",
                                  names_[name - 1], " ", bytes));
  }

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  uint32_t tracks_ = 0;
  std::vector<std::string> counters_, names_, lines_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TRACKS_LINES_SINK_FOR_TESTS_H_
