#include "readers/pictures/lanes/lane_levels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

// The largest difference of shares within one piece: an eighth hardly shows in
// a lane of some 20 pixels.
constexpr float kSameShare = 0.125;

// Adjacent pieces of one name are one piece if their shares hardly differ.
bool CanJoin(const LaneLevels::Piece& before, const LaneLevels::Piece& piece) {
  return before.last + 1 == piece.first && before.name == piece.name &&
         std::fabs(before.share - piece.share) < kSameShare;
}

void Join(const LaneLevels::Piece& piece,
          std::vector<LaneLevels::Piece>* pieces) {
  if (pieces->empty() || !CanJoin(pieces->back(), piece)) {
    return pieces->push_back(piece);
  }
  LaneLevels::Piece& before = pieces->back();
  const auto width = static_cast<float>(before.last - before.first + 1);
  const auto added = static_cast<float>(piece.last - piece.first + 1);
  // The mean share, weighted by columns.
  before.share = (before.share * width + piece.share * added) / (width + added);
  before.last = piece.last;
}

}  // namespace

// Name 0 means that there is no name; names_ starts with it and library code.
LaneLevels::LaneLevels(uint64_t end_us, uint32_t columns, uint64_t from_us,
                       bool is_part)
    : from_us_(static_cast<double>(from_us)),
      end_us_(std::max(static_cast<double>(end_us), from_us_ + 1)),
      last_shown_us_(is_part ? end_us : UINT64_MAX),
      columns_(columns),
      names_(kLibraryCode + 1),
      rss_bytes_(columns) {
  names_[kLibraryCode].name = "library code";
  names_[kLibraryCode].kind = SliceName::kLibrary;
}

void LaneLevels::KeepThreads(std::function<bool(uint32_t)> keeps) {
  keeps_ = std::move(keeps);
}

bool LaneLevels::Keeps(uint32_t thread) const {
  return keeps_ == nullptr || keeps_(thread);
}

// Lanes are numbered from 1 on. 0 is a lane that did not fit: what is added to
// it is dropped.
uint32_t LaneLevels::NewLane(Lane lane) {
  if (lanes_.size() >= kMostLanes) {
    threads_not_kept_ += lane.thread != 0;
    return 0;
  }
  lanes_.push_back(std::move(lane));
  states_.emplace_back();
  return static_cast<uint32_t>(lanes_.size());
}

uint32_t LaneLevels::AddThread(const TrackThread& thread) {
  const auto [found, is_new] = thread_tracks_.try_emplace(thread.id, 0);
  if (is_new) {
    Lane lane;
    lane.name = std::string(thread.name);
    lane.thread = thread.id;
    lane.is_kept = Keeps(thread.id);
    found->second = NewLane(std::move(lane));
  }
  return found->second;
}

uint32_t LaneLevels::AddLane(uint32_t thread_track, absl::string_view name) {
  Lane lane;
  lane.name = std::string(name);
  lane.of_lane = thread_track;
  if (thread_track != 0) lane.is_kept = lanes_[thread_track - 1].is_kept;
  return NewLane(std::move(lane));
}

uint32_t LaneLevels::AddCounter(absl::string_view name, CounterUnit unit) {
  ++counters_;
  if (name == kRssCounter) rss_counter_ = counters_;
  return counters_;
}

uint32_t LaneLevels::AddName(const SliceName& name) {
  // Library code and C code share one name: a picture shows own functions.
  if (name.kind == SliceName::kLibrary || name.kind == SliceName::kC) {
    return kLibraryCode;
  }
  // Equal names of all sources have one number, so that colours agree.
  std::string key = absl::StrCat(name.file, "\n", name.line, "\n", name.name);
  const auto [found, is_new] = name_numbers_.try_emplace(
      std::move(key), static_cast<uint32_t>(names_.size()));
  if (is_new) {
    Name made;
    made.name = std::string(name.name);
    made.file = std::string(name.file);
    made.line = name.line;
    made.kind = name.kind;
    made.color = std::string(name.color);
    made.says = std::string(name.says);
    made.is_idle = name.is_idle;
    made.by_share = name.by_share;
    names_.push_back(std::move(made));
  }
  return found->second;
}

// The position of a time in columns, with a fraction.
double LaneLevels::ColumnsAt(uint64_t time_us) const {
  return std::clamp(
             (static_cast<double>(time_us) - from_us_) / (end_us_ - from_us_),
             0.0, 1.0) *
         columns_;
}

