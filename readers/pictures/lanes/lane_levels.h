// Reduces millions of slices to the columns of a picture. Used by pictures of
// threads.
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

// Adds up what one column of a lane consists of.
struct LaneTally {
  static constexpr uint32_t kNone = UINT32_MAX;
  // The most names kept apart; others count for the last one.
  static constexpr size_t kMostParts = 16;

  uint32_t column = kNone;
  std::vector<std::pair<uint32_t, double>> parts;  // by name

  void Add(uint32_t name, double value);
  // Returns the name with the most, and the sum of all; removes the parts.
  std::pair<uint32_t, double> Take();
};

// Merges slices, added bytes and RSS, as they come, into columns of equal time.
// It keeps which name took most of each column. Memory is at most columns times
// lanes. Not thread safe.
class LaneLevels final : public TrackSink {
 public:
  static constexpr size_t kMostLanes = 16384;  // further ones are only counted
  static constexpr size_t kMostInstants = 256;
  // The name of what ran outside any own code.
  static constexpr uint32_t kLibraryCode = 1;

  // Columns from `first` to `last` in which `name` took the most time.
  struct Piece {
    uint32_t first, last, name;
    float share;  // of these columns' time, with all names
  };
  // Bytes added in a column, most of them by this name.
  struct Growth {
    uint32_t column, name;
    double bytes;
  };
  // A thread, or a track below one or below the process.
  struct Lane {
    std::string name;
    uint32_t of_lane = 0;  // number of the thread's lane; 0: not below a thread
    uint32_t thread = 0;   // the thread's id for its own lane; 0: another lane
    bool is_kept = true;   // see KeepThreads()
    std::vector<Piece> pieces;
    std::vector<Growth> growth;
    uint64_t busy_us = 0;  // without idle names
    double grown_bytes = 0;
    // For lanes below threads: time by name, the first LaneTally::kMostParts.
    std::vector<std::pair<uint32_t, uint64_t>> by_name;
  };
  // Own code, or another name. Equal names of all sources have one number.
  struct Name {
    std::string name, file;
    uint32_t line = 0;
    SliceName::Kind kind = SliceName::kOther;
    std::string color, says;  // see SliceName
    bool is_idle = false, by_share = false;
    // Sums over the threads that are kept.
    uint64_t busy_us = 0;
    double grown_bytes = 0;
  };
  // A mark or a pause: an event without a duration.
  struct InstantAt {
    uint64_t time_us = 0;
    std::string text;
  };

  // The time of the columns. `is_part`: the run continues after it. REQUIRES:
  // columns > 0.
  LaneLevels(uint64_t end_us, uint32_t columns, uint64_t from_us = 0,
             bool is_part = false);

  // Sums up names only for threads whose id `keeps` accepts. To be called
  // before anything is added.
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
  // Not used by pictures.
  void CountReal(uint32_t, uint64_t, double) override {}
  void Instant(uint32_t track, uint64_t time_us,
               absl::string_view text) override;
  void Grow(uint32_t track, uint64_t time_us, uint32_t name,
            double bytes) override;
  // To be called when everything was added.
  void Finish();

  // REQUIRES, from here on: Finish() was called.
  const Header& header() const { return header_; }
  uint32_t columns() const { return columns_; }
  double from_us() const { return from_us_; }
  double end_us() const { return end_us_; }
  const std::vector<Lane>& lanes() const { return lanes_; }  // by number - 1
  const std::vector<Name>& names() const { return names_; }  // by number
  // The highest RSS in each column, or the last one before it; 0: none.
  const std::vector<int64_t>& rss_bytes() const { return rss_bytes_; }
  const std::vector<InstantAt>& instants() const { return instants_; }
  // Threads that did not fit.
  uint64_t threads_not_kept() const { return threads_not_kept_; }

 private:
  struct State {
    std::vector<uint32_t> open;  // names as they are shown
    uint64_t time_us = 0;        // the time up to which everything is added up
    LaneTally busy, growth;
  };

  uint32_t NewLane(Lane lane);
  bool IsShown(uint64_t time_us) const { return Shown(time_us) == time_us; }
  // The nearest moment within the picture.
  uint64_t Shown(uint64_t time_us) const;
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
  std::function<bool(uint32_t)> keeps_;  // null: all are kept
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

// Joins each `factor` columns into one. REQUIRES: factor > 0.
std::vector<LaneLevels::Piece> Coarser(
    const std::vector<LaneLevels::Piece>& pieces, uint32_t factor);
std::vector<LaneLevels::Growth> Coarser(
    const std::vector<LaneLevels::Growth>& growth, uint32_t factor);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_LANES_LANE_LEVELS_H_
