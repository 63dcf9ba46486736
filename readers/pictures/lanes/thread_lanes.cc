#include "readers/pictures/lanes/thread_lanes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/pictures/chart/svg_chart.h"
#include "readers/places/place.h"
#include "readers/tracks/track_source.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr size_t kMostColors = 12;
// Colours of functions, if other colours mean running and sleeping: no green,
// orange or dark red.
constexpr absl::string_view kBesideStates[kMostColors] = {
    "#4e79a7", "#b07aa1", "#76b7b2", "#ff9da7", "#7b66d2", "#9c755f",
    "#a0cbe8", "#d37295", "#499894", "#d4a6c8", "#1f5f8b", "#fabfd2"};
// The width of a bar: a single column would hide spikes of memory.
constexpr uint32_t kBarColumns = 3;
// The least share of all time, or of all memory, for which a function gets a
// colour.
constexpr double kLeastShare = 0.001;

// Chooses threads, colours and texts, and draws lanes from the columns that
// were read.
class LaneDrawing {
 public:
  LaneDrawing(const LaneLevels& levels, size_t most)
      : levels_(levels), most_(most) {}
  LaneChart Draw();

 private:
  using Lane = LaneLevels::Lane;

  void Choose();
  uint32_t NewColor(const LaneLevels::Name& name);
  std::vector<uint32_t> NamesInOrder() const;
  void AddKey(uint32_t color, std::string label, const LaneLevels::Name& name);
  void SetColors();
  void SetRss();
  void SetTexts();
  uint32_t ColorOf(uint32_t name) const {
    return name == LaneLevels::kLibraryCode ? LaneChart::kLibraryColor
                                            : colors_[name];
  }
  static std::vector<LaneLevels::Growth> BarsOf(const Lane& lane) {
    return Coarser(lane.growth, kLevelFactor * kBarColumns);
  }
  bool IsSeen(const LaneLevels::Name& name) const;
  LaneChart::Lane DrawLane(const Lane& lane) const;
  LaneChart::Lane DrawOthers() const;
  const Lane& MainLane(size_t thread) const;
  void AddLanes(size_t thread);
  std::string DetailOf(uint64_t busy_us, double grown_bytes) const;
  std::string DetailOf(const Lane& lane) const;

  const LaneLevels& levels_;
  const size_t most_;
  LaneChart chart_;
  std::vector<size_t> shown_, others_;  // indexes of lanes
  // For each lane, those below it, in their order.
  std::vector<std::vector<size_t>> beside_;
  std::vector<uint32_t> colors_;       // by name
  size_t free_colors_ = 0;             // how many were assigned to names
  bool has_chosen_ = false;            // some are set by their source
  double all_us_ = 0, all_bytes_ = 0;  // of all lanes that are kept
  double most_bytes_ = 0;              // in one column of a lane
};

// Chooses threads by the best known figure: time, time of tracks below them,
// memory. The tracks below a thread go with it.
void LaneDrawing::Choose() {
  const auto& lanes = levels_.lanes();
  std::vector<uint64_t> beside_us(lanes.size());  // of a thread's other tracks
  beside_.resize(lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    if (lane.of_lane == 0 || lane.pieces.empty()) continue;
    beside_[lane.of_lane - 1].push_back(i);
    beside_us[lane.of_lane - 1] += lane.busy_us;
    chart_.has_beside = true;
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    if (lane.thread == 0) continue;
    if (lane.is_kept) {
      all_us_ += static_cast<double>(lane.busy_us);
      all_bytes_ += lane.grown_bytes;
    }
    chart_.has_pieces |= !lane.pieces.empty();
    chart_.has_bars |= !lane.growth.empty();
    if (!lane.pieces.empty() || !lane.growth.empty() || !beside_[i].empty()) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(lanes[a].busy_us, beside_us[a], lanes[a].grown_bytes) >
           std::tuple(lanes[b].busy_us, beside_us[b], lanes[b].grown_bytes);
  });
  // Threads that are not kept are among the others.
  const auto kept = std::stable_partition(
      order.begin(), order.end(), [&](size_t i) { return lanes[i].is_kept; });
  const size_t count =
      std::min(most_, static_cast<size_t>(kept - order.begin()));
  shown_.assign(order.begin(), order.begin() + count);
  others_.assign(order.begin() + count, order.end());
  // Shown in the order of their start.
  std::sort(shown_.begin(), shown_.end());
}

