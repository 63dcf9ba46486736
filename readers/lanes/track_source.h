// Where the tracks of a timeline come from: one source for each kind of
// record. A new kind of record is a class here, and a line in AllSources().
#ifndef PYMEMRUN_READERS_LANES_TRACK_SOURCE_H_
#define PYMEMRUN_READERS_LANES_TRACK_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "readers/lanes/track_sink.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

struct SourceOptions {
  // Shorter slices are left out.
  uint64_t min_us = 0;
  // Sources for pictures: who took memory, and no counters by place.
  bool for_picture = false;
};

// Not thread safe.
class TrackSource {
 public:
  virtual ~TrackSource() = default;
  // Reads the file once or more, and gives its tracks to the sink. False:
  // nothing could be read, which has been said.
  virtual bool Give(RereadFile* file, TrackSink* sink) = 0;
  // What the tracks lack, a sentence each. REQUIRES: Give() was called.
  virtual std::vector<std::string> Notes() const { return {}; }
};

// Each of a run's: the process first, since its reading finds the last names
// of threads.
std::vector<std::unique_ptr<TrackSource>> AllSources(
    const SourceOptions& options);

std::unique_ptr<TrackSource> NewProcessSource();
std::unique_ptr<TrackSource> NewCallSource(uint64_t min_us);
std::unique_ptr<TrackSource> NewGilSource(const SourceOptions& options);
std::unique_ptr<TrackSource> NewStateSource(const SourceOptions& options);
std::unique_ptr<TrackSource> NewTaskSource(const SourceOptions& options);
std::unique_ptr<TrackSource> NewHeapSource();
std::unique_ptr<TrackSource> NewCounterSource();
std::unique_ptr<TrackSource> NewGrowthSource();

// The last moment that a file tells of. Nothing is said of what is wrong in it.
uint64_t LastMomentOf(RereadFile* file);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_LANES_TRACK_SOURCE_H_
