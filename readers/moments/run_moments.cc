#include "readers/moments/run_moments.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/heap/heap_exit.h"
#include "readers/moments/most_alive.h"
#include "readers/resident/find_peak.h"
#include "text/nearest_name.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// VmHWM and RSS are sums of counters that lag by some pages on each CPU.
constexpr uint64_t kBlurBytes = 1 << 20;
// Where RSS was read so little higher than at a scan, the scan tells more.
constexpr uint64_t kScanFraction = 16;

// Finds a mark, and remembers some labels for a message.
class MarkFinder final : public ReplayVisitor {
 public:
  explicit MarkFinder(const std::string& label) : label_(label) {}
  void OnMark(const Mark& mark) override {
    if (mark.label() == label_) {
      if (count_ == 0) time_us_ = mark.time_us();
      ++count_;
    } else if (others_.size() < kMostLabels &&
               mark.label().size() <= kMostBytes &&
               std::find(others_.begin(), others_.end(), mark.label()) ==
                   others_.end()) {
      others_.push_back(mark.label());
    }
  }
  void Finish() override {}

  absl::StatusOr<FoundMoment> Result() const {
    if (count_ == 0) return NotFound();
    const std::string label = absl::StrCat(" '", TerminalText(label_), "'");
    if (count_ == 1) return FoundMoment{time_us_, "mark" + label};
    return FoundMoment{time_us_, absl::StrCat("the first of ", Grouped(count_),
                                              " marks", label)};
  }

 private:
  static constexpr size_t kMostLabels = 64, kMostBytes = 80, kMostTold = 5;

  absl::Status NotFound() const {
    std::string text = absl::StrCat("expected ", kMomentForms, ", found '",
                                    TerminalText(label_), "'");
    const std::string nearest = NearestName(label_, others_);
    if (!nearest.empty()) {
      absl::StrAppend(&text, "; did you mean ", TerminalText(nearest), "?");
    } else if (others_.empty()) {
      absl::StrAppend(&text, "; the run has no marks");
    } else {
      std::vector<std::string> told;
      for (size_t i = 0; i < std::min(others_.size(), kMostTold); ++i) {
        told.push_back(absl::StrCat("'", TerminalText(others_[i]), "'"));
      }
      absl::StrAppend(&text, "; marks of the run: ", absl::StrJoin(told, ", "),
                      others_.size() > kMostTold ? ", ..." : "");
    }
    return absl::NotFoundError(text);
  }

  const std::string& label_;
  uint64_t time_us_ = 0, count_ = 0;
  std::vector<std::string> others_;
};

absl::Status Unreadable() { return absl::DataLossError("could not be read"); }

bool IsNear(uint64_t bytes, uint64_t most_bytes) {
  return bytes + std::max(kBlurBytes, most_bytes / 100) >= most_bytes;
}

}  // namespace

std::string FoundMoment::Text() const {
  return absl::StrCat(name, name.empty() ? "" : ", ", HumanSeconds(time_us));
}

void RunMoments::Reading::Raise(uint64_t at_us, uint64_t to_bytes) {
  if (to_bytes > bytes) *this = {at_us, to_bytes};
}

std::unique_ptr<RunMoments> RunMoments::Of(const ReadRun& read) {
  auto moments = std::make_unique<RunMoments>();
  if (!read(moments.get())) return nullptr;
  Hindsight hindsight;
  hindsight.late = moments->hindsight().late;
  if (!hindsight.late.empty()) {
    moments = std::make_unique<RunMoments>(std::move(hindsight));
    if (!read(moments.get())) return nullptr;
  }
  moments->FindInHeap(read);
  return moments;
}

void RunMoments::OnHeader(const Header& header) {
  PeakFinder::OnHeader(header);
  has_heap_ = header.heap() != HEAP_OFF;
}

bool RunMoments::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    row_.Raise(rows[i].time_us, rows[i].rss_bytes);
    last_event_us_ = std::max(last_event_us_, rows[i].time_us);
  }
  return PeakFinder::OnRows(rows, count);
}

bool RunMoments::OnHeap(const HeapEvent* events, size_t count) {
  has_heap_ = true;
  if (count > 0) {
    last_event_us_ = std::max(last_event_us_, events[count - 1].time_us);
  }
  return true;
}

