// Slow halves of the hooks of all CPython versions: events that change more
// than clock and place (quiet_event.h has the others). All functions need the
// GIL; nothing allocates.
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
  // Parts that the slow halves use.
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

  // Makes everything the hooks need. `config` must stay. Returns false with
  // errno set on failure.
  bool Create(HotState& hot, const TraceConfig* config);

  // Whether every event is logged, without stacks or context.
  bool logs_all() const;
  // Whether open calls are stored, for their RETURN.
  bool follows_calls() const {
    return config_->min_call_drss_bytes > 0 && !logs_all();
  }
  bool verifies() const { return config_->verify_rss; }  // --verify-rss
  // Number of rows so far, context and dropped ones included.
  uint64_t RowsMade(const HotState& hot, const ControlPage& page) const;

  // Changes of RSS since the last event do not belong to the next one,
  // `number`: its dRSS counts from here.
  void PassOverChange(HotState& hot, uint64_t stamp, uint64_t number);

  const Parts& parts() const { return parts_; }

 private:
  bool MakeHistory(HotState& hot, uint32_t context) const;

  const Parts parts_;
  const TraceConfig* config_ = nullptr;
};

// The slow half of a hook: logs all events, or filters them. With --verify-rss
// every event is slow. `arg` is the C function of a C event; only its own
// fields are read. Returns 0, as a profile function does. Hooks have no context
// argument, so it uses Hot().
template <bool kAll, bool kVerify>
struct SlowHalf {
  static int Take(const PymemrunFrame* frame, uint32_t what, PyObject* arg,
                  uint64_t stamp, uint64_t number);
  // The same where the TSC is not reliable.
  static int TakeByClock(const PymemrunFrame* frame, uint32_t what,
                         PyObject* arg);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_EVENT_LOG_H_
