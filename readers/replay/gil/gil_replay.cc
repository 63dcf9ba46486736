#include "readers/replay/gil/gil_replay.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

// A thread that has given way, and requests the GIL again within this time,
// continues its wait.
constexpr uint64_t kOneWaitNs = 100000;

}  // namespace

// The thread's first id. Makes a place for it.
uint32_t GilReplay::Know(uint32_t thread, uint64_t time_ns) {
  uint32_t first = index().FirstThread(thread);
  if (first > index().threads()) first = 0;  // it did not fit
  if (first >= threads_.size()) {
    threads_.resize(first + 1);
    doing_.resize(first + 1);
    parked_.resize(first + 1);
    let_go_.resize(first + 1);
  }
  GilThreadTimes& times = threads_[first];
  if (!times.any) {
    times.any = true;
    times.first_ns = times.last_ns = time_ns;
  }
  return first;
}

void GilReplay::OnFunction(const FunctionDef& function) {
  ReplayVisitor::OnFunction(function);
  if (functions_.size() >= kMostFunctions) return;
  functions_.push_back(names_.Keep(
      function.module().empty()
          ? function.qualname()
          : absl::StrCat(function.module(), ".", function.qualname())));
}

absl::string_view GilReplay::FunctionName(uint32_t function) const {
  return function == 0 || function > functions_.size()
             ? absl::string_view()
             : functions_[function - 1];
}

bool GilReplay::OnGil(const GilEvent* events, size_t count) {
  has_gil_ = true;
  for (size_t i = 0; i < count; ++i) Take(events[i]);
  return true;
}

// The order matters. What the event says of the last hold is counted first: a
// wait that ends with this event may be charged to it.
void GilReplay::Take(const GilEvent& event) {
  end_ns_ = std::max(end_ns_, event.time_ns);
  const uint32_t thread = Know(event.thread, event.time_ns);
  GilThreadTimes& times = threads_[thread];
  if (event.action == GIL_LEFT) {
    times.ended = true;
    return;
  }
  if (IsOfLocks(event.action)) return TakeLock(event, thread);
  if (event.action == GIL_HOLDER) {
    let_go_[thread] = {{event.stack, event.function}, event.time_ns};
  }
  if (HasGilStack(event.action) && !gils_.contains(event.gil)) {
    return AddStack(event, thread, nullptr);
  }
  const auto [found, is_new] = gils_.try_emplace(event.gil);
  Gil& gil = found->second;
  if (is_new) {
    gil.times.number = event.gil;
    gil.times.first_ns = event.time_ns;
  }
  if (HasHold(event.action)) CountHold(event, &gil);
  if (event.action == GIL_STATE) return;
  times.last_ns = std::max(times.last_ns, event.time_ns);
  times.ended = false;
  switch (event.action) {
    case GIL_TAKEN:
      return Taken(event, thread, &gil);
    case GIL_WAITING:
      return BeginWait(event, thread);
    case GIL_GIVING_WAY:
      return BeginGivingWay(event, thread, gil);
    case GIL_GAVE_WAY: {
      const GilDoing did = doing_[thread];
      EndWait(thread, event.time_ns);
      if (!did.gives_way) return;
      doing_[thread].first_ns = did.first_ns;
      doing_[thread].gave_ns = event.time_ns;
      return;
    }
    default:
      return AddStack(event, thread, &gil);
  }
}

// The thread starts to wait. If it has just given way, this continues the same
// wait.
void GilReplay::BeginWait(const GilEvent& event, uint32_t thread) {
  const GilDoing did = doing_[thread];
  EndWait(thread, event.time_ns);
  const bool goes_on =
      did.gave_ns != 0 && event.time_ns - did.gave_ns <= kOneWaitNs;
  doing_[thread] = {true,
                    false,
                    event.gil,
                    goes_on ? did.gave_ns : event.time_ns,
                    event.paused_ns,
                    goes_on ? did.first_ns : event.time_ns,
                    0};
}

