// The sources of a timeline's tracks, one for each kind of record. A new kind
// is a class here, and a line in AllSources().
#ifndef PYMEMRUN_READERS_TRACKS_TRACK_SOURCE_H_
#define PYMEMRUN_READERS_TRACKS_TRACK_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "readers/run/reread_file.h"
#include "readers/run/run_index.h"
#include "readers/tracks/track_sink.h"
#include "text/report_text.h"

namespace pymemrun {

// What the sources add.
struct SourceOptions {
  // Shorter slices are left out.
  uint64_t min_us = 0;
  // For pictures: adds who took memory, and no counters by place.
  bool for_picture = false;
};

// One source. Not thread safe.
class TrackSource {
 public:
  virtual ~TrackSource() = default;
  // Reads the file once or more, and adds its tracks to the sink. Returns false
  // if nothing could be read, and has printed why.
  virtual bool Give(RereadFile* file, TrackSink* sink) = 0;
  // What the tracks lack, in a sentence each. REQUIRES: Give() was called.
  virtual std::vector<std::string> Notes() const { return {}; }
};

// A source that reads the file once. `Tracks` is the visitor that adds the
// tracks: it is constructed from the options and the sink, and may have
// Notes().
template <class Tracks>
class ReadOnce final : public TrackSource {
 public:
  explicit ReadOnce(const SourceOptions& options) : options_(options) {}

  bool Give(RereadFile* file, TrackSink* sink) override {
    Tracks tracks(options_, sink);
    if (!file->Read(&tracks)) return false;
    if constexpr (requires { tracks.Notes(); }) notes_ = tracks.Notes();
    return true;
  }
  std::vector<std::string> Notes() const override { return notes_; }

 private:
  const SourceOptions options_;
  std::vector<std::string> notes_;
};

// All sources of a run. The process is first, as its reading finds the last
// names of threads.
std::vector<std::unique_ptr<TrackSource>> AllSources(
    const SourceOptions& options);

// One source for each kind of record.
std::unique_ptr<TrackSource> NewProcessSource();
std::unique_ptr<TrackSource> NewCallSource(const SourceOptions& options);
std::unique_ptr<TrackSource> NewGilSource(const SourceOptions& options);
std::unique_ptr<TrackSource> NewStateSource(const SourceOptions& options);
std::unique_ptr<TrackSource> NewTaskSource(const SourceOptions& options);
std::unique_ptr<TrackSource> NewHeapSource();
std::unique_ptr<TrackSource> NewCounterSource(const SourceOptions& options);
std::unique_ptr<TrackSource> NewGrowthSource(const SourceOptions& options);

// Names of counters that sinks know, and colours that sources share.
inline constexpr absl::string_view kRssCounter = "RSS";
inline constexpr absl::string_view kHwmCounter = "highest RSS (VmHWM)";

// A thread that holds the GIL, and one that waits for it.
inline constexpr absl::string_view kHoldsColor = "#116329";
inline constexpr absl::string_view kGilWaitColor = "#8b1a1a";

// The tracks of a run's threads, by the file's ids. Index and sink must outlive
// it. Not thread safe.
class TrackThreads {
 public:
  TrackThreads(const RunIndex* index, TrackSink* sink)
      : index_(*index), sink_(*sink) {}

  // A renamed thread keeps its track.
  uint32_t TrackOf(uint32_t thread) {
    const uint32_t first = index_.FirstThread(thread);
    if (first >= tracks_.size()) tracks_.resize(first + 1);
    if (tracks_[first] == 0) {
      tracks_[first] =
          sink_.AddThread({first, index_.ThreadNativeId(first),
                           index_.ThreadName(index_.LatestThread(first))});
    }
    return tracks_[first];
  }

 private:
  const RunIndex& index_;
  TrackSink& sink_;
  std::vector<uint32_t> tracks_;  // 0: not requested yet
};

// For messages on shorter slices: "1 ms (--min-duration)".
inline std::string MinDurationText(uint64_t min_us) {
  return absl::StrFormat("%.15g ms (--min-duration)",
                         static_cast<double>(min_us) / 1000);
}

// "1 of 2 steps of tasks written; the others were shorter than 1 ms
// (--min-duration)", with `one` "step", `many` "steps" and `of` "of tasks".
inline std::string ShorterText(uint64_t given, uint64_t too_short,
                               absl::string_view one, absl::string_view many,
                               absl::string_view of, uint64_t min_us) {
  return absl::StrCat(
      Grouped(given), " of ", Counted(given + too_short, one, many), " ", of,
      " written; the others were shorter than ", MinDurationText(min_us));
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TRACKS_TRACK_SOURCE_H_
