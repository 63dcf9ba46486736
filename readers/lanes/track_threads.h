// The tracks of a run's threads, by their ids in the file.
#ifndef PYMEMRUN_READERS_LANES_TRACK_THREADS_H_
#define PYMEMRUN_READERS_LANES_TRACK_THREADS_H_

#include <cstdint>
#include <vector>

#include "readers/lanes/track_sink.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// Index and sink must outlive it. Not thread safe.
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
  std::vector<uint32_t> tracks_;  // 0: not asked for yet
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_LANES_TRACK_THREADS_H_
