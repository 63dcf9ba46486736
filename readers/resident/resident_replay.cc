#include "readers/resident/resident_replay.h"

#include <algorithm>
#include <cstdlib>

#include "absl/container/flat_hash_map.h"
#include "readers/resident/find_peak.h"
#include "readers/resident/late_arrivals.h"

namespace pymemrun {
namespace {

// A reading that stands behind page events which are so much later says nothing
// of what is resident by then.
constexpr uint64_t kLateUs = 50000;
constexpr size_t kMaxReadings = 4096;
constexpr size_t kMaxLate = size_t{1} << 18;
// Runs of pages that an entry or a range allows to be looked at for late
// arrivals. Real files need fewer.
constexpr uint64_t kLooksForEach = 64;
// VmHWM and RSS are sums of counters that lag by some pages on each CPU.
constexpr uint64_t kBlurBytes = 1 << 20;
constexpr uint64_t kStretchBytes = 64 << 10;
constexpr size_t kMaxHigh = 8192;

// What cannot be told from the peak: see kBlurBytes, of few CPUs.
bool IsHigh(uint64_t bytes, uint64_t peak_bytes) {
  return bytes + std::max(kBlurBytes / 2, peak_bytes / 100) >= peak_bytes;
}

}  // namespace

ResidentReplay::ResidentReplay(uint64_t until_us, Hindsight hindsight)
    : until_us_(until_us),
      before_(std::move(hindsight)),
      waits_(before_.waits) {
  model_.SetMostRss(before_.most_rss_bytes);
}

Hindsight ResidentReplay::hindsight() const {
  Hindsight hindsight;
  if (highest_read_ != 0) {
    hindsight.most_rss_bytes = highest_read_;
    hindsight.until_us = read_us_;
  }
  hindsight.late = before_.late;
  hindsight.late.insert(hindsight.late.end(), late_.begin(), late_.end());
  std::sort(hindsight.late.begin(), hindsight.late.end(),
            [](const LateArrival& a, const LateArrival& b) {
              return a.time_us < b.time_us;
            });
  return hindsight;
}

absl::string_view ResidentReplay::TaskLabel(uint32_t task) const {
  return task == 0 || tasks_ == nullptr ? kNoTask : tasks_->names().Label(task);
}

Origin ResidentReplay::OriginOf(const PageOwner& owner) const {
  Origin origin = owner.origin();
  origin.task = TaskLabel(owner.task);
  return origin;
}

uint32_t ResidentReplay::TaskOf(const PageEntry& entry) const {
  return tasks_ == nullptr
             ? 0
             : tasks_->timeline().TaskAt(index().FirstThread(entry.thread),
                                         entry.time_us);
}

void ResidentReplay::OnHeader(const Header& header) {
  header_ = header;
  has_page_events_ = header.page_period() != 0 || header.page_scan();
  model_.SetHeader(header);
  AddReading({0, header.first_rss_bytes(), 0});
}

void ResidentReplay::MoveTo(uint64_t time_us) {
  if (time_us <= now_us_) return;
  // Nothing else need have happened at the peak.
  if (before_.peak_us > now_us_ && before_.peak_us < time_us) {
    MoveTo(before_.peak_us);
  }
  LeaveMoment();
  OnTime(time_us);
  now_us_ = time_us;
  // A program that dies may have grown since.
  if (now_us_ > before_.until_us) model_.SetMostRss(kEnd);
}

// All of now_us() has been added, except hindsight, which this adds.
void ResidentReplay::LeaveMoment() {
  const std::vector<LateArrival>& late = before_.late;
  for (; next_late_ < late.size() && late[next_late_].time_us <= now_us_;
       ++next_late_) {
    AddLate(late[next_late_]);
  }
  if (now_us_ == before_.peak_us && before_.peak_rss_bytes != 0) {
    model_.SetRss(before_.peak_rss_bytes, now_us_);
  }
}

// Everything before `time_us` has come.
void ResidentReplay::AdvanceTo(uint64_t time_us) {
  while (!readings_.empty() && readings_.begin()->first < time_us) {
    const Reading reading = readings_.begin()->second;
    readings_.erase(readings_.begin());
    if (reading.time_us > until_us_) continue;
    if (reading.time_us + kLateUs < now_us_) continue;
    MoveTo(reading.time_us);
    model_.SetRss(reading.rss_bytes, reading.time_us);
    OnReading(now_us_, reading.hwm_bytes);
  }
  if (time_us <= until_us_) MoveTo(time_us);
}

bool ResidentReplay::OnPages(const PageEntry* entries, size_t count) {
  has_page_events_ = true;
  looks_left_ += kLooksForEach * count;
  for (size_t i = 0; i < count && !past_; ++i) {
    const PageEntry& entry = entries[i];
    AdvanceTo(entry.time_us);
    past_ = entry.time_us > until_us_;
    if (past_) break;
    // Times never fall in a recorder's file. What came before an answer of the
    // kernel's that stands before it would go with each further one.
    PageEntry risen = entry;
    risen.time_us = std::max(entry.time_us, now_us_);
    for (const LateArrival& late :
         FindLateFilePages(risen, model_, &looks_left_)) {
      AddLate(late);
      if (before_.late.size() + late_.size() < kMaxLate) late_.push_back(late);
    }
    const uint64_t owned_bytes = model_.OwnedBytes();
    const uint32_t task = TaskOf(entry);
    model_.Add(risen, task,
               waits_.At(entry.time_us, entry.thread, entry.stack,
                         entry.code_mapping));
    if (infers() && entry.action == PAGE_CAME) AddInference(entry);
    OnChanged({.stack = entry.stack, .thread = entry.thread, .task = task},
              static_cast<int64_t>(model_.OwnedBytes() - owned_bytes));
  }
  if (!past_ && count > 0) last_us_ = std::max(last_us_, now_us_);
  return !done_;
}

void ResidentReplay::AddInference(const PageEntry& entry) {
  if (!entry.inferred) return inference_.AddKnown(entry.thread, entry.stack);
  const uint32_t id = model_.pages().At(entry.page).owner;
  const PageOwner& owner = model_.owners()[id];
  // It may be memory that was there, or have found no room.
  if (!owner.inferred || owner.stack != entry.stack) return;
  inference_.AddInferred(entry.thread, entry.stack, id, owner.weight);
}

void ResidentReplay::OnResidency(const ResidencyView& seen) {
  has_page_events_ = was_scanned_ = true;
  if (done_) return;
  // It stands where the kernel had answered: until then pages left by calls
  // that are told. The first tells what was there before tracing.
  const bool first = model_.ranges().empty();
  const uint64_t time_us = first ? seen.begin_us : seen.time_us;
  AdvanceTo(time_us);
  past_ |= time_us > until_us_;
  if (past_) {
    later_ranges_.assign(seen.ranges.begin(), seen.ranges.end());
    done_ = true;
    return;
  }
  if (by_scan()) {
    FindWhoRan(scanned_us_, seen.time_us);
    scanned_us_ = seen.begin_us;
  } else {
    AddLateArrivals(seen);
  }
  model_.Add(seen);
  ranges_us_ = seen.time_us;
  if (seen.time_us > until_us_) return;
  last_us_ = std::max(last_us_, seen.time_us);
  AddReading({seen.time_us, seen.rss_bytes, 0});
}

// Times rise. A growth counts with the part of it that lies between.
void ResidentReplay::FindWhoRan(uint64_t from_us, uint64_t to_us) {
  if (before_.growth == nullptr) return;
  const std::vector<SeenGrowth>& growth = *before_.growth;
  absl::flat_hash_map<uint32_t, double> by_stack;
  double most = 0;
  model_.SetRan(0, 0);
  for (size_t i = next_growth_; i < growth.size() && growth[i].from_us < to_us;
       ++i) {
    const SeenGrowth& one = growth[i];
    if (one.to_us <= from_us) continue;
    if (one.to_us <= to_us) next_growth_ = i + 1;
    const uint64_t within_us =
        std::min(one.to_us, to_us) - std::max(one.from_us, from_us);
    const double bytes = by_stack[one.stack] +=
        static_cast<double>(one.bytes) * static_cast<double>(within_us) /
        static_cast<double>(one.to_us - one.from_us);
    if (bytes <= most) continue;
    most = bytes;
    model_.SetRan(one.stack, one.thread);
  }
}

void ResidentReplay::AddLateArrivals(const ResidencyView& seen) {
  looks_left_ += kLooksForEach * seen.ranges.size();
  for (const LateArrival& late : FindLateArrivals(seen, model_, &looks_left_)) {
    AddLate(late);
    if (before_.late.size() + late_.size() < kMaxLate) late_.push_back(late);
  }
}

void ResidentReplay::AddLate(const LateArrival& late) {
  const uint64_t owned_bytes = model_.OwnedBytes();
  const PageOwner with = model_.owners()[model_.pages().At(late.with).owner];
  model_.Add(late);
  OnChanged(with, static_cast<int64_t>(model_.OwnedBytes() - owned_bytes));
}

void ResidentReplay::AddReading(const Reading& reading) {
  highest_read_ =
      std::max({highest_read_, reading.rss_bytes, reading.hwm_bytes});
  // RSS is not known of this moment, and VmHWM may be an earlier one's.
  if (reading.rss_bytes == 0) return;
  read_us_ = std::max(read_us_, reading.time_us);
  if (readings_.size() >= kMaxReadings) readings_.erase(readings_.begin());
  readings_.emplace(reading.time_us, reading);
}

void ResidentReplay::OnProcess(const ProcessSample& sample) {
  if (sample.time_us() > until_us_) return;
  last_us_ = std::max(last_us_, sample.time_us());
  if (sample.file_bytes() != 0 && sample.time_us() >= file_bytes_us_) {
    file_bytes_ = sample.file_bytes();
    file_bytes_us_ = sample.time_us();
  }
  if (first_file_bytes_ == 0) first_file_bytes_ = file_bytes_;
  AddReading({sample.time_us(), sample.rss_bytes(), sample.hwm_bytes()});
}

uint64_t ResidentReplay::UnscannedFileBytes() const {
  if (!by_scan() || file_bytes_us_ <= ranges_us_) return 0;
  uint64_t pages = 0;
  for (const ResidentRange& range : model_.ranges()) {
    if (range.file_backed) pages += range.pages;
  }
  const uint64_t bytes = pages * model_.page_bytes();
  return file_bytes_ - std::min(file_bytes_, bytes);
}

void ResidentReplay::OnFork(const Fork& fork) {
  if (past_ || fork.time_us() > until_us_) return;
  AdvanceTo(fork.time_us());
  model_.AddFork(fork.time_us());
}

void ResidentReplay::OnPageLoss(const PageLoss& loss) {
  if (loss.time_us() <= until_us_) lost_samples_ += loss.samples();
}

void ResidentReplay::OnFooter(const Footer& footer) {
  last_us_ = std::max(last_us_, std::min(footer.end_us(), until_us_));
  highest_read_ = std::max<uint64_t>(highest_read_, footer.hwm_bytes());
  // It counts also those that could not be written.
  lost_samples_ = std::max<uint64_t>(lost_samples_, footer.page_samples_lost());
}

void ResidentReplay::Finish() {
  if (by_scan() && !was_scanned_) has_page_events_ = false;
  // What was read at the last moment itself, too.
  AdvanceTo(std::min(until_us_, std::max(last_us_, now_us_)) + 1);
  if (before_.peak_us <= until_us_) MoveTo(before_.peak_us);
  LeaveMoment();
}

bool PeakFinder::IsAlmost(uint64_t bytes, uint64_t peak_bytes) {
  return bytes >= peak_bytes - peak_bytes / 100;
}

void PeakFinder::OnTime(uint64_t time_us) {
  const uint64_t rss = model().RssBytes();
  if (IsHigh(rss, std::max(high_bytes_, peak_bytes_))) AddHigh(time_us, rss);
  if (rss <= high_bytes_) return;
  high_bytes_ = rss;
  high_us_ = now_us();
}

// From now_us() on.
void PeakFinder::AddHigh(uint64_t end_us, uint64_t rss_bytes) {
  if (!high_.empty() && high_.back().end_us == now_us() &&
      high_.back().bytes / kStretchBytes == rss_bytes / kStretchBytes) {
    high_.back().end_us = end_us;
    high_.back().bytes = std::max(high_.back().bytes, rss_bytes);
    return;
  }
  if (high_.size() >= kMaxHigh) KeepHigh();
  high_.push_back({now_us(), end_us, rss_bytes});
}

// Half of them at most: every other one where RSS goes up and down all the
// time.
void PeakFinder::KeepHigh() {
  const uint64_t most = std::max(high_bytes_, peak_bytes_);
  high_.erase(std::remove_if(high_.begin(), high_.end(),
                             [most](const RssStretch& one) {
                               return !IsHigh(one.bytes, most);
                             }),
              high_.end());
  if (high_.size() < kMaxHigh / 2) return;
  for (size_t i = 0; 2 * i < high_.size(); ++i) high_[i] = high_[2 * i];
  high_.resize((high_.size() + 1) / 2);
}

void PeakFinder::OnReading(uint64_t, uint64_t hwm_bytes) {
  OnTime(now_us());
  if (hwm_bytes == 0) return RememberWhatIsKnown();
  RaiseTo(hwm_bytes);
  Take(hwm_bytes);
}

// The kernel has just said what is resident.
void PeakFinder::RememberWhatIsKnown() {
  const uint64_t rss = model().RssBytes();
  // Not what events made of RSS since statm was read: that may be too high.
  const uint64_t most = std::max({peak_bytes_, known_bytes_, rss});
  if (!IsAlmost(rss, most)) return;
  const auto unknown =
      static_cast<uint64_t>(std::abs(model().UnattributedBytes()));
  // What it is below the peak, and what is not known of it, count alike.
  const auto part = [](uint64_t bytes, uint64_t unknown_bytes) {
    return bytes - std::min(bytes, unknown_bytes);
  };
  if (IsAlmost(known_bytes_, most) &&
      part(rss, unknown) <= part(known_bytes_, unknown_bytes_)) {
    return;
  }
  known_us_ = now_us();
  known_bytes_ = rss;
  unknown_bytes_ = unknown;
}

// Since the last reading RSS was as high as it was seen, but no higher than
// `most_bytes`.
void PeakFinder::Take(uint64_t most_bytes) {
  const uint64_t bytes = std::min(high_bytes_, most_bytes);
  if (bytes > peak_bytes_) {
    peak_bytes_ = bytes;
    peak_us_ = high_us_;
    peak_unseen_ = false;
  }
  high_bytes_ = 0;
  for (auto high = high_.rbegin();
       high != high_.rend() && high->end_us >= taken_us_; ++high) {
    high->bytes = std::min(high->bytes, most_bytes);
  }
  taken_us_ = now_us();
}

// VmHWM has been read: where it has risen, RSS was as high since then.
void PeakFinder::RaiseTo(uint64_t hwm_bytes) {
  const bool risen = last_hwm_bytes_ != 0 && hwm_bytes > last_hwm_bytes_;
  last_hwm_bytes_ = hwm_bytes;
  // A peak some pages above a moment that was seen belongs to that moment.
  const uint64_t seen_bytes = std::max(high_bytes_, peak_bytes_);
  if (!risen || hwm_bytes <= seen_bytes + kBlurBytes ||
      IsAlmost(seen_bytes, hwm_bytes)) {
    return;
  }
  peak_bytes_ = hwm_bytes;
  peak_us_ = high_us_;
  peak_unseen_ = true;
}

Hindsight PeakFinder::hindsight() const {
  Hindsight hindsight = ResidentReplay::hindsight();
  hindsight.waits = waits_;
  hindsight.growth = std::make_shared<std::vector<SeenGrowth>>(growth_);
  if (peak_unseen_) {
    hindsight.peak_rss_bytes = peak_bytes_;
    hindsight.peak_us = peak_us_;
  }
  return hindsight;
}

void PeakFinder::Finish() {
  ResidentReplay::Finish();
  waits_ = finder_.Take();
  OnTime(now_us());
  RaiseTo(highest_read());
  Take(kEnd);
  KeepHigh();
  if (known_bytes_ == 0 || !IsAlmost(known_bytes_, peak_bytes_)) return;
  peak_bytes_ = known_bytes_;
  peak_us_ = known_us_;
  peak_unseen_ = false;
}

}  // namespace pymemrun