void RunMoments::OnProcess(const ProcessSample& sample) {
  PeakFinder::OnProcess(sample);
  sample_.Raise(sample.time_us(), sample.rss_bytes());
  if (sample.hwm_bytes() > hwm_bytes_) {
    hwm_bytes_ = sample.hwm_bytes();
    rose_after_us_ = last_sample_us_;
    rose_until_us_ = sample.time_us();
  }
  last_sample_us_ = sample.time_us();
}

void RunMoments::OnResidency(const ResidencyView& seen) {
  PeakFinder::OnResidency(seen);
  scan_.Raise(seen.time_us, seen.rss_bytes);
}

void RunMoments::OnPeak(const Peak& peak) {
  unseen_.Raise(peak.time_us(), peak.hwm_bytes());
}

void RunMoments::OnFooter(const Footer& footer) {
  PeakFinder::OnFooter(footer);
  footer_ = footer;
  if (footer.has_peak()) OnPeak(footer.peak());
  // Above all rows where the highest one was lost.
  if (footer.max_rss_us() != 0) {
    row_.Raise(footer.max_rss_us(), footer.max_rss_bytes());
  }
  if (footer.hwm_bytes() > hwm_bytes_) {
    hwm_bytes_ = footer.hwm_bytes();
    rose_after_us_ = last_sample_us_;
    rose_until_us_ = kEnd;
  }
}

Hindsight RunMoments::hindsight() const {
  Hindsight hindsight = PeakFinder::hindsight();
  hindsight.peak_us = RssPeak().time_us;
  hindsight.peak_rss_bytes = PeakBytes();
  return hindsight;
}

// Whether an event or a sample read RSS when it was highest.
bool RunMoments::IsSeen() const {
  return IsNear(std::max(row_.bytes, sample_.bytes), hwm_bytes_);
}

// Whether page events, or a scan of pages, were there at the peak.
bool RunMoments::PagesTell() const {
  return has_page_events() &&
         (!by_scan() ||
          scan_.bytes + PeakBytes() / kScanFraction >= PeakBytes());
}

// Where RSS does not differ, what was alive tells moments apart. Finalization
// tells nothing of the program.
void RunMoments::ChooseAmongHigh(const ReadRun& read) {
  const uint64_t last_us = footer_.finalize() == Footer::FINALIZED
                               ? footer_.finalize_us()
                               : kEnd - 1;
  std::vector<RssStretch> stretches;
  for (RssStretch one : high()) {
    if (one.begin_us > last_us) break;
    one.end_us = std::min(one.end_us, last_us + 1);
    stretches.push_back(one);
  }
  MostAlive alive(stretches, peak_us());
  if (!stretches.empty() && read(&alive)) better_us_ = alive.Better();
}

void RunMoments::FindInHeap(const ReadRun& read) {
  if (!has_heap_) return;
  if (PagesTell()) {
    if (!by_scan()) ChooseAmongHigh(read);
    return;
  }
  const bool was_read = row_.bytes + sample_.bytes > 0;
  // Of scans the nearest is known: what was alive then tells more.
  const bool is_known =
      was_read && (IsSeen() || (unseen_.bytes > 0 && !by_scan()));
  if (is_known) return;
  HeapMoments heap({HeapMoment{HeapMoment::kPeak}});
  if (!read(&heap) || heap.model().peak_bytes() <= 0) return;
  const uint64_t peak_us = heap.model().peak_us();
  if (!was_read || (peak_us >= rose_after_us_ && peak_us <= rose_until_us_)) {
    heap_peak_us_ = peak_us;
  }
}

FoundMoment RunMoments::RssPeak() const {
  const std::string known = "the peak of RSS", about = "about the peak of RSS";
  if (PagesTell() && by_scan()) {
    return {scan_.time_us, IsNear(scan_.bytes, PeakBytes()) ? known : about};
  }
  if (PagesTell()) return {better_us_.value_or(peak_us()), known};
  const Reading& highest = row_.bytes >= sample_.bytes ? row_ : sample_;
  if (highest.bytes == 0) {
    if (heap_peak_us_ == kEnd) return {peak_us(), about};
    return {heap_peak_us_, "the peak of live bytes (RSS was not read)"};
  }
  if (IsSeen()) return {highest.time_us, known};
  if (by_scan()) {
    return {heap_peak_us_ != kEnd ? heap_peak_us_ : scan_.time_us, about};
  }
  if (unseen_.bytes > highest.bytes) return {unseen_.time_us, known};
  if (heap_peak_us_ != kEnd) return {heap_peak_us_, about};
  return {highest.time_us, about};
}

