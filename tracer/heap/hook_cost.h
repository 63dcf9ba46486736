// What allocator hooks add to an allocation and its free, timed on this
// machine.
#ifndef PYMEMRUN_TRACER_HEAP_HOOK_COST_H_
#define PYMEMRUN_TRACER_HEAP_HOOK_COST_H_

namespace pymemrun {

// Create it before the hooks are installed. Needs the GIL.
class HookCost {
 public:
  HookCost();
  // Cost of the hooks for an allocation and its free, in nanoseconds, at least
  // 0. Call it once they are installed.
  double PairNs() const;

 private:
  const double without_ns_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HOOK_COST_H_