uint64_t LaneLevels::Shown(uint64_t time_us) const {
  return std::clamp(time_us, static_cast<uint64_t>(from_us_), last_shown_us_);
}

uint32_t LaneLevels::ColumnOf(uint64_t time_us) const {
  return std::min(static_cast<uint32_t>(ColumnsAt(time_us)), columns_ - 1);
}

// Charges the time since the track's last event to the innermost open name.
// Only the part within the picture counts. If only a share of the slice was so,
// the rest goes to `rest_name`, or to nothing.
void LaneLevels::PassTo(uint32_t track, uint64_t time_us, const SliceEnd& end) {
  State& state = states_[track - 1];
  const uint64_t begin_us = Shown(state.time_us), end_us = Shown(time_us);
  if (end_us > begin_us && !state.open.empty()) {
    const uint32_t name = state.open.back();
    const uint64_t all_us = end_us - begin_us;
    const double share = std::clamp(end.share, 0.0, 1.0);
    const auto mine_us =
        share == 1 ? all_us
                   : static_cast<uint64_t>(static_cast<double>(all_us) * share);
    AddTime(track, mine_us, name);
    if (end.rest_name != 0) AddTime(track, all_us - mine_us, end.rest_name);
    AddBusy(track, ColumnsAt(begin_us), ColumnsAt(end_us),
            end.rest_name == 0 ? share : 1, name);
  }
  state.time_us = std::max(state.time_us, time_us);
}

// Sums for the order of threads, the order of colours, and the texts of lanes.
void LaneLevels::AddTime(uint32_t track, uint64_t time_us, uint32_t name) {
  Lane& lane = lanes_[track - 1];
  if (!names_[name].is_idle) lane.busy_us += time_us;
  if (lane.is_kept) names_[name].busy_us += time_us;
  // Only lanes below threads list their names.
  if (lane.of_lane == 0) return;
  for (auto& [known, sum_us] : lane.by_name) {
    if (known != name) continue;
    sum_us += time_us;
    return;
  }
  if (lane.by_name.size() < LaneTally::kMostParts) {
    lane.by_name.emplace_back(name, time_us);
  }
}

// Times are in columns. Whole columns become a piece directly, so a long slice
// costs no more than a short one. Its two ends share their columns with other
// slices: they are tallied.
void LaneLevels::AddBusy(uint32_t track, double from, double to, double share,
                         uint32_t name) {
  LaneTally& tally = states_[track - 1].busy;
  const auto add = [&](uint32_t column, double columns) {
    if (columns * share <= 0) return;
    if (tally.column != column) FlushBusy(track);
    tally.column = column;
    tally.Add(name, columns * share);
  };
  const uint32_t first = std::min(static_cast<uint32_t>(from), columns_ - 1);
  const uint32_t last = std::min(static_cast<uint32_t>(to), columns_ - 1);
  if (first == last) return add(first, to - from);
  add(first, first + 1 - from);
  if (first + 1 < last) {
    FlushBusy(track);
    AddPiece(track, {first + 1, last - 1, name, static_cast<float>(share)});
  }
  add(last, to - last);
}

// Ends a tallied column: it shows the name with most time, and the share of all
// names.
void LaneLevels::FlushBusy(uint32_t track) {
  LaneTally& tally = states_[track - 1].busy;
  if (tally.column == LaneTally::kNone) return;
  const auto [name, share] = tally.Take();
  AddPiece(track,
           {tally.column, tally.column, name, static_cast<float>(share)});
  tally.column = LaneTally::kNone;
}

void LaneLevels::AddPiece(uint32_t track, const Piece& piece) {
  Join(piece, &lanes_[track - 1].pieces);
}

// Own code includes the library code that it calls. So the stack of open names
// has the own name again.
void LaneLevels::Begin(uint32_t track, uint64_t time_us, uint32_t name) {
  if (track == 0) return;
  PassTo(track, time_us);
  std::vector<uint32_t>& open = states_[track - 1].open;
  const bool is_within = name == kLibraryCode && !open.empty();
  open.push_back(is_within ? open.back() : name);
}

void LaneLevels::End(uint32_t track, uint64_t time_us, const SliceEnd& end) {
  if (track == 0 || states_[track - 1].open.empty()) return;
  PassTo(track, time_us, end);
  states_[track - 1].open.pop_back();
}

