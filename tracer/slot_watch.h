// Hears of everybody who fills a profile slot: sys.setprofile, cProfile,
// extension modules. ProfileSlot::Changed is told. GIL held.
#ifndef PYMEMRUN_TRACER_SLOT_WATCH_H_
#define PYMEMRUN_TRACER_SLOT_WATCH_H_

namespace pymemrun {

class SlotWatch {
 public:
  // After Py_Initialize. What was heard of before stays so.
  static void Begin();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SLOT_WATCH_H_
