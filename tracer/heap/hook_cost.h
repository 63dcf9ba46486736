// What allocator hooks add to an allocation and its free, timed on this
// machine.
#ifndef PYMEMRUN_TRACER_HEAP_HOOK_COST_H_
#define PYMEMRUN_TRACER_HEAP_HOOK_COST_H_

namespace pymemrun {

// Made before hooks are put in. With the GIL.
class HookCost {
 public:
  HookCost();
  // In ns, at least 0, once they are in.
  double PairNs() const;

 private:
  const double without_ns_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HOOK_COST_H_
