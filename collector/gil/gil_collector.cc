#include "collector/gil/gil_collector.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collector/definitions/native_thread.h"
#include "format/limits.h"

namespace pymemrun {
namespace {

// An event waits this long: a thread that is prevented from running reports an
// earlier event only afterwards.
constexpr uint64_t kHeldBackNs = 50000000;
// Bounds the search of Insert(), whatever times the program writes.
constexpr int kMostPlacesBack = 256;
constexpr uint64_t kLookPeriodNs = 250000000;
// Most threads whose end is looked for.
constexpr size_t kMaxThreads = 1u << 16;

// The number of a GIL in the file; 0: no such GIL.
uint32_t NumberOf(uint64_t gil) {
  return gil > UINT32_MAX ? 0 : static_cast<uint32_t>(gil);
}

GilNote NoteOf(const SideAny& item) { return static_cast<GilNote>(item.flags); }

bool MakesSense(const SideAny& item) {
  if (item.kind == SideKind::kGil) return IsGilNote(NoteOf(item));
  const auto role = static_cast<GilRole>(item.what());
  return role == GilRole::kWaiter || role == GilRole::kHolder;
}

}  // namespace

GilCollector::GilCollector(Options options) : options_(std::move(options)) {
  options_.side->Subscribe(this, {SideKind::kGil, SideKind::kGilStack});
}

void GilCollector::Describe(uint64_t) {
  Record record;
  GilRecording* const recording = record.mutable_gil_recording();
  recording->set_time_us(0);
  recording->set_min_wait_ns(options_.min_wait_ns);
  recording->set_free_threaded(options_.page->start.free_threaded != 0);
  options_.out->Write(record);
}

void GilCollector::TakeItem(const SideItemView& item, uint32_t stack) {
  const Waiting waiting = {item, stack};
  if (item.kind == SideKind::kGil && item.detail != 0 &&
      NoteOf(item) != GilNote::kEnded) {
    // The thread was prevented from running before it wrote this item.
    PutBack(waiting);
    // PutBack() has inserted this note already.
    if (NoteOf(item) == GilNote::kGivingWay) return;
    Waiting over = waiting;
    over.item.flags = static_cast<uint16_t>(GilNote::kGaveWay);
    waiting_.push_back(over);
  }
  if (options_.page->start.free_threaded != 0) {
    Insert(waiting);  // nothing but time orders what different locks tell
  } else {
    waiting_.push_back(waiting);
  }
}

// Inserts by time, after events of the same time.
void GilCollector::Insert(const Waiting& waiting) {
  auto at = waiting_.end();
  for (int i = 0; i < kMostPlacesBack && at != waiting_.begin() &&
                  std::prev(at)->item.time_ns > waiting.item.time_ns;
       ++i) {
    --at;
  }
  waiting_.insert(at, waiting);
}

// Inserts kGivingWay at the time from which the thread was prevented from
// running, which the thread could report only later.
void GilCollector::PutBack(const Waiting& late) {
  const uint64_t kept = uint64_t{late.item.detail} << kGilKeptShift;
  Waiting way = late;
  way.item.flags = static_cast<uint16_t>(GilNote::kGivingWay);
  way.item.time_ns -= std::min(kept, way.item.time_ns);
  Insert(way);
}

// A new thread of Python takes the GIL before it has its name.
bool GilCollector::IsReady(const SideAny& item, uint64_t now) const {
  if (waiting_.size() > kMostHeldBack) return true;
  const uint64_t time_ns = options_.clock->NanosAt(item.time_ns);
  return time_ns + kHeldBackNs <= now &&
         HasItsName(options_.pid, item.thread, time_ns, now,
                    *options_.definitions);
}

size_t GilCollector::Round(uint64_t looked_ns) {
  const uint64_t looked = options_.clock->NanosOfMonotonic(looked_ns);
  while (!waiting_.empty() && IsReady(waiting_.front().item, looked)) {
    GiveFirst(looked_ns);
  }
  return 0;
}

void GilCollector::GiveFirst(uint64_t now_ns) {
  Give(waiting_.front(), now_ns);
  waiting_.pop_front();
}

bool GilCollector::Lives(uint32_t thread) const {
  return options_.lives ? options_.lives(thread) : options_.side->Lives(thread);
}

// Stamps come from the program: none counts as later than now.
uint64_t GilCollector::TimeOf(uint64_t stamp, uint64_t now_ns) const {
  return std::min(options_.clock->NanosAt(stamp),
                  options_.clock->NanosOfMonotonic(now_ns));
}

// For how long the GIL has been free, at least 1 ns; 0: it is held.
uint64_t GilCollector::FreeFor(uint64_t since, uint64_t time_ns) const {
  if (since == 0) return 0;
  const uint64_t since_ns = options_.clock->NanosAt(since);
  return since_ns >= time_ns ? 1 : time_ns - since_ns;
}

// Also notes the thread for LookForEnded(). The main thread ends with the
// process.
uint32_t GilCollector::ThreadOf(uint32_t native, uint64_t time_ns) {
  const uint32_t id = NativeThreadId(options_.pid, native, time_ns / 1000,
                                     options_.definitions);
  if (native != static_cast<uint32_t>(options_.pid) &&
      (threads_.size() < kMaxThreads || threads_.contains(native))) {
    threads_[native] = {id};
  }
  return id;
}

void GilCollector::Give(const Waiting& waiting, uint64_t now_ns) {
  const SideAny& item = waiting.item;
  const auto stack = item.As<SideGilStack>();
  GilEvent event;
  event.gil = MakesSense(item) ? NumberOf(stack.gil) : 0;
  if (event.gil == 0) {
    ++refused_;
    return;
  }
  event.time_ns = TimeOf(item.time_ns, now_ns);
  if (item.kind == SideKind::kGil) {
    SetNote(item, &event);
  } else {
    event.thread = ThreadOf(item.thread, event.time_ns);
    event.action = static_cast<GilRole>(item.what()) == GilRole::kWaiter
                       ? GIL_WAITER
                       : GIL_HOLDER;
    event.stack = waiting.stack;
    event.function =
        options_.definitions->Function(static_cast<uint32_t>(stack.function));
  }
  Append(event);
}

// Counts and times are clamped to what readers accept, because the program may
// write anything.
void GilCollector::SetNote(const SideAny& item, GilEvent* event) {
  const auto said = item.As<SideGil>();
  event->thread =
      ThreadOf(NoteOf(item) == GilNote::kEnded ? item.detail : item.thread,
               event->time_ns);
  event->action = static_cast<GilAction>(item.flags);
  if (HasHold(event->action)) {
    event->free_ns = FreeFor(said.free_since, event->time_ns);
    event->pauses = std::min(said.pauses, kMaxGilNanos);
    event->paused_ns =
        std::min(options_.clock->Nanos(said.paused), kMaxGilNanos);
  }
  const auto waker = static_cast<uint32_t>(item.As<SideLock>().waker);
  if (HasBy(event->action) && waker != 0) {
    event->by = ThreadOf(waker, event->time_ns);
  }
}

void GilCollector::Append(const GilEvent& event) {
  encoder_.Append(event);
  if (encoder_.entries() >= GilBatchEncoder::kMaxEntries) WriteBatch();
}

void GilCollector::WriteBatch() {
  if (encoder_.entries() == 0) return;
  Record record;
  encoder_.Take(record.mutable_gil());
  options_.out->Write(record);
}

void GilCollector::EndBatch(uint64_t now_ns) {
  if (now_ns >= next_look_ns_) LookForEnded(now_ns, /*at_once=*/false);
  WriteBatch();
  const uint64_t lost = options_.side->lost(SideParty::kGil) + refused_;
  if (lost <= written_lost_) return;
  Record record;
  GilLoss* const loss = record.mutable_gil_loss();
  loss->set_time_us(options_.clock->MicrosOfMonotonic(now_ns));
  loss->set_events(lost - written_lost_);
  written_lost_ = lost;
  options_.out->Write(record);
}

// A thread that is not there for two looks, while the process runs on, has
// ended: when a process is killed its threads go one by one. Entries are in the
// order of time, and those of others that are held back come behind it.
void GilCollector::LookForEnded(uint64_t now_ns, bool at_once) {
  next_look_ns_ = now_ns + kLookPeriodNs;
  const uint64_t back_ns = at_once ? 0 : std::min(kHeldBackNs, now_ns);
  uint64_t time_ns = options_.clock->NanosOfMonotonic(now_ns - back_ns);
  if (!waiting_.empty()) {
    time_ns = std::min(time_ns,
                       options_.clock->NanosAt(waiting_.front().item.time_ns));
  }
  for (auto at = threads_.begin(); at != threads_.end();) {
    const auto thread = at++;
    if (Lives(thread->first)) {
      thread->second.was_gone = false;
    } else if (!at_once && !thread->second.was_gone) {
      thread->second.was_gone = true;
    } else {
      GilEvent event;
      event.time_ns = time_ns;
      event.thread = thread->second.id;
      event.action = GIL_LEFT;
      threads_.erase(thread);
      Append(event);
    }
  }
}

// The states at the end: the current wait or hold of a GIL has no event yet.
void GilCollector::AddStates(uint64_t now_ns) {
  for (const GilHold& hold : options_.page->gils) {
    const uint64_t gil = hold.gil.load(std::memory_order_relaxed);
    const uint32_t thread = hold.thread.load(std::memory_order_relaxed);
    if (gil == 0 || thread == 0) continue;
    GilEvent event;
    event.gil = NumberOf(gil);
    if (event.gil == 0) continue;
    event.action = GIL_STATE;
    event.time_ns = options_.clock->NanosOfMonotonic(now_ns);
    event.thread = ThreadOf(thread, event.time_ns);
    event.free_ns =
        FreeFor(hold.free_since.load(std::memory_order_relaxed), event.time_ns);
    event.pauses =
        std::min(hold.pauses.load(std::memory_order_relaxed), kMaxGilNanos);
    event.paused_ns = std::min(
        options_.clock->Nanos(hold.paused.load(std::memory_order_relaxed)),
        kMaxGilNanos);
    Append(event);
  }
}

// If the program reported its end, that is the time of the last states; it has
// only waited since then.
void GilCollector::Finish(uint64_t now_ns, bool process_lives) {
  while (!waiting_.empty()) GiveFirst(now_ns);
  const uint64_t said_ns = options_.page->end.monotonic_ns;
  const bool knows = process_lives && said_ns != 0;
  const uint64_t end_ns = knows ? std::min(said_ns, now_ns) : now_ns;
  AddStates(end_ns);
  if (process_lives) LookForEnded(end_ns, /*at_once=*/true);
  next_look_ns_ = ~uint64_t{0};
  EndBatch(now_ns);
}

}  // namespace pymemrun
