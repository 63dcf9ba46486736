// The half of CheckingVisitor that checks object dumps, states of threads and
// steps of tasks, and what both halves need.
#ifndef PYMEMRUN_FORMAT_RECORDS_CHECKING_EVENTS_FOR_TESTS_H_
#define PYMEMRUN_FORMAT_RECORDS_CHECKING_EVENTS_FOR_TESTS_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/records/record_visitor.h"

namespace pymemrun {

class CheckingEvents : public RecordVisitor {
 public:
  explicit CheckingEvents(bool keep_lines) : keep_(keep_lines) {}
  void OnObjectType(const ObjectTypeDef& d) override {
    Check(d.base() < d.id());
    Define("object type", d.id(), &object_types_);
  }
  void OnObjectName(const ObjectNameDef& d) override {
    Define("object name", d.id(), &object_names_);
  }
  bool OnObjects(const ObjectNode* nodes, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) {
      Check(nodes[i].number >= next_object_ && nodes[i].number < kMaxObjects);
      Check(nodes[i].type <= object_types_);
      Check(nodes[i].text.size() <= kMaxObjectTextBytes);
      next_object_ = nodes[i].number + 1;
      Keep("object ", nodes[i].number);
    }
    return true;
  }
  bool OnReferences(const ObjectReference* references, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) {
      Check(references[i].name <= object_names_);
      Check(references[i].from < kMaxObjects);
      Check(references[i].target < kMaxObjects);
      Keep("reference ", references[i].target);
    }
    return true;
  }
  bool OnStates(const StateEvent* events, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) OnStateEvent(events[i]);
    return true;
  }
  bool OnSched(const SchedSample* samples, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) {
      Check(samples[i].thread >= 1 && samples[i].thread <= threads_);
      Check(samples[i].run_ns <= kMaxStateNanos &&
            samples[i].runnable_ns <= kMaxStateNanos);
      Keep("sched ", samples[i].run_ns);
    }
    return true;
  }
  void OnStatesLost(uint64_t lost) override { Keep("states lost ", lost); }
  void OnStateRecording(const StateRecording& r) override {
    Keep("state recording ", r.switches());
  }
  bool OnTasks(const TaskEvent* events, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) OnTaskEvent(events[i]);
    return true;
  }
  void OnTask(const TaskDef& t) override { Keep("task ", t.task()); }
  void OnTaskRecording(const TaskRecording& r) override {
    Keep("task recording ", r.lost());
  }
  const std::vector<std::string>& lines() const { return lines_; }

 protected:
  static void Check(bool condition) {
    if (condition) return;
    fprintf(stderr, "CheckingVisitor: a promise to visitors was broken\n");
    abort();
  }
  void Define(const char* kind, uint32_t id, uint32_t* last) {
    Check(id == ++*last);
    Keep(kind, id);
  }
  void Keep(const char* kind, uint64_t value) {
    if (keep_) lines_.push_back(absl::StrCat(kind, value));
  }

  const bool keep_;
  uint32_t threads_ = 0, stacks_ = 0;  // defined so far

 private:
  void OnStateEvent(const StateEvent& event) {
    Check(StateAction_IsValid(event.action) &&
          SleepReason_IsValid(event.reason));
    Check(event.thread >= 1 && event.thread <= threads_);
    Check(event.time_ns <= kMaxStateNanos);
    Check(event.action == STATE_SEEN || event.reason == SLEEP_UNKNOWN);
    Check(event.reason == SLEEP_OTHER || event.other.empty());
    Keep("state ", event.time_ns);
  }
  void OnTaskEvent(const TaskEvent& event) {
    Check(TaskAction_IsValid(event.action) && event.task >= 1);
    Check(event.thread >= 1 && event.thread <= threads_);
    Check(event.stack <= stacks_ && event.time_ns <= kMaxTaskNanos);
    Check(event.lasted_ns <= kMaxTaskNanos);
    Check(event.grown_bytes <= kMaxTaskBytes &&
          event.grown_bytes >= -kMaxTaskBytes);
    Keep("task step ", event.time_ns);
  }
  std::vector<std::string> lines_;
  uint32_t object_types_ = 0, object_names_ = 0;
  uint64_t next_object_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_CHECKING_EVENTS_FOR_TESTS_H_