// CPython's drop_gil() lets a thread that was asked to let go wait until
// another has taken the GIL. Its stack is that of the place where it let go.
void GilReplay::BeginGivingWay(const GilEvent& event, uint32_t thread,
                               const Gil& gil) {
  EndWait(thread, event.time_ns);
  doing_[thread] = {false, true, event.gil, event.time_ns, 0, event.time_ns, 0};
  if (gil.now.thread == thread && gil.now.place.stack != 0 &&
      event.time_ns - gil.place_ns <= kOneWaitNs) {
    OnWaiterStack(thread, event.time_ns, gil.now.place.stack);
  }
}

// Counts what the latest holder has done since the last event. Short pauses
// have no events: the event has their sum and their number since the hold
// began. `free_ns` is for how long no thread has had the GIL.
void GilReplay::CountHold(const GilEvent& event, Gil* gil) {
  GilSpan& now = gil->now;
  if (now.thread == 0) return;
  GilThreadTimes& holder = threads_[now.thread];
  const uint64_t free_ns = std::min(event.free_ns, event.time_ns);
  const uint64_t until = std::max(event.time_ns - free_ns, now.begin_ns);
  const uint64_t since = std::min(now.end_ns, until);
  now.end_ns = until;
  now.paused_ns = std::min(event.paused_ns, until - now.begin_ns);
  gil->is_held = free_ns == 0;
  const uint64_t held = until - now.begin_ns - now.paused_ns;
  const uint64_t more_ns = held - std::min(held, gil->held_ns);
  const uint64_t ranged_ns = range_.ShareOf(more_ns, since, until);
  holder.held_ns += ranged_ns;
  gil->times.held_ns += ranged_ns;
  gil->held_ns += more_ns;
  const uint64_t takes = event.pauses - std::min(event.pauses, gil->pauses);
  const uint64_t ranged_takes = range_.ShareOf(takes, since, until);
  holder.takes += ranged_takes;
  gil->times.takes += ranged_takes;
  gil->pauses += takes;
  holder.last_ns = std::max(holder.last_ns, until);
}

// The hold before has ended: it joins the history, so that this thread's wait
// can be charged to it.
void GilReplay::Taken(const GilEvent& event, uint32_t thread, Gil* gil) {
  if (gil->now.thread != 0) {
    gil->history.Add(gil->now);
    OnHold(gil->now);
  }
  gil->now.thread = 0;
  const GilDoing& doing = doing_[thread];
  if (doing.gave_ns != 0 && event.time_ns - doing.gave_ns <= kOneWaitNs) {
    BeginWait(event, thread);
  }
  EndWait(thread, event.time_ns);
  gil->now = {thread, event.time_ns, event.time_ns, 0, {}};
  gil->is_held = true;
  gil->held_ns = gil->pauses = 0;
  threads_[thread].takes += range_.Has(event.time_ns);
  gil->times.takes += range_.Has(event.time_ns);
  gil->times.threads += took_.insert({event.gil, thread}).second;
}

// Only the time since since_ns is new. What the thread waited before it gave
// way was counted then, but belongs to the length of the whole wait.
void GilReplay::EndWait(uint32_t thread, uint64_t end_ns) {
  GilDoing did = doing_[thread];
  doing_[thread] = {};
  if (!did.waits && !did.gives_way) return;
  GilWait wait;
  if (!SetSpan(did.first_ns, &end_ns, &wait)) return;
  GilThreadTimes& times = threads_[thread];
  wait.thread = thread;
  did.since_ns = range_.Clamp(std::min(did.since_ns, end_ns));
  const uint64_t now_ns = end_ns - did.since_ns;
  times.waited_ns += now_ns;
  GilTimes& gil = gils_[did.gil].times;
  gil.waited_ns += now_ns;
  gil.longest_ns = std::max(gil.longest_ns, wait.wait_ns);
  gil.waits += did.waits;
  OnWait(thread, end_ns - now_ns, end_ns,
         did.waits ? GilWaitKind::kGil : GilWaitKind::kGivesWay);
  const uint64_t charged = Charge(did, end_ns, &wait);
  if (charged < now_ns) {
    blocked_ns_[{thread, kHandover}] += now_ns - charged;
    OnCharge(thread, kHandover, {}, now_ns - charged);
  }
  if (did.waits) CountWait(wait);
}

