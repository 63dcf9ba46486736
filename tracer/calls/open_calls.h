// The calls that are under way, so that a RETURN knows what RSS was at its
// CALL. With --min-call-drss; the hooks write and read it. GIL held; nothing
// allocates.
//
// A call is known by its frame, which no other call under way has. Each
// resumption of a generator or a coroutine is a call. Each greenlet has frames
// of its own, so that calls may end in any order. So it is a table by the
// frame's address, each entry within a few places of where that says. A call
// that finds no room there is unknown when it ends. So is each call that was
// under way while events were missed: ForgetOpenCalls().
#ifndef PYMEMRUN_TRACER_CALLS_OPEN_CALLS_H_
#define PYMEMRUN_TRACER_CALLS_OPEN_CALLS_H_

#include <cstddef>
#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/cpython/compat.h"
#include "tracer/ring/row_writer.h"

namespace pymemrun {

struct OpenCall {
  uint64_t key;  // of frame and code; 0: the entry is free
  uint64_t number;
  uint64_t stamp;
  uint32_t rss_pages;
  uint32_t thread;
};
static_assert(sizeof(OpenCall) == 32);

inline constexpr size_t kOpenCalls = 16384;
inline constexpr size_t kOpenCallPlaces = 8;  // where an entry may be

// The frame's address, which has 48 bits, and some of its code's.
inline uint64_t OpenCallKey(const PymemrunFrame* frame) {
  const auto code = reinterpret_cast<uintptr_t>(PymemrunFrameCode(frame));
  return reinterpret_cast<uintptr_t>(frame) ^ code >> 4 << 48;
}
// The first of its places. No frame is as small as the distance of two.
inline OpenCall* OpenCallPlace(const HotState& hot, uint64_t key) {
  return &hot.open_calls[key >> 5 & (kOpenCalls - 1)];
}

inline uint32_t PagesApart(uint32_t a_pages, uint32_t b_pages) {
  const int32_t apart = RssPages(a_pages) - RssPages(b_pages);
  return static_cast<uint32_t>(apart < 0 ? -apart : apart);
}

// A CALL; false where its first place is taken.
inline bool BeginQuietly(HotState& hot, uint64_t key, uint64_t stamp,
                         uint64_t number) {
  OpenCall* const call = OpenCallPlace(hot, key);
  if (call->key != 0) return false;
  call->key = key;
  call->number = number;
  call->stamp = stamp;
  call->rss_pages = hot.rss_pages;
  call->thread = hot.current_thread;
  return true;
}

// Handles a RETURN. Returns false if its call is not in its first place, or if
// RSS has changed enough to be logged.
inline bool EndQuietly(HotState& hot, uint64_t key) {
  OpenCall* const call = OpenCallPlace(hot, key);
  if (call->key != key ||
      PagesApart(hot.rss_pages, call->rss_pages) >= hot.min_call_pages) {
    return false;
  }
  call->key = 0;
  return true;
}

// Whether a quiet event stays one although calls are followed. REQUIRES: there
// is a table.
inline bool IsQuietCall(HotState& hot, const PymemrunFrame* frame,
                        uint32_t what, uint64_t stamp, uint64_t number) {
  if (what == static_cast<uint32_t>(EventWhat::kCall)) {
    return BeginQuietly(hot, OpenCallKey(frame), stamp, number);
  }
  if (what == static_cast<uint32_t>(EventWhat::kReturn)) {
    return EndQuietly(hot, OpenCallKey(frame));
  }
  return true;
}

// Makes and touches the table. Returns false with errno set.
bool CreateOpenCalls(HotState& hot, uint64_t min_bytes);
// Events were missed, or will be: the calls under way are unknown. No effect
// without a table.
void ForgetOpenCalls(HotState& hot);
// A thread has another number from here on. No effect without a table.
void RenameOpenCalls(HotState& hot, uint32_t from, uint32_t to);
// Handles an event of the frame: starts a call, or ends one, which is then in
// *ended. Returns whether RSS changed during the call enough to be logged.
// REQUIRES: there is a table, and *ended is empty.
bool TakeCall(HotState& hot, const PymemrunFrame* frame, const RawEvent& event,
              EndedCall* ended);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_OPEN_CALLS_H_
