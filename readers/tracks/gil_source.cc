// The tracks of the GIL: a lane below each thread with its holds and waits.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

// For the time when all threads are stopped, or one waits until they are.
constexpr char kStopColor[] = "#6f42c1";

// A hold lasts from when a thread takes the GIL until it lets go and another
// one takes it. In between it may have let go and retaken it: for how long is
// known, but not when. The end of a hold is in the next entry for the GIL;
// until then the hold is kept. Not thread safe.
class GilTracks final : public ReplayVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
  GilTracks(const SourceOptions& options, TrackSink* sink)
      : min_us_(options.min_us),
        for_picture_(options.for_picture),
        sink_(*sink),
        threads_(&index(), sink) {}

  void OnGilRecording(const GilRecording& recording) override {
    free_threaded_ = recording.free_threaded();
  }
  bool OnGil(const GilEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) Take(events[i]);
    return true;
  }
  void OnFooter(const Footer& footer) override {
    end_us_ = std::max(end_us_, footer.end_us());
  }
  void Finish() override;

  std::vector<std::string> Notes() const {
    if (too_short_ == 0) return {};
    return {ShorterText(given_, too_short_, "hold and wait", "holds and waits",
                        "of the GIL", min_us_)};
  }

 private:
  struct Hold {
    uint32_t thread = 0;  // 0: no thread took it yet, or its hold was added
    uint64_t begin_us = 0, end_us = 0, let_go_us = 0;
    bool goes_on = false;
  };
  // What a lane shows of a thread that is parked.
  enum Why { kNot, kLock, kStands, kStops, kWhys };
  struct Thread {
    uint32_t lane = 0;  // 0: it has none yet
    bool waits = false;
    uint64_t since_us = 0, gil = 0;
    Why parked = kNot;
    uint64_t given_us = 0;  // its lane has slices up to this time
  };
  struct Names {
    uint32_t holds = 0, holds_partly = 0, waits = 0;
  };

  void Take(const GilEvent& event);
  void EndHold(uint64_t gil, Hold* hold);
  void EndWait(uint32_t thread, uint64_t time_us);
  void Give(uint32_t thread, uint64_t begin_us, uint64_t end_us, uint32_t name,
            const SliceEnd& end);
  void TakeLock(const GilEvent& event, uint32_t thread, uint64_t time_us);
  const Names& NamesOf(uint64_t gil);
  uint32_t NameOf(Why why);

  const uint64_t min_us_;
  const bool for_picture_;
  bool free_threaded_ = false;
  TrackSink& sink_;
  TrackThreads threads_;
  absl::flat_hash_map<uint64_t, Hold> holds_;   // by GIL
  absl::flat_hash_map<uint64_t, Names> names_;  // likewise
  uint32_t parked_names_[kWhys] = {};           // 0: not added yet
  std::vector<Thread> doing_;                   // by first thread
  uint64_t end_us_ = 0, given_ = 0, too_short_ = 0;
};

// First what the entry says of the last holder, then what its own thread does.
void GilTracks::Take(const GilEvent& event) {
  const uint64_t time_us = event.time_ns / 1000;
  end_us_ = std::max(end_us_, time_us);
  const uint32_t thread = index().FirstThread(event.thread);
  if (thread >= doing_.size()) doing_.resize(thread + 1);
  if (IsOfLocks(event.action)) return TakeLock(event, thread, time_us);
  if (HasGilStack(event.action)) return;
  Hold& hold = holds_[event.gil];
  // The entry says what the last holder did until now, and since when the GIL
  // has been free.
  if (HasHold(event.action) && hold.thread != 0) {
    const uint64_t free_ns = std::min(event.free_ns, event.time_ns);
    hold.end_us = std::max((event.time_ns - free_ns) / 1000, hold.begin_us);
    hold.let_go_us =
        std::min(event.paused_ns / 1000, hold.end_us - hold.begin_us);
    // Not free: the last holder still has it.
    hold.goes_on = free_ns == 0;
  }
  switch (event.action) {
    case GIL_TAKEN:
      EndHold(event.gil, &hold);
      EndWait(thread, time_us);
      hold = {thread, time_us, time_us, 0, true};
      break;
    case GIL_WAITING:
    case GIL_GIVING_WAY:
      EndWait(thread, time_us);
      // The holder itself waits: it let go before, or lets go now.
      if (hold.thread == thread) {
        hold.end_us =
            std::max(std::min(hold.goes_on ? time_us : hold.end_us, time_us),
                     hold.begin_us);
        EndHold(event.gil, &hold);
      }
      doing_[thread].waits = true;
      doing_[thread].parked = kNot;
      doing_[thread].since_us = time_us;
      doing_[thread].gil = event.gil;
      break;
    case GIL_GAVE_WAY:
      EndWait(thread, time_us);
      break;
    default:
      break;
  }
}

