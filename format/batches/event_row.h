// The rows that EventBatch holds, one struct each.
#ifndef PYMEMRUN_FORMAT_BATCHES_EVENT_ROW_H_
#define PYMEMRUN_FORMAT_BATCHES_EVENT_ROW_H_

#include <cstdint>

#include "format/trace.pb.h"

namespace pymemrun {

// One logged event, or one kept as context.
struct Row {
  uint64_t number;
  uint64_t time_us;
  uint64_t rss_bytes;
  int64_t drss_bytes;
  uint32_t site;    // defined: OnSite has been called with it
  uint32_t thread;  // defined
  uint32_t stack;   // 0 or defined
  What what;
  bool context;  // PREV
  bool exact;    // rss_bytes is statm's value
  // Of a RETURN whose CALL is known: how many events before it that was, how
  // long ago, and what RSS has changed by since. Else 0.
  uint64_t call_events;
  uint64_t call_us;
  int64_t call_drss;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_EVENT_ROW_H_
