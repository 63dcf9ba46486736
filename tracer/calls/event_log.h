// What the hooks of all CPython versions share: the slow halves, for events at
// which more than clock and place changes (those others: quiet_event.h). GIL
// held; nothing allocates.
#ifndef PYMEMRUN_TRACER_CALLS_EVENT_LOG_H_
#define PYMEMRUN_TRACER_CALLS_EVENT_LOG_H_

#include "tracer/base/hot_state.h"
#include "tracer/base/trace_config.h"
#include "tracer/calls/startup.h"
#include "tracer/code/code_registry.h"
#include "tracer/code/current_stack.h"
#include "tracer/code/thread_registry.h"
#include "tracer/code/tracing_cost.h"
#include "tracer/gauge/rss_gauge.h"
#include "tracer/gauge/rss_verifier.h"

namespace pymemrun {

class EventLog {
 public:
  // What the slow halves ask and tell.
  struct Parts {
    CodeRegistry& codes;
    ThreadRegistry& threads;
    StackNodes& nodes;
    CurrentStack& stacks;
    TracingCost& cost;
    RssGauge& gauge;
    RssVerifier& verifier;
    Startup& startup;
  };
  explicit constexpr EventLog(const Parts& parts) : parts_(parts) {}

  // Makes what the hooks need. `config` must stay. Returns false with errno
  // set.
  bool Create(HotState& hot, const TraceConfig* config);

  // Whether every event is logged, and nothing but the event.
  bool logs_all() const;
  // Whether the calls under way are kept, for their ends.
  bool follows_calls() const {
    return config_->min_call_drss_bytes > 0 && !logs_all();
  }
  bool verifies() const { return config_->verify_rss; }  // --verify-rss
  // Rows that there were to write so far, context included.
  uint64_t RowsMade(const HotState& hot, const ControlPage& page) const;

  // Between two events: what RSS has changed by since the first of them is not
  // the second's, `number`; dRSS counts from here.
  void PassOverChange(HotState& hot, uint64_t stamp, uint64_t number);

  const Parts& parts() const { return parts_; }

 private:
  bool MakeHistory(HotState& hot, uint32_t context) const;

  const Parts parts_;
  const TraceConfig* config_ = nullptr;
};

// The slow half of a hook, which logs all events or filters them. With
// --verify-rss every event is slow. `arg` is the C function of a C event; only
// what it says of itself is looked at. They return 0, as a profile function
// does. Called without a context: theirs is Hot().
template <bool kAll, bool kVerify>
struct SlowHalf {
  static int Take(const PymemrunFrame* frame, uint32_t what, PyObject* arg,
                  uint64_t stamp, uint64_t number);
  // Where the TSC cannot be trusted.
  static int TakeByClock(const PymemrunFrame* frame, uint32_t what,
                         PyObject* arg);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_EVENT_LOG_H_
