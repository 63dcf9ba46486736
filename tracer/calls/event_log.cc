#include "tracer/calls/event_log.h"

#include <string.h>

#include "tracer/base/clock.h"
#include "tracer/base/own_memory.h"
#include "tracer/calls/open_calls.h"
#include "tracer/calls/quiet_event.h"

namespace pymemrun {
namespace {

using Parts = EventLog::Parts;

// From this event on RSS comes from another source.
void TellSource(const Parts& p, HotState& hot, uint64_t stamp, uint64_t number,
                GaugeSource old_source) {
  const GaugePayload payload = {number, stamp, p.gauge.source(), old_source};
  const char* reason = p.gauge.reason();
  PutStruct(hot, ControlKind::kGauge, 0, payload,
            {{static_cast<uint32_t>(strlen(reason)), reason}});
}

// Facts precede the row of the event at which they were found.
void TellFindings(const Parts& p, HotState& hot, uint64_t stamp,
                  uint64_t number, const GaugeFindings& found) {
  if (found.peak.rose) {
    const PeakPayload payload = {found.peak.hwm_pages, found.peak.after_number,
                                 number, stamp};
    PutStruct(hot, ControlKind::kPeak, 0, payload);
  }
  if (found.source_changed) {
    TellSource(p, hot, stamp, number, found.old_source);
  }
}

// Reads RSS. Returns dRSS in pages. Only growth can come from objects that
// tracing made.
[[gnu::noinline]] int32_t UpdateRssSlow(const Parts& p, HotState& hot,
                                        uint64_t stamp, uint64_t number,
                                        const PymemrunFrame* frame) {
  GaugeFindings found = {};
  const int32_t change = p.gauge.Update(hot, stamp, number, &found);
  TellFindings(p, hot, stamp, number, found);
  if (change > 0) p.cost.FramesAt(frame);
  return change;
}

// The first event of a thread, or the first one after another thread's.
[[gnu::noinline, gnu::cold]] void EnterThreadSlow(const Parts& p, HotState& hot,
                                                  const PymemrunFrame* frame) {
  if (t_thread_id == 0) p.threads.Define(hot, frame);
  hot.thread_passes = ThreadRegistry::CurrentPasses();
  hot.current_thread = t_thread_id;
}

// A renamed thread gets a new id, under which its open calls go on.
inline void LookAtName(const Parts& p, HotState& hot, uint64_t stamp) {
  const uint32_t before = t_thread_id;
  p.threads.LookAtName(hot, stamp);
  if (t_thread_id != before) RenameOpenCalls(hot, before, t_thread_id);
}

[[gnu::always_inline]] inline Place PlaceOf(const Parts& p, HotState& hot,
                                            const PymemrunFrame* frame,
                                            uint32_t what, PyObject* arg) {
  const SiteId code = p.codes.CodeOf(hot, PymemrunFrameCode(frame), frame);
  SiteId function = {0, 0};
  if (IsCEvent(what)) {
    hot.last_function = nullptr;
    function =
        p.codes.FindFunction(hot, reinterpret_cast<PyCFunctionObject*>(arg));
  }
  return MakePlace(what, code, PymemrunFramePosition(frame), function);
}

inline uint32_t Stack(const Parts& p, HotState& hot, const RawEvent& event,
                      const PymemrunFrame* frame) {
  if (!hot.logs_stacks) return 0;
  const uint32_t what = event.what_and_code >> kWhatShift;
  return p.stacks.AtEvent(hot, frame,
                          what == static_cast<uint32_t>(EventWhat::kReturn));
}

// The part that all slow halves share: RSS, place and thread of the event.
template <bool kVerify>
inline RawEvent Examine(const Parts& p, HotState& hot,
                        const PymemrunFrame* frame, uint32_t what,
                        PyObject* arg, uint64_t stamp, uint64_t number,
                        uint32_t* flags) {
  int32_t drss_pages = 0;
  if (RssMayHaveMoved(hot, stamp)) {
    drss_pages = UpdateRssSlow(p, hot, stamp, number, frame);
  }
  if constexpr (kVerify) p.verifier.Check(hot, stamp);
  const Place place = PlaceOf(p, hot, frame, what, arg);
  if ((place.flags & kRenamesThread) != 0) ThreadRegistry::LookSoon();
  if (t_thread_id != 0) LookAtName(p, hot, stamp);
  if (t_thread_id != hot.current_thread) EnterThreadSlow(p, hot, frame);
  *flags = place.flags & (kPassesFile | kPassesName);
  return {number,         stamp,          place.what_and_code,
          place.position, place.function, hot.current_thread,
          hot.rss_pages,  drss_pages};
}

// The return of the user's outermost frame ends the user's code under runpy.
inline int AfterEvent(const Parts& p, HotState& hot, const PymemrunFrame* frame,
                      uint32_t what) {
  if (frame == hot.root_frame &&
      what == static_cast<uint32_t>(EventWhat::kReturn)) {
    return p.startup.RootReturned(hot);
  }
  return 0;
}

inline uint32_t Magnitude(int32_t pages) {
  return static_cast<uint32_t>(pages < 0 ? -pages : pages);
}

// Whether RSS has changed enough for --min-drss: since the last event, or since
// the last logged one.
inline bool ChangePasses(const HotState& hot, int32_t drss_pages) {
  const int32_t change =
      hot.drss_since_logged
          ? RssPages(hot.rss_pages) - RssPages(hot.logged_rss_pages)
          : drss_pages;
  return Magnitude(change) >= hot.min_drss_pages;
}

// Logs the events before `number` that are its context, if their ids are valid
// and they are not logged yet.
void LogContext(const Parts& p, HotState& hot, uint64_t number) {
  uint64_t at = number > hot.context ? number - hot.context : 0;
  if (at < p.codes.valid_from()) at = p.codes.valid_from();
  for (; at < number; ++at) {
    const RawEvent& past = hot.history[at & hot.history_mask];
    const bool logged = hot.any_row && at <= hot.row_number;
    if (past.number == at && past.what_and_code != 0 && !logged) {
      PutRow(hot, past, {.context = true});
    }
  }
}

// Logs the event after its context.
[[gnu::noinline]] void LogWithContext(const Parts& p, HotState& hot,
                                      RawEvent& event,
                                      const PymemrunFrame* frame,
                                      const EndedCall& call) {
  hot.logged_rss_pages = event.rss_pages;
  const uint32_t generation = p.codes.generation();
  const uint32_t stack = Stack(p, hot, event, frame);
  if (__builtin_expect(generation != p.codes.generation(), 0)) {
    // Looking at the frames has emptied the table of code objects.
    const SiteId site = p.codes.FindCode(hot, PymemrunFrameCode(frame), frame);
    event.what_and_code = (event.what_and_code & ~kIdMask) | site.id;
  }
  LogContext(p, hot, event.number);
  PutRow(hot, event, {.stack = stack, .call = call});
  hot.any_row = true;
}

// Logs the event if it passes.
inline void Filter(const Parts& p, HotState& hot, RawEvent& event,
                   uint32_t what, uint32_t flags, const PymemrunFrame* frame) {
  hot.history[event.number & hot.history_mask] = event;
  EndedCall call = {};
  const bool call_passes =
      hot.open_calls != nullptr && TakeCall(hot, frame, event, &call);
  if ((ChangePasses(hot, event.drss_pages) || call_passes) &&
      Passes(hot, what, flags)) {
    LogWithContext(p, hot, event, frame, call);
  }
  hot.quiet_may_pass = ChangePasses(hot, 0);
}

bool LogsAllEvents(const TraceConfig& c) {
  return c.min_drss_bytes == 0 && c.kinds == 0x1f && c.include.empty() &&
         c.exclude.empty() && c.function.empty() && c.thread.empty();
}

}  // namespace

// The last events, the one under way among them.
bool EventLog::MakeHistory(HotState& hot, uint32_t context) const {
  // With everything logged each event's context is the row before it.
  hot.context = LogsAllEvents(*config_) ? 0 : context;
  uint32_t slots = 1;
  while (slots < hot.context + 1) slots *= 2;
  hot.history =
      static_cast<RawEvent*>(OwnMemory::Map(slots * sizeof(RawEvent)));
  if (hot.history == nullptr) return false;
  hot.history_mask = slots - 1;
  return true;
}

template <bool kAll, bool kVerify>
int SlowHalf<kAll, kVerify>::Take(const PymemrunFrame* frame, uint32_t what,
                                  PyObject* arg, uint64_t stamp,
                                  uint64_t number) {
  HotState& hot = Hot();
  const Parts& p = hot.parts.log->parts();
  uint32_t flags;
  RawEvent event =
      Examine<kVerify>(p, hot, frame, what, arg, stamp, number, &flags);
  if constexpr (kAll) {
    PutRow(hot, event, {});
  } else {
    Filter(p, hot, event, what, flags, frame);
  }
  return AfterEvent(p, hot, frame, what);
}

template <bool kAll, bool kVerify>
int SlowHalf<kAll, kVerify>::TakeByClock(const PymemrunFrame* frame,
                                         uint32_t what, PyObject* arg) {
  return Take(frame, what, arg, MonotonicNs(), TakeNumber(Hot()));
}

template struct SlowHalf<true, false>;
template struct SlowHalf<true, true>;
template struct SlowHalf<false, false>;
template struct SlowHalf<false, true>;

bool EventLog::Create(HotState& hot, const TraceConfig* config) {
  config_ = config;
  const uint64_t page = hot.page_bytes;
  const uint64_t pages = (config->min_drss_bytes + page - 1) / page;
  hot.min_drss_pages =
      static_cast<uint32_t>(pages < INT32_MAX ? pages : INT32_MAX);
  hot.kinds = config->kinds;
  hot.drss_since_logged = config->drss_since_logged;
  hot.logs_stacks = config->stacks;
  const bool walks = config->stacks || config->heap.mode == HeapMode::kAll;
  if (walks && !(parts_.nodes.Create() && parts_.stacks.Create(hot)))
    return false;
  constexpr uint32_t kObjects = 1u
                                << static_cast<uint32_t>(AllocatorKind::kObj);
  parts_.stacks.AskedByAllocations(config->heap.mode == HeapMode::kAll &&
                                   (config->heap.domains & kObjects) != 0);
  // Where every event is logged the rows themselves tell.
  if (follows_calls() && !CreateOpenCalls(hot, config->min_call_drss_bytes)) {
    return false;
  }
  return MakeHistory(hot, config->context);
}

void EventLog::PassOverChange(HotState& hot, uint64_t stamp, uint64_t number) {
  GaugeFindings found = {};
  parts_.gauge.Invalidate(hot);
  const int32_t change = parts_.gauge.Update(hot, stamp, number, &found);
  TellFindings(parts_, hot, stamp, number, found);
  // With --drss-since logged what had crept before still counts.
  const int32_t logged = RssPages(hot.logged_rss_pages) + change;
  hot.logged_rss_pages = logged > 0 ? static_cast<uint32_t>(logged) : 0;
  // Growth between here and the next event belongs to the next event.
  parts_.gauge.Invalidate(hot);
}

bool EventLog::logs_all() const {
  return LogsAllEvents(*config_) && !config_->stacks;
}

uint64_t EventLog::RowsMade(const HotState& hot,
                            const ControlPage& page) const {
  // The fast half writes rows itself, but only where each event is one.
  return logs_all() ? page.next_number.load(std::memory_order_relaxed)
                    : hot.rows_offered;
}

}  // namespace pymemrun