// Whether a name gets a colour of its own.
bool LaneDrawing::IsSeen(const LaneLevels::Name& name) const {
  return (name.kind == SliceName::kOther && name.busy_us > 0) ||
         name.busy_us > kLeastShare * all_us_ ||
         name.grown_bytes > kLeastShare * all_bytes_;
}

// By the time that threads spent in them, or otherwise by memory.
std::vector<uint32_t> LaneDrawing::NamesInOrder() const {
  const auto& names = levels_.names();
  std::vector<uint32_t> order;
  for (uint32_t i = LaneLevels::kLibraryCode + 1; i < names.size(); ++i) {
    order.push_back(i);
  }
  const bool by_time = chart_.has_pieces || chart_.has_beside;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    // Tracks below threads come first, and always have a colour.
    const bool a_beside = names[a].kind == SliceName::kOther;
    const bool b_beside = names[b].kind == SliceName::kOther;
    if (a_beside != b_beside) return a_beside;
    if (a_beside) return a < b;  // in the order of the source
    return by_time ? names[a].busy_us > names[b].busy_us
                   : names[a].grown_bytes > names[b].grown_bytes;
  });
  return order;
}

void LaneDrawing::AddKey(uint32_t color, std::string label,
                         const LaneLevels::Name& name) {
  chart_.keys.push_back(
      {color, std::move(label), DetailOf(name.busy_us, name.grown_bytes)});
}

// Returns kOtherColor, which is 0, once all are used.
uint32_t LaneDrawing::NewColor(const LaneLevels::Name& name) {
  if (name.color.empty()) {
    // No colour is left.
    if (free_colors_ == kMostColors) return LaneChart::kOtherColor;
    const size_t color = free_colors_++;
    // If colours mean states, functions get other ones.
    chart_.colors.push_back(has_chosen_ ? std::string(kBesideStates[color])
                                        : LayerColors(kMostColors)[color]);
  } else {
    chart_.colors.push_back(name.color);
  }
  return static_cast<uint32_t>(chart_.colors.size() - 1);
}

void LaneDrawing::SetColors() {
  chart_.colors = {"#8c959f", "#c9ced4"};
  colors_.assign(levels_.names().size(), LaneChart::kOtherColor);
  for (const LaneLevels::Name& name : levels_.names()) {
    has_chosen_ |= !name.color.empty();
  }
  LaneLevels::Name others;
  size_t other_count = 0;
  for (const uint32_t number : NamesInOrder()) {
    const LaneLevels::Name& name = levels_.names()[number];
    // Names come in order, so the colours go to those with most time or memory.
    if (IsSeen(name)) colors_[number] = NewColor(name);
    if (name.busy_us + name.grown_bytes == 0) continue;
    if (colors_[number] == LaneChart::kOtherColor) {
      others.busy_us += name.busy_us;
      others.grown_bytes += name.grown_bytes;
      ++other_count;
      continue;
    }
    const std::string file = name.file.substr(name.file.rfind('/') + 1);
    AddKey(
        colors_[number],
        name.file.empty()
            ? absl::StrCat(name.name, name.says.empty() ? "" : ": ", name.says)
            : absl::StrCat(name.name, "  ", file, ":", name.line),
        name);
  }
  if (other_count > 0 && others.busy_us + others.grown_bytes > 0) {
    AddKey(LaneChart::kOtherColor,
           Counted(other_count, "more of your functions",
                   "more of your functions"),
           others);
  }
  const LaneLevels::Name& library = levels_.names()[LaneLevels::kLibraryCode];
  if (IsSeen(library)) {
    AddKey(LaneChart::kLibraryColor, "library code not called by yours",
           library);
  }
}