uint64_t RunMoments::PeakBytes() const {
  return std::max({peak_bytes(), row_.bytes, sample_.bytes, unseen_.bytes,
                   hwm_bytes_, uint64_t{footer_.seen_max_rss_bytes()}});
}

uint64_t RunMoments::EndUs() const {
  if (footer_.end_us() != 0) return footer_.end_us();
  return std::max(last_us(), last_event_us_);
}

// The footer tells it, or else the heap events, if there are any.
FoundMoment RunMoments::FindEnd(const ReadRun& read) const {
  FoundMoment end = {EndUs(), std::string(NameOfEnd(footer_)), true};
  if (footer_.finalize() == Footer::FINALIZED) {
    end.time_us = footer_.finalize_us();
    end.is_last = false;
  } else if (footer_.finalize() != Footer::NOT_FINALIZED && has_heap_) {
    HeapExitFinder finder;
    if (read(&finder) && finder.exit().kind != HeapMoment::kEnd) {
      end.time_us = finder.exit().time_us;
      end.is_last = false;
    }
  }
  return end;
}

absl::StatusOr<FoundMoment> RunMoments::Find(const Moment& moment,
                                             const ReadRun& read) const {
  switch (moment.kind) {
    case Moment::kPeak:
      return RssPeak();
    case Moment::kHeapPeak: {
      HeapMoments heap({HeapMoment{HeapMoment::kPeak}});
      if (!read(&heap)) return Unreadable();
      if (!heap.has_heap_events()) {
        return absl::NotFoundError("heap-peak: the run has no heap events");
      }
      return FoundMoment{heap.TimeOf(0), "the peak of live bytes"};
    }
    case Moment::kEnd:
      return FindEnd(read);
    case Moment::kExit:
      return FoundMoment{EndUs(), "exit", true};
    case Moment::kTime: {
      // As it was written, rounded, the end is not after the end.
      const bool is_end = HumanSeconds(moment.time_us) == HumanSeconds(EndUs());
      if (moment.time_us <= EndUs()) return FoundMoment{moment.time_us};
      if (is_end) return FoundMoment{EndUs(), "", true};
      return absl::OutOfRangeError(absl::StrCat(HumanSeconds(moment.time_us),
                                                " is after the run's end, ",
                                                HumanSeconds(EndUs())));
    }
    case Moment::kShare: {
      const double us = moment.share * static_cast<double>(EndUs());
      return FoundMoment{static_cast<uint64_t>(std::min(us, 1e18)),
                         absl::StrCat(100 * moment.share, " % of the run"),
                         moment.share == 1};
    }
    case Moment::kMark: {
      MarkFinder marks(moment.label);
      if (!read(&marks)) return Unreadable();
      return marks.Result();
    }
  }
  return Unreadable();
}

absl::StatusOr<HeapMoment> FindHeapMoment(const Moment& moment,
                                          const ReadRun& read) {
  switch (moment.kind) {
    case Moment::kHeapPeak:
      return HeapMoment{HeapMoment::kPeak};
    case Moment::kExit: {
      HeapMoment exit = {HeapMoment::kEnd};
      exit.name = "exit";
      return exit;
    }
    case Moment::kEnd: {
      HeapExitFinder finder;
      if (!read(&finder)) return Unreadable();
      return finder.exit();
    }
    default:
      break;
  }
  const auto moments = RunMoments::Of(read);
  if (moments == nullptr) return Unreadable();
  auto found = moments->Find(moment, read);
  if (!found.ok()) return found.status();
  HeapMoment at = {HeapMoment::kTime, found->time_us};
  if (found->is_last) at.kind = HeapMoment::kEnd;
  at.name = std::move(found->name);
  return at;
}

}  // namespace pymemrun
