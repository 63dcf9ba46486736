#include "readers/replay/moments/run_moments.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/replay/heap/heap_exit.h"
#include "readers/replay/moments/most_alive.h"
#include "readers/replay/resident/find_peak.h"
#include "text/nearest_name.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Finds a mark, and keeps some labels for a message.
class MarkFinder final : public ReplayVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
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
                                    ShortTerminalText(label_, kMostBytes), "'");
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

}  // namespace

std::string FoundMoment::Text() const {
  return absl::StrCat(name, name.empty() ? "" : ", ", HumanSeconds(time_us));
}

// Up to four readings: one or two for the peak (see PeakFinder::Read), one for
// live bytes, and one for waits. The last one is shared with that of live
// bytes, if there is one.
std::unique_ptr<RunMoments> RunMoments::Of(const ReadRun& read) {
  auto moments = PeakFinder::Read<RunMoments>(read);
  if (moments == nullptr) return nullptr;
  if (!moments->NeedsWaits()) {
    moments->FindPeak(read);
    return moments;
  }
  WaitReader waits;
  bool is_read = false;
  moments->FindPeak(ReadingBeside(read, &waits, &is_read));
  if (!is_read && !read({&waits})) return nullptr;
  moments->KnowWaits(waits.waits());
  return moments;
}

void RunMoments::OnHeader(const Header& header) {
  PeakFinder::OnHeader(header);
  has_heap_ = header.heap() != HEAP_OFF;
  has_faults_ = header.page_period() != 0;
}

// VmHWM (0: not read) covers the time since its last reading.
void RunMoments::AddReading(uint64_t time_us, uint64_t rss_bytes,
                            uint64_t hwm_bytes) {
  if (rss_bytes > highest_.bytes) highest_ = {time_us, rss_bytes};
  // VmHWM exceeds all readings of RSS: the peak was between two of them.
  if (hwm_bytes > std::max(hwm_bytes_, highest_.bytes)) {
    readings_.AddHwm(hwm_us_, time_us, hwm_bytes, rss_bytes);
  } else if (rss_bytes != 0) {
    readings_.AddRss(time_us, rss_bytes);
  }
  if (hwm_bytes == 0) return;
  hwm_bytes_ = std::max(hwm_bytes, hwm_bytes_);
  hwm_us_ = time_us;
}

// Each event read RSS, so rows are readings, too.
bool RunMoments::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    AddReading(rows[i].time_us, rows[i].rss_bytes, 0);
    last_event_us_ = std::max(last_event_us_, rows[i].time_us);
  }
  return PeakFinder::OnRows(rows, count);
}

void RunMoments::OnHeapBatch(const HeapBatchFacts& facts) {
  has_heap_ = true;
  last_event_us_ = std::max(last_event_us_, facts.last_us);
  PeakFinder::OnHeapBatch(facts);
}

void RunMoments::OnProcess(const ProcessSample& sample) {
  PeakFinder::OnProcess(sample);
  AddReading(sample.time_us(), sample.rss_bytes(), sample.hwm_bytes());
  if (sample.rss_bytes() == 0) return;
  last_reading_us_ = std::max(last_reading_us_, sample.time_us());
}

void RunMoments::OnResidency(const ResidencyView& seen) {
  PeakFinder::OnResidency(seen);
  AddReading(seen.time_us, seen.rss_bytes, 0);
  last_reading_us_ = std::max(last_reading_us_, seen.time_us);
  if (seen.rss_bytes > scan_.bytes) scan_ = {seen.time_us, seen.rss_bytes};
}

void RunMoments::OnPeak(const Peak& peak) {
  AddReading(peak.time_us(), 0, peak.hwm_bytes());
}

void RunMoments::OnFooter(const Footer& footer) {
  PeakFinder::OnFooter(footer);
  footer_ = footer;
  if (footer.has_peak()) OnPeak(footer.peak());
  // If the row with the highest RSS was lost, only the footer has it.
  if (footer.max_rss_us() != 0) {
    AddReading(footer.max_rss_us(), footer.max_rss_bytes(), 0);
  }
  AddReading(std::max(footer.end_us(), last_us()), 0, footer.hwm_bytes());
}

Hindsight RunMoments::hindsight() const {
  Hindsight hindsight = PeakFinder::hindsight();
  hindsight.peak_us = RssPeak().time_us;
  hindsight.peak_rss_bytes = PeakBytes();
  return hindsight;
}

// Finalization is not the program's own memory.
std::vector<RssStretch> RunMoments::BeforeFinalization(
    const std::vector<RssStretch>& stretches) const {
  if (footer_.finalize() != Footer::FINALIZED) return stretches;
  std::vector<RssStretch> before;
  for (RssStretch one : stretches) {
    if (one.begin_us > footer_.finalize_us()) break;
    one.end_us = std::min(one.end_us, footer_.finalize_us() + 1);
    before.push_back(one);
  }
  return before;
}

