// The kinds of record that stand for themselves: facts, one line each. From
// this table come the visitor's methods, what the decoder knows, and what the
// index of frames says of a frame. A new kind is a message in trace.proto and a
// line here.
#ifndef PYMEMRUN_FORMAT_RECORD_KINDS_H_
#define PYMEMRUN_FORMAT_RECORD_KINDS_H_

namespace pymemrun {

// What readers of other times need of a fact. Its time is in time_us, or
// from_us to to_us, or begin_us to time_us. Where it has a `thread`, that is a
// ThreadDef.id, and checked.
enum class FactHolds {
  kTime,           // nothing: it concerns its own time alone
  kNeeded,         // all of it
  kTimeAndNeeded,  // all of it, and it is of its time, too
};

}  // namespace pymemrun

// FACT(case of Record, field of Record, message, method of RecordVisitor,
//      FactHolds)
#define PYMEMRUN_FACTS(FACT)                                                  \
  FACT(kMark, mark, Mark, OnMark, kTime)                                      \
  FACT(kProfilerGap, profiler_gap, ProfilerGap, OnProfilerGap, kTime)         \
  FACT(kLoss, loss, Loss, OnLoss, kTime)                                      \
  FACT(kProcess, process, ProcessSample, OnProcess, kTime)                    \
  FACT(kPeak, peak, Peak, OnPeak, kTime)                                      \
  FACT(kGauge, gauge, GaugeChange, OnGauge, kNeeded)                          \
  FACT(kPause, pause, Pause, OnPause, kTime)                                  \
  FACT(kPageLoss, page_loss, PageLoss, OnPageLoss, kTime)                     \
  FACT(kFork, fork, Fork, OnFork, kTime)                                      \
  FACT(kHeapRates, heap_rates, HeapRates, OnHeapRates, kTimeAndNeeded)        \
  FACT(kHeapLoss, heap_loss, HeapLoss, OnHeapLoss, kTime)                     \
  FACT(kObjectsDumped, objects_dumped, ObjectsDumped, OnObjectsDumped, kTime) \
  FACT(kObjectsUnderWay, objects_under_way, ObjectsUnderWay,                  \
       OnObjectsUnderWay, kTime)                                              \
  FACT(kObjectsBegin, objects_begin, ObjectsBegin, OnObjectsBegin, kNeeded)   \
  FACT(kObjectsEnd, objects_end, ObjectsEnd, OnObjectsEnd, kNeeded)           \
  FACT(kSource, source, SourceFile, OnSource, kNeeded)                        \
  FACT(kGcRun, gc_run, GcRun, OnGcRun, kTime)                                 \
  FACT(kCounter, counter, CounterValue, OnCounter, kTime)                     \
  FACT(kCounterPlan, counter_plan, CounterPlan, OnCounterPlan, kTimeAndNeeded)\
  FACT(kGilLoss, gil_loss, GilLoss, OnGilLoss, kTime)                         \
  FACT(kGilRecording, gil_recording, GilRecording, OnGilRecording, kNeeded) \
  FACT(kStateRecording, state_recording, StateRecording, OnStateRecording,    \
       kNeeded)                                                               \
  FACT(kTask, task, TaskDef, OnTask, kNeeded)                                 \
  FACT(kTaskRecording, task_recording, TaskRecording, OnTaskRecording,        \
       kTimeAndNeeded)

#endif  // PYMEMRUN_FORMAT_RECORD_KINDS_H_
