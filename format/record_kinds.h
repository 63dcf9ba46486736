// Kinds of facts: records that stand for themselves, one line each. This table
// generates the methods of RecordVisitor, the cases of the decoder, and the
// entries of the frame index. A new kind is a message in trace.proto and a line
// here.
#ifndef PYMEMRUN_FORMAT_RECORD_KINDS_H_
#define PYMEMRUN_FORMAT_RECORD_KINDS_H_

namespace pymemrun {

// What readers of other times need from a fact. Its time is time_us, or from_us
// to to_us, or begin_us to time_us. A field `thread` is a ThreadDef.id, and is
// checked.
enum class FactHolds {
  kTime,           // nothing: it only concerns its own time
  kNeeded,         // all of it
  kTimeAndNeeded,  // all of it, and it also belongs to its time
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