// Where RSS is equal, live bytes distinguish the moments.
void RunMoments::Choose(const ReadRun& read) {
  uint64_t known_us = kEnd;  // resident pages were best known then
  std::vector<RssStretch> stretches;
  // With faults the model has RSS at all times; otherwise only readings are
  // known.
  if (has_faults_) {
    known_us = peak_us();
    stretches = high();
  } else {
    stretches = readings_.Near(PeakBytes());
    if (!stretches.empty()) peak_.time_us = stretches.front().end_us - 1;
    for (const Reading& one : {highest_, scan_}) {
      if (HighReadings::IsNear(one.bytes, PeakBytes())) known_us = one.time_us;
    }
  }
  if (known_us != kEnd) peak_.time_us = known_us;
  stretches = BeforeFinalization(stretches);
  // Without heap events no other evidence distinguishes the moments.
  if (!has_heap_ || stretches.empty()) return;
  // A scan finds the touched parts of blocks and mappings. If these and older
  // memory can explain RSS, no other moment is better.
  const double enough_bytes =
      !has_faults_ && known_us == scan_.time_us
          ? 0.95 * static_cast<double>(PeakBytes()) -
                static_cast<double>(header().first_rss_bytes())
          : std::numeric_limits<double>::infinity();
  MostAlive alive(stretches, known_us, enough_bytes);
  if (read({&alive})) peak_.time_us = alive.Better().value_or(peak_.time_us);
}

// In this order: page faults, readings of RSS, and live bytes if RSS was never
// read.
void RunMoments::FindPeak(const ReadRun& read) {
  if (has_faults_ || highest_.bytes > 0) {
    const bool known =
        has_faults_ || HighReadings::IsNear(highest_.bytes, PeakBytes());
    peak_.name = known ? "the peak of RSS" : "about the peak of RSS";
    return Choose(read);
  }
  // RSS was never read: the peak of live bytes is the next best.
  peak_ = {peak_us(), "about the peak of RSS"};
  HeapMoments heap({HeapMoment{HeapMoment::kPeak}});
  if (!has_heap_ || !read({&heap}) || heap.model().peak_bytes() <= 0) return;
  peak_ = {heap.model().peak_us(), "the peak of live bytes (RSS was not read)"};
}

uint64_t RunMoments::PeakBytes() const {
  return std::max({peak_bytes(), highest_.bytes, hwm_bytes_,
                   uint64_t{footer_.seen_max_rss_bytes()}});
}

uint64_t RunMoments::EndUs() const {
  if (footer_.end_us() != 0) return footer_.end_us();
  return std::max(last_us(), last_event_us_);
}

uint64_t RunMoments::KnownUntilUs() const {
  // Some collectors did not write a reading equal to the one before.
  constexpr uint64_t kMostLateUs = 500000;
  // The process reported its own memory at its end.
  const bool was_told = footer_.own_bytes() != 0;
  const uint64_t end_us = EndUs();
  if (was_told || has_faults_ || last_reading_us_ + kMostLateUs < end_us) {
    return end_us;
  }
  return std::min(last_reading_us_, end_us);
}

// From the footer, or else from heap events, if there are any.
// `is_last` stays true only if nothing after the moment is in the file.
FoundMoment RunMoments::FindEnd(const ReadRun& read) const {
  FoundMoment end = {EndUs(), std::string(NameOfEnd(footer_)), true};
  if (footer_.finalize() == Footer::FINALIZED) {
    end.time_us = footer_.finalize_us();
    end.is_last = false;
  } else if (footer_.finalize() != Footer::NOT_FINALIZED && has_heap_) {
    HeapExitFinder finder;
    if (read({&finder}) && finder.exit().kind != HeapMoment::kEnd) {
      end.time_us = finder.exit().time_us;
      end.is_last = false;
    }
  }
  return end;
}

// Reads the file again only for the moments that the first reading cannot know.
absl::StatusOr<FoundMoment> RunMoments::Find(const Moment& moment,
                                             const ReadRun& read) const {
  switch (moment.kind) {
    case Moment::kPeak:
      return RssPeak();
    case Moment::kHeapPeak: {
      HeapMoments heap({HeapMoment{HeapMoment::kPeak}});
      if (!read({&heap})) return Unreadable();
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
      // A time that the user copied from a report was rounded, perhaps to
      // after the end: times are compared as printed.
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
      if (!read({&marks})) return Unreadable();
      return marks.Result();
    }
  }
  return Unreadable();
}

ReadRun ReadingBeside(const ReadRun& read, ReplayVisitor* beside,
                      bool* is_read) {
  return [=, &read](absl::Span<ReplayVisitor* const> visitors) {
    std::vector<ReplayVisitor*> all(visitors.begin(), visitors.end());
    const bool takes_heap =
        std::any_of(all.begin(), all.end(), [](const ReplayVisitor* visitor) {
          return visitor->heap_use() == HeapUse::kEvents;
        });
    // Exchanged at the first reading that takes heap events: later ones go
    // without.
    if (takes_heap && !std::exchange(*is_read, true)) all.push_back(beside);
    return read(all);
  };
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
      if (!read({&finder})) return Unreadable();
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
  at.waits = moments->hindsight().waits;
  if (found->is_last) at.kind = HeapMoment::kEnd;
  at.name = std::move(found->name);
  return at;
}

}  // namespace pymemrun