// Sets the part of the wait within the range. Returns false if no part is.
bool GilReplay::SetSpan(uint64_t begin_ns, uint64_t* end_ns,
                        GilWait* wait) const {
  begin_ns = std::min(begin_ns, *end_ns);
  if (!range_.Has(begin_ns) && range_.Overlap(begin_ns, *end_ns) == 0) {
    return false;
  }
  *end_ns = range_.Clamp(*end_ns);
  wait->begin_ns = range_.Clamp(begin_ns);
  wait->wait_ns = *end_ns - wait->begin_ns;
  return true;
}

void GilReplay::CountWait(const GilWait& wait) {
  GilThreadTimes& times = threads_[wait.thread];
  ++times.waits;
  if (wait.wait_ns > times.longest.wait_ns) times.longest = wait;
  Keep(wait);
}

// A thread waits for one lock at a time, so any event of it ends the wait
// before.
void GilReplay::TakeLock(const GilEvent& event, uint32_t thread) {
  GilThreadTimes& times = threads_[thread];
  times.last_ns = std::max(times.last_ns, event.time_ns);
  times.ended = false;
  EndPark(thread, event.time_ns,
          HasBy(event.action) && event.by != 0 ? Know(event.by, event.time_ns)
                                               : kHandover);
  switch (event.action) {
    case GIL_STOPS_OTHERS:
      if (range_.Has(event.time_ns)) stops_.Ask(thread, event.time_ns);
      [[fallthrough]];
    case GIL_LOCK_WAITING:
    case GIL_STANDS_STILL:
      parked_[thread] = {event.action, event.time_ns};
      break;
    default:
      break;
  }
}

// `by` ended it; kHandover: it is unknown who did.
void GilReplay::EndPark(uint32_t thread, uint64_t end_ns, uint32_t by) {
  const Parked parked = parked_[thread];
  parked_[thread] = {};
  GilWait wait;
  if (parked.why == GIL_TAKEN || !SetSpan(parked.since_ns, &end_ns, &wait)) {
    return;
  }
  wait.kind =
      parked.why == GIL_LOCK_WAITING ? GilWaitKind::kLock : GilWaitKind::kStop;
  wait.thread = thread;
  wait.holder = by;
  if (by != kHandover && let_go_[by].time_ns >= wait.begin_ns) {
    wait.holder_place = let_go_[by].place;
  }
  GilThreadTimes& times = threads_[thread];
  (wait.kind == GilWaitKind::kLock ? times.waited_ns : times.stopped_ns) +=
      wait.wait_ns;
  OnWait(thread, wait.begin_ns, end_ns, wait.kind);
  blocked_ns_[{thread, by}] += wait.wait_ns;
  if (wait.holder_place.stack != 0) {
    blocked_by_place_[wait.holder_place] += wait.wait_ns;
  }
  OnCharge(thread, by, wait.holder_place, wait.wait_ns);
  if (parked.why == GIL_STOPS_OTHERS) {
    stops_.Stopped(thread, end_ns);
  } else if (parked.why == GIL_STANDS_STILL && by != kHandover) {
    stops_.Stood(by, wait.begin_ns, end_ns, wait.holder_place);
  }
  CountWait(wait);
}

// Charges the wait to the threads that held the GIL during it; returns the time
// charged. The hold with most of that time is kept as the wait's.
uint64_t GilReplay::Charge(const GilDoing& did, uint64_t end_ns,
                           GilWait* wait) {
  const uint64_t begin_ns = std::min(did.since_ns, end_ns);
  const uint64_t all = end_ns - begin_ns;
  const Gil& gil = gils_[did.gil];
  uint64_t charged = 0, longest_ns = 0;
  const auto charge = [&](const GilSpan& span, uint64_t ns) {
    ns = std::min(ns, all - charged);
    if (span.thread == wait->thread) return;
    charged += ns;
    blocked_ns_[{wait->thread, span.thread}] += ns;
    if (span.place.stack != 0) blocked_by_place_[span.place] += ns;
    OnCharge(wait->thread, span.thread, span.place, ns);
    if (ns <= longest_ns) return;
    longest_ns = ns;
    wait->holder = span.thread;
    wait->holder_place = span.place;
  };
  // Who has taken it, and goes on to have it.
  if (gil.now.thread != 0 && gil.now.begin_ns < end_ns) {
    charge(gil.now, end_ns - std::max(begin_ns, gil.now.begin_ns));
  }
  const uint64_t forgotten =
      gil.history.EachIn(begin_ns, end_ns, did.paused_ns, charge);
  if (forgotten > 0 && charged < all) {
    const uint64_t ns = std::min(forgotten, all - charged);
    blocked_ns_[{wait->thread, kForgotten}] += ns;
    OnCharge(wait->thread, kForgotten, {}, ns);
    charged += ns;
  }
  return charged;
}