std::string LaneDrawing::DetailOf(uint64_t busy_us, double grown_bytes) const {
  std::string text;
  if (chart_.has_pieces || busy_us > 0) text = HumanSeconds(busy_us);
  if (chart_.has_bars && grown_bytes > 0) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", HumanBytes(grown_bytes));
  }
  return text;
}

// The longest come first.
std::string LaneDrawing::DetailOf(const Lane& lane) const {
  if (lane.of_lane == 0) return DetailOf(lane.busy_us, lane.grown_bytes);
  auto parts = lane.by_name;
  std::stable_sort(
      parts.begin(), parts.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, time_us] : parts) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", levels_.names()[name].name,
                    " ", HumanSeconds(time_us));
  }
  return text;
}

void LaneDrawing::SetRss() {
  chart_.rss_bytes.assign(LaneChart::kColumns, -1);
  const auto& rss = levels_.rss_bytes();
  for (size_t i = 0; i < rss.size(); ++i) {
    if (rss[i] <= 0) continue;
    // The highest of the joined columns.
    double& bytes = chart_.rss_bytes[i / kLevelFactor];
    bytes = std::max(bytes, static_cast<double>(rss[i]));
  }
}

LaneChart::Lane LaneDrawing::DrawLane(const Lane& lane) const {
  LaneChart::Lane drawn;
  drawn.label = lane.name;
  drawn.beside = lane.of_lane != 0;
  drawn.detail = DetailOf(lane);
  for (const LaneLevels::Piece& piece : Coarser(lane.pieces, kLevelFactor)) {
    // Some slices are only known as a share of the time: their height shows it.
    if (levels_.names()[piece.name].by_share) {
      drawn.bars.push_back({piece.first, piece.last - piece.first + 1,
                            ColorOf(piece.name),
                            std::min(1.0, static_cast<double>(piece.share))});
      continue;
    }
    drawn.pieces.push_back(
        {piece.first, piece.last, ColorOf(piece.name), piece.share < 0.5});
  }
  // The square root keeps small bars visible beside large ones.
  for (const LaneLevels::Growth& part : BarsOf(lane)) {
    const uint32_t first = part.column * kBarColumns;
    drawn.bars.push_back({first,
                          std::min(kBarColumns, LaneChart::kColumns - first),
                          ColorOf(part.name),
                          std::sqrt(std::min(part.bytes / most_bytes_, 1.0))});
  }
  return drawn;
}

// The lane that says most about the thread: its own, or else the first one
// below it.
const LaneLevels::Lane& LaneDrawing::MainLane(size_t thread) const {
  const bool has_own = chart_.has_pieces || chart_.has_bars;
  return levels_
      .lanes()[has_own || beside_[thread].empty() ? thread
                                                  : beside_[thread].front()];
}

// How many of the other threads ran: a bar for each column.
LaneChart::Lane LaneDrawing::DrawOthers() const {
  std::vector<double> running(LaneChart::kColumns);
  uint64_t busy_us = 0;
  double bytes = 0;
  for (const size_t i : others_) {
    const Lane& lane = MainLane(i);
    busy_us += lane.busy_us;
    bytes += lane.grown_bytes;
    // Counts the threads that were not idle. Without such times memory is added
    // up instead.
    for (const LaneLevels::Piece& piece : Coarser(lane.pieces, kLevelFactor)) {
      if (levels_.names()[piece.name].is_idle) continue;
      for (uint32_t at = piece.first; at <= piece.last; ++at) {
        running[at] += piece.share;
      }
    }
    if (chart_.has_pieces || !chart_.has_bars) continue;
    for (const auto& part : Coarser(lane.growth, kLevelFactor)) {
      running[part.column] += part.bytes;
    }
  }
  LaneChart::Lane drawn;
  drawn.label = absl::StrCat(
      Grouped(others_.size() + levels_.threads_not_kept()), " more threads");
  drawn.detail = DetailOf(busy_us, bytes);
  const double highest = *std::max_element(running.begin(), running.end());
  for (uint32_t at = 0; at < LaneChart::kColumns; ++at) {
    if (running[at] <= 0) continue;
    drawn.bars.push_back(
        {at, 1, LaneChart::kOtherColor, running[at] / highest});
  }
  return drawn;
}