void LaneLevels::Count(uint32_t counter, uint64_t time_us, int64_t value) {
  if (counter != rss_counter_ || time_us > last_shown_us_) return;
  // RSS before the picture starts is that of its first column.
  if (!IsShown(time_us)) {
    rss_bytes_[0] = value;
    return;
  }
  int64_t& highest = rss_bytes_[ColumnOf(time_us)];
  highest = std::max(highest, value);
}

void LaneLevels::Instant(uint32_t track, uint64_t time_us,
                         absl::string_view text) {
  if (instants_.size() >= kMostInstants || !IsShown(time_us)) return;
  instants_.push_back({time_us, std::string(text)});
}

// Tallied by column, as time is.
void LaneLevels::Grow(uint32_t track, uint64_t time_us, uint32_t name,
                      double bytes) {
  if (track == 0 || !IsShown(time_us)) return;
  LaneTally& tally = states_[track - 1].growth;
  const uint32_t column = ColumnOf(time_us);
  if (tally.column != column) FlushGrowth(track);
  tally.column = column;
  tally.Add(name, bytes);
  Lane& lane = lanes_[track - 1];
  lane.grown_bytes += bytes;
  if (lane.is_kept) names_[name].grown_bytes += bytes;
}

void LaneLevels::FlushGrowth(uint32_t track) {
  LaneTally& tally = states_[track - 1].growth;
  if (tally.column == LaneTally::kNone) return;
  const auto [name, bytes] = tally.Take();
  lanes_[track - 1].growth.push_back({tally.column, name, bytes});
  tally.column = LaneTally::kNone;
}

void LaneLevels::Finish() {
  for (uint32_t track = 1; track <= lanes_.size(); ++track) {
    FlushBusy(track);
    FlushGrowth(track);
  }
}

// Splits each piece at the ends of new columns. Parts within one new column are
// added up, and the largest one names it. Linear in pieces and new columns.
std::vector<LaneLevels::Piece> Coarser(
    const std::vector<LaneLevels::Piece>& pieces, uint32_t factor) {
  std::vector<LaneLevels::Piece> result;
  // One new column at a time: it is joined when the next one starts.
  LaneLevels::Piece open = {};
  float most = 0;
  bool is_open = false;
  const auto add = [&](uint32_t column, uint32_t name, float share) {
    if (is_open && open.first != column) {
      Join(open, &result);
      is_open = false;
    }
    if (!is_open) {
      open = {column, column, name, 0};
      most = 0;
      is_open = true;
    }
    open.share += share;
    if (share <= most) return;
    most = share;
    open.name = name;
  };
  for (const LaneLevels::Piece& piece : pieces) {
    for (uint32_t at = piece.first; at <= piece.last;) {
      const uint32_t column = at / factor;
      const uint32_t end = std::min((column + 1) * factor - 1, piece.last);
      add(column, piece.name,
          piece.share * static_cast<float>(end - at + 1) /
              static_cast<float>(factor));
      at = end + 1;
    }
  }
  if (is_open) Join(open, &result);
  return result;
}

std::vector<LaneLevels::Growth> Coarser(
    const std::vector<LaneLevels::Growth>& growth, uint32_t factor) {
  std::vector<LaneLevels::Growth> result;
  double most = 0;
  for (LaneLevels::Growth part : growth) {
    part.column /= factor;
    if (result.empty() || result.back().column != part.column) {
      result.push_back(part);
      most = part.bytes;
      continue;
    }
    result.back().bytes += part.bytes;
    if (part.bytes <= most) continue;
    most = part.bytes;
    result.back().name = part.name;
  }
  return result;
}

void LaneTally::Add(uint32_t name, double value) {
  for (auto& [known, sum] : parts) {
    if (known == name) {
      sum += value;
      return;
    }
  }
  // Further names count for the last one, so that memory is bounded.
  if (parts.size() < kMostParts) {
    parts.emplace_back(name, value);
  } else {
    parts.back().second += value;
  }
}

std::pair<uint32_t, double> LaneTally::Take() {
  std::pair<uint32_t, double> most = {0, -1};
  double sum = 0;
  for (const auto& part : parts) {
    sum += part.second;
    if (part.second > most.second) most = part;
  }
  parts.clear();
  return {most.first, sum};
}

}  // namespace pymemrun
