#include "readers/replay/resident/resident_replay.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "readers/replay/resident/late_arrivals.h"
#include "readers/replay/resident/page_mappings.h"

namespace pymemrun {
namespace {

// A reading that follows page events which are this much later does not
// describe what is resident then.
constexpr uint64_t kLateUs = 50000;
// The most readings that wait for earlier events of the file.
constexpr size_t kMaxReadings = 4096;
// Runs of pages that each entry or range allows to be examined for late
// arrivals. Real files need fewer.
constexpr uint64_t kLooksForEach = 64;

}  // namespace

ResidentReplay::ResidentReplay(uint64_t until_us, Hindsight hindsight)
    : until_us_(until_us),
      before_(std::move(hindsight)),
      waits_(before_.waits) {
  model_.SetMostRss(before_.most_rss_bytes);
}

// RSS was never above the highest reading, VmHWM included, until the last one.
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
             : tasks_->TaskAt(index().FirstThread(entry.thread), entry.time_us);
}

void ResidentReplay::OnHeader(const Header& header) {
  header_ = header;
  has_page_events_ = header.page_period() != 0 || header.page_scan();
  model_.SetHeader(header);
  // RSS when tracing started: the base of everything that page events add.
  AddReading({0, header.first_rss_bytes(), 0});
}

// Ends the moment now_us(), and goes on to `time_us`.
void ResidentReplay::MoveTo(uint64_t time_us) {
  if (time_us <= now_us_) return;
  // There may be no other event at the peak.
  if (before_.peak_us > now_us_ && before_.peak_us < time_us) {
    MoveTo(before_.peak_us);
  }
  LeaveMoment();
  OnTime(time_us);
  now_us_ = time_us;
  // RSS of a program that died may have grown after the last reading.
  if (now_us_ > before_.until_us) model_.SetMostRss(kEnd);
}

// Everything at now_us() was added; adds what hindsight has for it.
void ResidentReplay::LeaveMoment() {
  const std::vector<LateArrival>& late = before_.late;
  for (; next_late_ < late.size() && late[next_late_].time_us <= now_us_;
       ++next_late_) {
    AddLate(late[next_late_]);
  }
  // At the peak RSS is set to VmHWM, which the model cannot reach by itself.
  if (now_us_ == before_.peak_us && before_.peak_rss_bytes != 0) {
    model_.SetRss(before_.peak_rss_bytes, now_us_);
  }
}

