#include "readers/testing/hostile_gil_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/timed/gil_batch.h"
#include "format/timed/state_batch.h"

namespace pymemrun {
namespace {

GilEvent At(uint64_t time_ns, uint64_t thread, GilAction action) {
  GilEvent event;
  event.time_ns = time_ns;
  event.thread = static_cast<uint32_t>(thread);
  event.action = action;
  return event;
}

void Write(GilBatchEncoder* events, HostileRun* run) {
  Record record;
  events->Take(record.mutable_gil());
  run->builder().AddRecord(record);
}

// The first one's ThreadDef.id.
uint64_t AddThreads(uint64_t count, HostileRun* run) {
  uint32_t last = 0;
  for (uint64_t i = 0; i < count; ++i) {
    last = run->builder().AddThread(absl::StrCat("t", i), i + 1);
  }
  return last + 1 - count;
}

}  // namespace

void GilWaits(uint64_t count, HostileRun* run) {
  const uint32_t chain = run->AddChain(kMaxStackNodes - 1);
  const uint64_t first = AddThreads(count, run);
  GilBatchEncoder events;
  uint64_t time_ns = 0;
  for (const GilAction action : {GIL_WAITING, GIL_HOLDER, GIL_TAKEN}) {
    for (uint64_t i = 0; i < count; ++i) {
      // Each holds the GIL once before the first wait ends.
      time_ns += 1000;
      GilEvent event = At(time_ns, first + i, action);
      if (action == GIL_HOLDER) {
        event.stack = run->AddStack(chain, static_cast<uint32_t>(i + 1));
        events.Append(At(time_ns, first + (i + 1) % count, GIL_TAKEN));
        event.thread = static_cast<uint32_t>(first + (i + 1) % count);
      }
      events.Append(event);
      if (events.entries() >= GilBatchEncoder::kMaxEntries - 1) {
        Write(&events, run);
      }
    }
  }
  Write(&events, run);
}

void LockWaits(uint64_t count, HostileRun* run) {
  Record record;
  record.mutable_gil_recording()->set_free_threaded(true);
  run->builder().AddRecord(record);
  const uint32_t chain = run->AddChain(kMaxStackNodes - 1);
  const uint64_t first = AddThreads(count, run);
  GilBatchEncoder events;
  uint64_t time_ns = 0;
  for (const GilAction begins :
       {GIL_LOCK_WAITING, GIL_STOPS_OTHERS, GIL_STANDS_STILL}) {
    for (const bool ends : {false, true}) {
      for (uint64_t i = 0; i < count; ++i) {
        time_ns += 1000;
        const auto action = static_cast<GilAction>(begins + (ends ? 1 : 0));
        GilEvent event = At(time_ns, first + i, action);
        if (HasBy(action)) {
          event.by = static_cast<uint32_t>(first + (i + 1) % count);
          GilEvent stack = At(time_ns, event.by, GIL_HOLDER);
          stack.stack = run->AddStack(chain, static_cast<uint32_t>(i + 1));
          events.Append(stack);
        }
        events.Append(event);
        if (events.entries() >= GilBatchEncoder::kMaxEntries - 1) {
          Write(&events, run);
        }
      }
    }
  }
  Write(&events, run);
}

void StateSpans(uint64_t count, HostileRun* run) {
  Record record;
  record.mutable_state_recording()->set_switches(true);
  run->builder().AddRecord(record);
  StateBatchEncoder states;
  GilBatchEncoder events;
  const auto write = [&] {
    Write(&events, run);
    states.Take(record.mutable_states());
    run->builder().AddRecord(record);
  };
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t time_ns = 1000 * i;
    states.Append({time_ns, 1, i % 2 == 0 ? STATE_RUNS : STATE_SLEEPS,
                   SLEEP_UNKNOWN, ""});
    events.Append(At(time_ns + 100, 1, GIL_TAKEN));
    events.Append(At(time_ns + 500, 1, GIL_WAITING));
    if (events.entries() >= GilBatchEncoder::kMaxEntries - 1) write();
    if (i % 16 != 0) continue;
    SchedBatch* const counts = record.mutable_sched();
    counts->set_time_us(i);
    counts->add_thread(1);
    counts->add_run_ns(time_ns / 2);
    counts->add_runnable_ns(time_ns / 4);
    run->builder().AddRecord(record);
    record.Clear();
  }
  write();
}

}  // namespace pymemrun
