#include "collector/pages/page_collector.h"

#include <algorithm>

#include "collector/process/process_watch.h"
#include "collector/side/quiet_span.h"

namespace pymemrun {
namespace {

// Samples younger than this may be missing: the kernel takes the time of a
// sample before it publishes it.
constexpr uint64_t kSettleNs = 2000000;
// Pages found by munmap are dated this much before their release, because times
// in the file are microseconds.
constexpr uint64_t kFoundBeforeNs = 1000;
constexpr uint64_t kPutOffNs = 20000000;
// RSS and its time must belong together, even at a million faults a second. So
// RSS is read again if reading took longer than kPromptNs.
constexpr int kRssTries = 10;
constexpr uint64_t kPromptNs = 100000;
constexpr int kMostPutOff = 12;  // by so long each
// What does not fit stays in the rings.
constexpr size_t kMaxSamplesHeld = size_t{1} << 20;
constexpr uint32_t kLongestNapUs = 10000;
constexpr uint32_t kShortestNapUs = 500;
// At its fastest a CPU takes some two million faults a second, for reads into
// fresh memory. The collector sleeps for half a ring of these at most.
constexpr uint32_t kSamplesPerMs = 2000;

uint32_t NapFor(const PageRings* rings) {
  if (rings == nullptr) return kLongestNapUs;
  const size_t half_ms = rings->samples_in_ring() / 2 / kSamplesPerMs;
  return std::clamp(static_cast<uint32_t>(half_ms * 1000), kShortestNapUs,
                    kLongestNapUs);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PageCollector>> PageCollector::Create(
    const Options& options) {
  std::unique_ptr<PageRings> rings;
  if (options.counters > 0) {
    auto mapped =
        PageRings::Map(options.first_fd, options.counters, options.forked);
    if (!mapped.ok()) return mapped.status();
    rings = *std::move(mapped);
  }
  return std::unique_ptr<PageCollector>(
      new PageCollector(options, std::move(rings)));
}

PageCollector::PageCollector(const Options& options,
                             std::unique_ptr<PageRings> rings)
    : options_(options),
      rings_(std::move(rings)),
      scan_(options.pid, options.page_bytes, options.side->mappings()),
      looks_(&scan_, options.side->mappings(), options.page_bytes),
      stats_(options.pid),
      signal_rate_(
          options.first_fd + static_cast<int>(options.counters),
          options.signals == 2 * options.counters ? options.counters : 0,
          options.weight),
      matcher_(options.page_bytes),
      sampler_({options.weight, options.seed, options.page_bytes}),
      encoder_({options.pid, options.page_bytes, options.clock,
                options.definitions, options.side->stacks(),
                options.side->mappings(), options.out}),
      longest_nap_us_(NapFor(rings_.get())) {
  options.side->Subscribe(this, {SideKind::kTouch, SideKind::kRange,
                                 SideKind::kFork, SideKind::kFileFound});
}

size_t PageCollector::Drain(uint64_t now_ns) {
  const size_t taken = Gather(now_ns);
  Match(std::max(matched_ns_, BeforeEnd(complete_ns_)));
  MaybeAskResidency(now_ns);
  return taken;
}

// Moves the contents of both rings to samples_ and touches_. Their stacks are
// matched later, in Match().
size_t PageCollector::Gather(uint64_t now_ns) {
  const uint64_t until_ns = now_ns - std::min(now_ns, kSettleNs);
  // In this order. A sample is in its ring before the signal that it makes. So
  // all samples up to each touch seen here are seen below.
  size_t taken = options_.side->Drain(now_ns, false);
  // A program that begins items and never commits them must not make all wait.
  const bool too_many = matcher_.waiting() > PageMatcher::kMaxWaiting;
  if (options_.side->drained() || too_many) complete_ns_ = until_ns;
  const size_t before = samples_.size();
  if (rings_ != nullptr && before < kMaxSamplesHeld) {
    rings_->Drain(until_ns, &samples_);
  }
  CountSamples(now_ns, before);
  if (started_) NameSamples();
  return taken + samples_.size() - before;
}

void PageCollector::Start() {
  const uint64_t now_ns = MonotonicNs();
  started_ = true;
  AskResidency();
  Drain(now_ns);
}

void PageCollector::TakeItem(const SideItemView& item, uint32_t stack) {
  if (item.kind == SideKind::kTouch) {
    TakeTouch(item.As<SideTouch>(), stack);
  } else if (item.kind == SideKind::kRange) {
    TakeRange(item.As<SideRange>(), stack);
  } else if (item.kind == SideKind::kFileFound) {
    TakeFound(item.As<SideFileFound>());
  } else {
    matcher_.AddMark({.time_ns = item.time_ns,
                      .kind = PageMark::kFork,
                      .address = item.As<SideFork>().child});
  }
}

void PageCollector::TakeTouch(const SideTouch& item, uint32_t stack) {
  const auto has = [&item](uint16_t flag) { return (item.flags & flag) != 0; };
  touches_.push_back(
      {item.thread,
       {item.time_ns, item.address / options_.page_bytes, item.instruction,
        stack, has(kSideLate), has(kSideFarToo), has(kSideCollecting),
        has(kSideAskedForHuge)}});
}

// Pages of a file, resident as the program unmapped it. They have no stack.
void PageCollector::TakeFound(const SideFileFound& item) {
  if (!budget_.Take(item.bytes, MonotonicNs())) return;
  matcher_.AddMark(
      {.time_ns = item.time_ns - std::min(item.time_ns, kFoundBeforeNs),
       .kind = PageMark::kRange,
       .action = PAGES_POPULATED,
       .thread = item.thread,
       .address = item.address,
       .bytes = item.bytes});
}

void PageCollector::TakeRange(const SideRange& item, uint32_t stack) {
  const uint32_t action = item.what();
  if (action == PAGE_CAME || !PageAction_IsValid(static_cast<int>(action))) {
    return;
  }
  if (action == PAGES_POPULATED) {
    if (!budget_.Take(item.bytes, MonotonicNs())) return;
    schedule_.Came(item.bytes);
  } else if (action != PAGES_MOVED) {
    schedule_.Left(item.bytes);
  }
  if (action == PAGES_UNMAPPED || action == PAGES_MOVED) {
    options_.side->mappings()->Left(item.address, item.bytes, item.time_ns);
  }
  if (action != PAGES_POPULATED) looks_.Left(item.address, item.bytes);
  matcher_.AddMark({item.time_ns, PageMark::kRange, action, item.thread, stack,
                    item.address, item.bytes, item.to});
}

// Counts the samples from `first` on.
void PageCollector::CountSamples(uint64_t now_ns, size_t first) {
  schedule_.Came((samples_.size() - first) * options_.page_bytes);
  // Before, the process has yet to enable the events, all of them.
  if (started_) signal_rate_.Update(now_ns, samples_.size() - first);
}

// Names samples at once: when their stacks are known, the memory may have been
// released.
void PageCollector::NameSamples() {
  schedule_.CameNot(looks_.Look(named_, &samples_) * options_.page_bytes);
  named_ = samples_.size();
}

// The samples go to the matcher before the touches that they caused, as its
// header requires.
void PageCollector::Match(uint64_t until_ns) {
  matched_ns_ = until_ns;
  NameSamples();
  matcher_.AddSamples(samples_);
  samples_.clear();
  named_ = 0;
  for (const auto& [thread, touch] : touches_) {
    matcher_.AddTouch(thread, touch);
  }
  touches_.clear();
  scan_.LookAnew();
  matcher_.Emit(until_ns, this);
}

// The matcher has found the stack. Pages of zeros and pages that are not chosen
// leave no entry, but the chosen ones may bring neighbours.
PageSpan PageCollector::OnSample(const MatchedSample& matched) {
  const PageSample& sample = *matched.sample;
  if (looks_.IsZero(sample)) return {};
  const uint64_t page_bytes = options_.page_bytes;
  const uint64_t page = sample.address & ~(page_bytes - 1);
  PageSpan brings = {page, page + page_bytes};
  const PageChoice choice = sampler_.Choose(sample.address, sample.of_file);
  if (choice == PageChoice::kLeftOut) return brings;
  encoder_.AddSample(matched, IsCertain(choice));
  PageSpan with = {};
  if (sample.of_file) {
    with = FilePagesWith(sample.address);
  } else if (choice == PageChoice::kFirst ||
             (sample.huge == true && choice == PageChoice::kCertain)) {
    with = HugePageWith(matched);
  }
  if (with.end - with.begin > page_bytes) {
    encoder_.AddWith(matched, with.begin, with.end - with.begin);
    brings = with;
  }
  return brings;
}

// Before the first answer of the kernel, pages around this one may be older
// than the run. Then all count as resident before tracing.
PageSpan PageCollector::FilePagesWith(uint64_t address) {
  if (!knows_before_) return {};
  const PageRegion around = scan_.FilePagesAround(address);
  return {around.begin, around.end};
}

PageSpan PageCollector::HugePageWith(const MatchedSample& matched) {
  const uint64_t address = matched.sample->address;
  if (!looks_.IsHuge(*matched.sample).value_or(matched.far_too)) return {};
  const uint64_t huge_bytes = HugePageBytes(options_.page_bytes);
  const uint64_t begin = address & ~(huge_bytes - 1);
  return {begin, begin + huge_bytes};
}

bool PageCollector::IsNamed(uint32_t thread) {
  return thread == static_cast<uint32_t>(options_.pid) ||
         options_.definitions->HasNativeThread(thread);
}

void PageCollector::OnMark(const PageMark& mark) {
  if (mark.kind == PageMark::kRange) {
    WriteRange(mark);
  } else if (mark.kind == PageMark::kFork) {
    encoder_.WriteFork(mark.time_ns, mark.address);
  } else if (answers_.empty()) {
    return;
  } else if (mark.kind == PageMark::kAsked) {
    AllowForFaults(&answers_.front());
  } else {
    WriteResidency(answers_.front());
    answers_.pop_front();
  }
}

void PageCollector::WriteRange(const PageMark& range) {
  if (range.action != PAGES_POPULATED) {
    sampler_.Left(range.address, range.bytes);
    encoder_.AddRange(range, true);
    return;
  }
  MappingTable* const mappings = options_.side->mappings();
  sampler_.EachChosen(
      range.address, range.bytes,
      [&](uint64_t page) { return mappings->IsFileAt(page, range.time_ns); },
      [&](uint64_t address, uint64_t bytes, bool certain) {
        PageMark part = range;
        part.address = address;
        part.bytes = bytes;
        encoder_.AddRange(part, certain);
      });
}

void PageCollector::WriteResidency(const ResidencyAnswer& answer) {
  encoder_.WriteResidency(answer);
  knows_before_ = true;
  sampler_.Found(answer.ranges);
  BeginToChoose();
}

// Sampling starts only after the first answer: until then pages that come
// cannot be told from pages of before.
void PageCollector::BeginToChoose() {
  if (sampler_.chooses() || options_.weight <= 1) return;
  sampler_.Begin();
  encoder_.SetWeight(options_.weight);
}

// A fault that was running during the scan may have brought its page just after
// it. After the last answer there are no faults, nor while the program waits
// for it.
void PageCollector::AllowForFaults(ResidencyAnswer* answer) {
  if (finished_ && answers_.size() == 1) return;
  if (answer->begin_ns == answer->end_ns) return;
  MappingTable* const mappings = options_.side->mappings();
  for (const FaultUnderWay& fault : matcher_.FaultsUnderWay(answer->begin_ns)) {
    if (fault.brings.begin == fault.brings.end) continue;
    const bool file = mappings->IsFileAt(fault.address, answer->begin_ns);
    answer->Include({fault.brings.begin, fault.brings.end,
                     mappings->NameAt(fault.address, answer->begin_ns),
                     file ? static_cast<uint32_t>(Residency::FILE_BACKED) : 0});
  }
}

void PageCollector::MaybeAskResidency(uint64_t now_ns) {
  if (now_ns < next_statm_ns_) return;
  next_statm_ns_ = now_ns + kStatmPeriodNs;
  const uint64_t rss_bytes = scan_.RssBytes();
  rss_has_moved_ |= rss_bytes != 0 && schedule_.IsUnexplained(rss_bytes);
  if (!schedule_.IsDue(now_ns, rss_bytes)) return;
  // Pages that a running call is about to release would be found, and counted
  // as new. Long or frequent calls are not waited for.
  if (!QuietSpan(options_.side).began_quiet() && ++put_off_ < kMostPutOff) {
    next_statm_ns_ = now_ns + kPutOffNs;
    return;
  }
  put_off_ = 0;
  rss_has_moved_ = false;
  AskResidency();
}

// Scans resident pages and puts the answer into the order of events, as two
// marks. `as_of_ns`: time since which the program has waited; 0: it runs.
void PageCollector::AskResidency(uint64_t as_of_ns) {
  ResidencyAnswer answer;
  const uint64_t cpu_ns = ThreadCpuNs();
  // The rings fill during the scan.
  bool answered = scan_.Read([this] { Gather(MonotonicNs()); }, &answer);
  const uint64_t rss_bytes = answered ? AddRss(&answer) : 0;
  answered &= rss_bytes != 0;  // else the process is gone
  schedule_.Asked(answer.begin_ns, std::max(answer.begin_ns, answer.end_ns),
                  ThreadCpuNs() - cpu_ns, rss_bytes, answer.ranges.size());
  if (!answered) BeginToChoose();
  if (!answered || !WasOfProgram(*options_.page, &stats_)) return;
  if (as_of_ns != 0) answer.begin_ns = answer.end_ns = as_of_ns;
  // The answer that the program waits for comes next, and is of before.
  if (options_.page->finalize_ns.load() != 0 && !asked_at_end_) return;
  // What came while the kernel was looking is in its figure of RSS.
  matcher_.AddMark({.time_ns = answer.begin_ns, .kind = PageMark::kAsked});
  matcher_.AddMark({.time_ns = answer.end_ns, .kind = PageMark::kResidency});
  answers_.push_back(std::move(answer));
}

// Sets RSS of the answer's end if no call was releasing memory then. Returns
// the last value of statm in any case.
uint64_t PageCollector::AddRss(ResidencyAnswer* answer) {
  uint64_t rss_bytes = 0;
  for (int tries = 0; tries < kRssTries; ++tries) {
    QuietSpan span(options_.side);
    rss_bytes = scan_.RssBytes();
    if (!span.Held(kPromptNs)) continue;
    answer->rss_bytes = rss_bytes;
    answer->end_ns = span.begin_ns();
    break;
  }
  return rss_bytes;
}

void PageCollector::EndBatch(uint64_t now_ns) {
  encoder_.EndBatch();
  const uint64_t samples = rings_ == nullptr ? 0 : rings_->lost();
  const uint64_t stacks =
      options_.side->lost(SideParty::kPages) + budget_.refused();
  if (samples <= written_samples_lost_ && stacks <= written_stacks_lost_) {
    return;
  }
  encoder_.WriteLoss(now_ns, samples - written_samples_lost_,
                     stacks - written_stacks_lost_);
  written_samples_lost_ = samples;
  written_stacks_lost_ = stacks;
}

void PageCollector::Finish(uint64_t now_ns, bool) {
  asked_at_end_ = true;
  AskResidency();
  finished_ = true;
  options_.side->Drain(now_ns, true);
  const size_t before = samples_.size();
  if (rings_ != nullptr) rings_->Drain(UINT64_MAX, &samples_);
  CountSamples(now_ns, before);
  Match(UINT64_MAX);
  EndBatch(now_ns);
  rings_.reset();
}

void PageCollector::AddToFooter(Footer* footer) const {
  footer->set_page_events(encoder_.page_events());
  footer->set_page_samples_lost(written_samples_lost_);
  footer->set_page_stacks_lost(written_stacks_lost_);
  footer->set_pages_inferred(encoder_.inferred());
}

}  // namespace pymemrun
