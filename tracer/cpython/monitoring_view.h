// Keeps our events out of what sys.monitoring shows of itself. CPython 3.12 and
// later. GIL held.
#ifndef PYMEMRUN_TRACER_CPYTHON_MONITORING_VIEW_H_
#define PYMEMRUN_TRACER_CPYTHON_MONITORING_VIEW_H_

namespace pymemrun {

class MonitoringView {
 public:
  // After Py_Initialize. Again: no effect.
  static void Hide();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CPYTHON_MONITORING_VIEW_H_