void GilTracks::TakeLock(const GilEvent& event, uint32_t thread,
                         uint64_t time_us) {
  // A thread waits for one thing at a time.
  EndWait(thread, time_us);
  Thread& of = doing_[thread];
  switch (event.action) {
    case GIL_LOCK_WAITING:
      of.parked = kLock;
      break;
    case GIL_STANDS_STILL:
      of.parked = kStands;
      break;
    case GIL_STOPS_OTHERS:
      of.parked = kStops;
      break;
    default:
      return;
  }
  of.waits = true;
  of.since_us = time_us;
}

void GilTracks::EndHold(uint64_t gil, Hold* hold) {
  if (hold->thread == 0) return;
  SliceEnd end;
  end.let_go_us = hold->let_go_us;
  // The share of the time that it really held the GIL.
  if (hold->end_us > hold->begin_us) {
    end.share -= static_cast<double>(hold->let_go_us) /
                 static_cast<double>(hold->end_us - hold->begin_us);
  }
  // Pictures draw it faintly.
  const Names& names = NamesOf(gil);
  Give(hold->thread, hold->begin_us, hold->end_us,
       end.share < 0.5 ? names.holds_partly : names.holds, end);
  *hold = {};
}

void GilTracks::EndWait(uint32_t thread, uint64_t time_us) {
  if (!doing_[thread].waits) return;
  Thread& of = doing_[thread];
  of.waits = false;
  Give(thread, of.since_us, time_us,
       of.parked == kNot ? NamesOf(of.gil).waits : NameOf(of.parked), {});
}

// Adds slices one after the other, even for a damaged file.
void GilTracks::Give(uint32_t thread, uint64_t begin_us, uint64_t end_us,
                     uint32_t name, const SliceEnd& end) {
  Thread& of = doing_[thread];
  // A damaged file may have slices that overlap: they start where the last one
  // ended.
  begin_us = std::max(begin_us, of.given_us);
  if (end_us < begin_us) return;
  if (end_us - begin_us < min_us_) {
    ++too_short_;
    return;
  }
  if (of.lane == 0) {
    of.lane = sink_.AddLane(threads_.TrackOf(thread),
                            free_threaded_ ? "locks" : "GIL");
  }
  of.given_us = end_us;
  ++given_;
  sink_.Begin(of.lane, begin_us, name);
  sink_.End(of.lane, end_us, end);
}

const GilTracks::Names& GilTracks::NamesOf(uint64_t gil) {
  Names& names = names_[gil];
  if (names.holds != 0) return names;
  const std::string which =
      gil <= 1 ? "the GIL" : absl::StrCat("the GIL of interpreter ", gil - 1);
  const auto add = [&](absl::string_view verb, absl::string_view color,
                       bool is_idle, absl::string_view rest = "") {
    const std::string text = absl::StrCat(verb, " ", which, rest);
    SliceName name;
    name.name = text;
    name.color = color;
    name.is_idle = is_idle;
    return sink_.AddName(name);
  };
  names.holds = add("holds", kHoldsColor, false);
  // For a thread that sleeps or reads most of the time, while no other thread
  // wants the GIL.
  names.holds_partly = for_picture_
                           ? names.holds
                           : add("holds", kHoldsColor, false, ", now and then");
  names.waits = add("waits for", kGilWaitColor, true);
  return names;
}

uint32_t GilTracks::NameOf(Why why) {
  constexpr absl::string_view kTexts[kWhys] = {
      "", "waits for a lock", "paused: all threads are stopped",
      "stops all threads"};
  if (parked_names_[why] == 0) {
    SliceName name;
    name.name = kTexts[why];
    name.color = why == kLock ? kGilWaitColor : kStopColor;
    name.is_idle = true;
    parked_names_[why] = sink_.AddName(name);
  }
  return parked_names_[why];
}

// By GIL number, so that a file always gives the same trace.
void GilTracks::Finish() {
  std::vector<uint64_t> gils;
  for (const auto& [gil, hold] : holds_) gils.push_back(gil);
  std::sort(gils.begin(), gils.end());
  for (const uint64_t gil : gils) {
    Hold& hold = holds_[gil];
    // No later entry has its end: it lasts until the run's end.
    if (hold.goes_on) hold.end_us = std::max(hold.end_us, end_us_);
    EndHold(gil, &hold);
  }
  for (uint32_t thread = 0; thread < doing_.size(); ++thread) {
    EndWait(thread, std::max(end_us_, doing_[thread].since_us));
  }
}

}  // namespace

std::unique_ptr<TrackSource> NewGilSource(const SourceOptions& options) {
  return std::make_unique<ReadOnce<GilTracks>>(options);
}

}  // namespace pymemrun