// Everything before `time_us` has been read.
void ResidentReplay::AdvanceTo(uint64_t time_us) {
  // Readings are kept by time, as they may follow later page events in the
  // file. Each is used when all events before it were added.
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
    // Times never descend in files of our recorder. In others, a page that came
    // before the last Residency would be removed by the next one, so its time
    // is raised.
    PageEntry risen = entry;
    risen.time_us = std::max(entry.time_us, now_us_);
    // Before the entry is added: what it finds was there already.
    for (const LateArrival& late :
         FindLateFilePages(risen, model_, &looks_left_)) {
      AddLate(late);
      AddToHindsight(late);
    }
    // Before the entry removes them.
    FindGone(risen);
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

// Stacks and files have no huge pages of their own.
void ResidentReplay::FindGone(const PageEntry& entry) {
  std::vector<LateArrival> blocks = FindGoneBlocks(entry, model_, &looks_left_);
  const auto is_other = [this](const LateArrival& block) {
    const uint32_t owner = model_.pages().At(block.with).owner;
    return KindOf(index().MappingName(model_.owners()[owner].mapping)) !=
           PageKind::kAnonymous;
  };
  blocks.erase(std::remove_if(blocks.begin(), blocks.end(), is_other),
               blocks.end());
  if (!blocks.empty()) OnGone(std::move(blocks));
}

void ResidentReplay::AddInference(const PageEntry& entry) {
  if (header_.page_weight() > 1) return;
  if (!entry.inferred) return inference_.AddKnown(entry.thread, entry.stack);
  const uint32_t id = model_.pages().At(entry.page).owner;
  const PageOwner& owner = model_.owners()[id];
  // The page may have been there already, or may not have fit.
  if (!owner.inferred || owner.stack != entry.stack) return;
  inference_.AddInferred(entry.thread, entry.stack, id, owner.weight);
}

void ResidentReplay::OnResidency(const ResidencyView& seen) {
  has_page_events_ = was_scanned_ = true;
  if (done_) return;
  // The record is placed at the time of the kernel's answer: until then
  // recorded calls removed pages. The first one shows what was there before
  // tracing.
  const bool first = model_.ranges().empty();
  const uint64_t time_us = first ? seen.begin_us : seen.time_us;
  AdvanceTo(time_us);
  past_ |= time_us > until_us_;
  if (past_) {
    later_ranges_.assign(seen.ranges.begin(), seen.ranges.end());
    // A later scan only shows what the pages in between belong to.
    done_ = true;
    return;
  }
  // Before the model has the scan: what it finds is charged to this code.
  if (by_scan()) {
    model_.SetRan(WhoRanUntil(seen.time_us, seen.rss_bytes));
    ForgetGrowth(seen.begin_us);
    scanned_rss_bytes_ = seen.rss_bytes;
  } else {
    AddLateArrivals(seen);
  }
  model_.Add(seen);
  ranges_us_ = seen.time_us;
  if (seen.time_us > until_us_) return;
  last_us_ = std::max(last_us_, seen.time_us);
  AddReading({seen.time_us, seen.rss_bytes, 0});
}

// Growth in all calls of one own line is summed up. Sums only rise, so the
// largest one is found while summing.
PageOwner ResidentReplay::WhoRanUntil(uint64_t to_us,
                                      uint64_t rss_bytes) const {
  PageOwner owner = {.by_scan = true};
  if (before_.growth == nullptr) return owner;
  const std::vector<SeenGrowth>& growth = *before_.growth;
  // Growth is weighed by how much of it came within the span between the scans.
  const RssSpan span = {scanned_us_, to_us, scanned_rss_bytes_, rss_bytes};
  absl::flat_hash_map<std::tuple<uint32_t, bool, bool>, double> by_stack;
  double most = 0, most_beside_imports = 0;
  for (size_t i = next_growth_; i < growth.size() && growth[i].from_us < to_us;
       ++i) {
    const SeenGrowth& one = growth[i];
    const uint32_t by = one.own != 0 ? one.own : one.stack;
    const double bytes = by_stack[{by, one.imports, one.sure}] +=
        one.BytesWithin(span);
    const WhoRan who = {one.stack, one.thread, one.waits};
    if (bytes > most) {
      most = bytes;
      owner.ran = one.sure ? who : WhoRan();
    }
    // Growth that may belong to an earlier line counts half.
    const double likely = one.sure ? bytes : bytes / 2;
    if (!one.imports && likely > most_beside_imports) {
      most_beside_imports = likely;
      owner.ran_beside_imports = who;
    }
  }
  return owner;
}

PageOwner ResidentReplay::UnscannedOwner() const {
  return WhoRanUntil(shown_us() + 1, model_.RssBytes());
}

// REQUIRES: times ascend.
void ResidentReplay::ForgetGrowth(uint64_t before_us) {
  scanned_us_ = before_us;
  if (before_.growth == nullptr) return;
  const std::vector<SeenGrowth>& growth = *before_.growth;
  while (next_growth_ < growth.size() &&
         growth[next_growth_].to_us <= before_us) {
    ++next_growth_;
  }
}

uint64_t ResidentReplay::TracingBytesOf(uint64_t before_bytes) const {
  return std::min<uint64_t>(header_.own_bytes(), before_bytes);
}

Origin ResidentReplay::FileOriginOf(const PageOwner& owner) const {
  return header_.calls_off() ? owner.origin() : owner.likely_origin();
}

void ResidentReplay::AddLateArrivals(const ResidencyView& seen) {
  looks_left_ += kLooksForEach * seen.ranges.size();
  for (const LateArrival& late : FindLateArrivals(seen, model_, &looks_left_)) {
    AddLate(late);
    AddToHindsight(late);
  }
}

// The pages came with another page: they are charged to its owner, at its time.
void ResidentReplay::AddLate(const LateArrival& late) {
  const uint64_t owned_bytes = model_.OwnedBytes();
  const PageOwner with = model_.owners()[model_.pages().At(late.with).owner];
  model_.Add(late);
  OnChanged(with, static_cast<int64_t>(model_.OwnedBytes() - owned_bytes));
}

void ResidentReplay::AddReading(const Reading& reading) {
  highest_read_ =
      std::max({highest_read_, reading.rss_bytes, reading.hwm_bytes});
  // RSS is unknown at this moment, and VmHWM may be an earlier one's.
  if (reading.rss_bytes == 0) return;
  read_us_ = std::max(read_us_, reading.time_us);
  // Bounds memory if a file has readings of one time after another, but no
  // events.
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

// The kernel's count of file pages (RssFile and RssShmem) goes on between
// scans.
uint64_t ResidentReplay::UnscannedFileBytes() const {
  // Only what the kernel counted after the last scan.
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
  // The footer includes samples that could not be written.
  lost_samples_ = std::max<uint64_t>(lost_samples_, footer.page_samples_lost());
}

void ResidentReplay::Finish() {
  // The kernel could not be asked, so a scan recorded nothing.
  if (by_scan() && !was_scanned_) has_page_events_ = false;
  // Includes what was read at the last moment itself.
  AdvanceTo(std::min(until_us_, std::max(last_us_, now_us_)) + 1);
  if (before_.peak_us <= until_us_) MoveTo(before_.peak_us);
  LeaveMoment();
}

}  // namespace pymemrun
