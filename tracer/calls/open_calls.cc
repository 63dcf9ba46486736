#include "tracer/calls/open_calls.h"

#include <string.h>

#include "tracer/base/own_memory.h"

namespace pymemrun {
namespace {

// The entries of the last first place extend behind it.
constexpr size_t kTableBytes =
    (kOpenCalls + kOpenCallPlaces - 1) * sizeof(OpenCall);
constexpr uint64_t kFrameBits = (uint64_t{1} << 48) - 1;

// A place for a call that begins. An old entry of the same frame is stale and
// is replaced. Returns null if there is no room.
OpenCall* PlaceFor(HotState& hot, uint64_t key) {
  OpenCall* const first = OpenCallPlace(hot, key);
  OpenCall* free = nullptr;
  for (OpenCall* call = first; call != first + kOpenCallPlaces; ++call) {
    if (((call->key ^ key) & kFrameBits) == 0) return call;
    if (call->key == 0 && free == nullptr) free = call;
  }
  return free;
}

OpenCall* Find(HotState& hot, uint64_t key) {
  OpenCall* const first = OpenCallPlace(hot, key);
  for (OpenCall* call = first; call != first + kOpenCallPlaces; ++call) {
    if (call->key == key) return call;
  }
  return nullptr;
}

}  // namespace

bool CreateOpenCalls(HotState& hot, uint64_t min_bytes) {
  const uint64_t pages = (min_bytes + hot.page_bytes - 1) / hot.page_bytes;
  hot.min_call_pages =
      static_cast<uint32_t>(pages < INT32_MAX ? pages : INT32_MAX);
  hot.open_calls = static_cast<OpenCall*>(OwnMemory::Map(kTableBytes));
  return hot.open_calls != nullptr;
}

void ForgetOpenCalls(HotState& hot) {
  if (hot.open_calls != nullptr) memset(hot.open_calls, 0, kTableBytes);
}

void RenameOpenCalls(HotState& hot, uint32_t from, uint32_t to) {
  if (hot.open_calls == nullptr) return;
  OpenCall* const end = hot.open_calls + kOpenCalls + kOpenCallPlaces - 1;
  for (OpenCall* call = hot.open_calls; call != end; ++call) {
    if (call->thread == from) call->thread = to;
  }
}

// If CALL and RETURN are on different threads, the call is not reported.
bool TakeCall(HotState& hot, const PymemrunFrame* frame, const RawEvent& event,
              EndedCall* ended) {
  const auto what = static_cast<EventWhat>(event.what_and_code >> kWhatShift);
  const uint64_t key = OpenCallKey(frame);
  if (what == EventWhat::kCall) {
    OpenCall* const call = PlaceFor(hot, key);
    if (call == nullptr) return false;
    *call = {key, event.number, event.stamp, event.rss_pages, event.thread};
    return false;
  }
  if (what != EventWhat::kReturn) return false;
  OpenCall* const call = Find(hot, key);
  if (call == nullptr) return false;
  call->key = 0;
  if (call->thread != event.thread) return false;
  *ended = {event.number - call->number, call->stamp,
            RssPages(event.rss_pages) - RssPages(call->rss_pages)};
  return PagesApart(event.rss_pages, call->rss_pages) >= hot.min_call_pages;
}

}  // namespace pymemrun
