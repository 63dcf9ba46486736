// What is seen of millions of slices on so many columns of a picture, and on
// fewer. Used by pictures of threads.
#ifndef PYMEMRUN_READERS_PICTURES_LANES_LANE_LEVELS_H_
#define PYMEMRUN_READERS_PICTURES_LANES_LANE_LEVELS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/tracks/track_sink.h"

namespace pymemrun {

// What one column of a lane is made of, while it is being added up.
struct LaneTally {
  static constexpr uint32_t kNone = UINT32_MAX;
  // Names that are told apart. The others count for the last of these.
  static constexpr size_t kMostParts = 16;

  uint32_t column = kNone;
  std::vector<std::pair<uint32_t, double>> parts;  // name and what it has

  void Add(uint32_t name, double value);
  // The name that has most, and the sum of all. There are no parts then.
  std::pair<uint32_t, double> Take();
};

// Slices, bytes that came and RSS are merged as they come into columns of equal
// time: of each column it is known what took most of it. Memory is that of
// columns times lanes, at most. Not thread safe.
class LaneLevels final : public TrackSink {
 public:
  static constexpr size_t kMostLanes = 16384;  // the others are counted
  static constexpr size_t kMostInstants = 256;
  // The name of what ran where no own code is around it.
  static constexpr uint32_t kLibraryCode = 1;

  // Columns from `first` to `last` in which `name` took the most time.
  struct Piece {
    uint32_t first, last, name;
    float share;  // of these columns' time, with all names
  };
  // Bytes that came in a column, most of them of this name.
  struct Growth {
    uint32_t column, name;
    double bytes;
  };
  struct Lane {
    std::string name;
    uint32_t of_lane = 0;  // the thread's number; 0: it is beside no thread
    uint32_t thread = 0;   // its id, of a thread's own lane; 0: of the others
    bool is_kept = true;   // as KeepThreads says of its thread
    std::vector<Piece> pieces;
    std::vector<Growth> growth;
    uint64_t busy_us = 0;  // without names that are idle
    double grown_bytes = 0;
    // Beside threads: time by name, the first LaneTally::kMostParts.
    std::vector<std::pair<uint32_t, uint64_t>> by_name;
  };
  // Own code, or another name. Equal ones have one number in all sources.
  struct Name {
    std::string name, file;
    uint32_t line = 0;
    SliceName::Kind kind = SliceName::kOther;
    std::string color, says;  // as SliceName has them
    bool is_idle = false, by_share = false;
    // Of the threads that are kept.
    uint64_t busy_us = 0;
    double grown_bytes = 0;
  };
  struct InstantAt {
    uint64_t time_us = 0;
    std::string text;
  };

  // From one moment to another; `is_part`: the run goes on behind it. REQUIRES:
  // columns > 0.
  LaneLevels(uint64_t end_us, uint32_t columns, uint64_t from_us = 0,
             bool is_part = false);

  // What names come to is summed up of these threads alone, by their ids. To be
  // called before anything is given.
  void KeepThreads(std::function<bool(uint32_t)> keeps);

  void SetProcess(const Header& header) override { header_ = header; }
  uint32_t AddThread(const TrackThread& thread) override;
  bool Keeps(uint32_t thread) const override;
  uint32_t AddLane(uint32_t thread_track, absl::string_view name) override;
  uint32_t AddCounter(absl::string_view name, CounterUnit unit) override;
  uint32_t AddName(const SliceName& name) override;
  void Begin(uint32_t track, uint64_t time_us, uint32_t name) override;
  void End(uint32_t track, uint64_t time_us, const SliceEnd& end) override;
  void Count(uint32_t counter, uint64_t time_us, int64_t value) override;
  void CountReal(uint32_t, uint64_t, double) override {}  // no picture has any
  void Instant(uint32_t track, uint64_t time_us,
               absl::string_view text) override;
  void Grow(uint32_t track, uint64_t time_us, uint32_t name,
            double bytes) override;
  // To be called when all was given.
  void Finish();

  // REQUIRES of what follows: Finish() was called.
  const Header& header() const { return header_; }
  uint32_t columns() const { return columns_; }
  double from_us() const { return from_us_; }
  double end_us() const { return end_us_; }
  const std::vector<Lane>& lanes() const { return lanes_; }  // by number - 1
  const std::vector<Name>& names() const { return names_; }  // by number
  // The highest RSS in each column, or before the first one the last; 0: none.
  const std::vector<int64_t>& rss_bytes() const { return rss_bytes_; }
  const std::vector<InstantAt>& instants() const { return instants_; }
  // Threads that found no room.
  uint64_t threads_not_kept() const { return threads_not_kept_; }

 private:
  struct State {
    std::vector<uint32_t> open;  // names as they are shown
    uint64_t time_us = 0;        // up to which time is added up
    LaneTally busy, growth;
  };

  uint32_t NewLane(Lane lane);
  bool IsShown(uint64_t time_us) const { return Shown(time_us) == time_us; }
  uint64_t Shown(uint64_t time_us) const;  // the nearest moment that is
  double ColumnsAt(uint64_t time_us) const;
  uint32_t ColumnOf(uint64_t time_us) const;
  void PassTo(uint32_t track, uint64_t time_us, const SliceEnd& end = {});
  void AddTime(uint32_t track, uint64_t time_us, uint32_t name);
  void AddBusy(uint32_t track, double from, double to, double share,
               uint32_t name);
  void FlushBusy(uint32_t track);
  void FlushGrowth(uint32_t track);
  void AddPiece(uint32_t track, const Piece& piece);

  const double from_us_, end_us_;
  const uint64_t last_shown_us_;
  const uint32_t columns_;
  std::function<bool(uint32_t)> keeps_;  // null: all
  Header header_;
  std::vector<Lane> lanes_;
  std::vector<State> states_;
  uint64_t threads_not_kept_ = 0;
  absl::flat_hash_map<uint32_t, uint32_t> thread_tracks_;  // by thread
  std::vector<Name> names_;
  absl::flat_hash_map<std::string, uint32_t> name_numbers_;
  uint32_t counters_ = 0, rss_counter_ = 0;
  std::vector<int64_t> rss_bytes_;
  std::vector<InstantAt> instants_;
};

// The same on fewer columns, each for `factor` > 0 of those before.
std::vector<LaneLevels::Piece> Coarser(
    const std::vector<LaneLevels::Piece>& pieces, uint32_t factor);
std::vector<LaneLevels::Growth> Coarser(
    const std::vector<LaneLevels::Growth>& growth, uint32_t factor);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_LANES_LANE_LEVELS_H_