void GilReplay::Keep(const GilWait& wait) {
  const auto longer = [](const GilWait& a, const GilWait& b) {
    return a.wait_ns > b.wait_ns;
  };
  if (worst_.size() == kMostWorst) {
    if (wait.wait_ns <= worst_.back().wait_ns) return;
    worst_.pop_back();
  }
  worst_.insert(std::upper_bound(worst_.begin(), worst_.end(), wait, longer),
                wait);
}

// A stack arrives as an event of its own, after the wait or the hold it belongs
// to. It is matched by thread and time.
void GilReplay::AddStack(const GilEvent& event, uint32_t thread, Gil* gil) {
  if (event.action == GIL_HOLDER) {
    if (gil != nullptr && gil->now.thread == thread) {
      gil->now.place = {event.stack, event.function};
      gil->place_ns = event.time_ns;
    }
    return;
  }
  OnWaiterStack(thread, event.time_ns, event.stack);
  // Sets the stack of the wait that has just ended.
  for (GilWait& wait : worst_) {
    if (wait.thread == thread && wait.stack == 0 &&
        wait.begin_ns + wait.wait_ns == event.time_ns) {
      wait.stack = event.stack;
    }
  }
  GilWait& longest = threads_[thread].longest;
  if (longest.begin_ns + longest.wait_ns == event.time_ns) {
    longest.stack = event.stack;
  }
}

// A free-threaded interpreter switches its GIL on while it loads some
// extensions. A tenth of the time is far above that.
bool GilReplay::HasLocksAlone() const {
  if (!free_threaded_) return false;
  uint64_t used_ns = 0;
  for (const auto& [number, gil] : gils_) {
    used_ns += gil.times.held_ns + gil.times.waited_ns;
  }
  return used_ns < long_ns() / 10;
}

std::vector<GilTimes> GilReplay::EachGil() const {
  std::vector<GilTimes> all;
  for (const auto& [number, gil] : gils_) all.push_back(gil.times);
  std::sort(all.begin(), all.end(), [](const GilTimes& a, const GilTimes& b) {
    return a.number < b.number;
  });
  return all;
}

void GilReplay::Finish() {
  for (auto& [number, gil] : gils_) {
    if (gil.now.thread == 0) continue;
    // Without a last entry a thread that had it is taken to have kept it.
    if (gil.is_held && gil.now.end_ns < end_ns_) {
      GilEvent event;
      event.time_ns = end_ns_;
      event.paused_ns = gil.now.paused_ns;
      CountHold(event, &gil);
    }
    gil.history.Add(gil.now);
    OnHold(gil.now);
    gil.now.thread = 0;
  }
  for (uint32_t thread = 0; thread < doing_.size(); ++thread) {
    EndWait(thread, std::max(end_ns_, doing_[thread].since_ns));
    EndPark(thread, std::max(end_ns_, parked_[thread].since_ns), kHandover);
  }
  stops_.Finish();
  KeepToRange();
}

// Cuts the times as though the run had started and ended with the range.
void GilReplay::KeepToRange() {
  for (GilThreadTimes& times : threads_) {
    const uint64_t last_ns =
        times.ended ? times.last_ns : std::max(end_ns_, times.last_ns);
    times.any &= last_ns >= range_.begin_ns && times.first_ns <= range_.end_ns;
    times.ended &= times.last_ns <= range_.end_ns;
    times.first_ns = range_.Clamp(times.first_ns);
    times.last_ns = range_.Clamp(times.last_ns);
  }
  for (auto& [number, gil] : gils_) {
    gil.times.first_ns = range_.Clamp(gil.times.first_ns);
  }
  end_ns_ = range_.Clamp(end_ns_);
}

}  // namespace pymemrun