void LaneDrawing::SetTexts() {
  const Header& header = levels_.header();
  chart_.title = TitleOf("Threads", header.script());
  const double column_us =
      (levels_.end_us() - levels_.from_us()) / LaneChart::kColumns;
  const std::string pixel = column_us < 1000
                                ? absl::StrFormat("%.3g us", column_us)
                                : absl::StrFormat("%.3g ms", column_us / 1000);
  chart_.subtitle = absl::StrCat("process ", header.pid(), "; one pixel is ",
                                 pixel, " of time");
  // Which source the bars come from, see the sources of tracks.
  const bool by_pages = header.page_period() > 0 && !header.page_scan();
  if (chart_.has_pieces) {
    absl::StrAppend(&chart_.subtitle,
                    "; colour: your function that the thread was in");
  }
  if (!chart_.has_bars) return;
  absl::StrAppend(&chart_.subtitle, "\nbars: ",
                  by_pages ? "memory that the thread added, by pages"
                           : "memory that the thread allocated",
                  "; a full bar is ", HumanBytes(most_bytes_),
                  "; height grows with the square root",
                  chart_.has_pieces ? "" : "; colour: your function");
}

// The lanes of a thread and below it. If the run knows only a lane below, it
// gets the thread's name.
void LaneDrawing::AddLanes(size_t thread) {
  const auto& lanes = levels_.lanes();
  bool is_named = chart_.has_pieces || chart_.has_bars;
  if (is_named) chart_.lanes.push_back(DrawLane(lanes[thread]));
  for (const size_t i : beside_[thread]) {
    chart_.lanes.push_back(DrawLane(lanes[i]));
    if (is_named) continue;
    LaneChart::Lane& lane = chart_.lanes.back();
    lane.detail = absl::StrCat(lane.label, ": ", lane.detail);
    lane.label = lanes[thread].name;
    lane.beside = false;
    is_named = true;
  }
}

// The order matters: colours need the sums of Choose(), and bars the highest
// one of all lanes shown.
LaneChart LaneDrawing::Draw() {
  Choose();
  SetColors();
  SetRss();
  chart_.begin_seconds = levels_.from_us() / 1e6;
  chart_.end_seconds = levels_.end_us() / 1e6;
  for (const LaneLevels::InstantAt& at : levels_.instants()) {
    chart_.marks.push_back({static_cast<double>(at.time_us) / 1e6, at.text});
  }
  for (const size_t i : shown_) {
    for (const auto& part : BarsOf(levels_.lanes()[i])) {
      most_bytes_ = std::max(most_bytes_, part.bytes);
    }
  }
  SetTexts();
  for (const size_t i : shown_) AddLanes(i);
  if (!others_.empty()) chart_.lanes.push_back(DrawOthers());
  return std::move(chart_);
}

}  // namespace

bool ReadLanes(RereadFile* file, LaneLevels* levels) {
  SourceOptions options;
  options.for_picture = true;
  for (const auto& source : AllSources(options)) {
    if (!source->Give(file, levels)) return false;
  }
  levels->Finish();
  return true;
}

LaneChart ThreadLanes(const LaneLevels& levels, size_t most) {
  return LaneDrawing(levels, most).Draw();
}

}  // namespace pymemrun
