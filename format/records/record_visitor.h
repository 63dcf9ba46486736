// Decodes run files: ReadStream() turns a file into calls of a RecordVisitor.
// Columns of batches become rows and entries, and every id has been checked.
// Readers derive from RecordVisitor and override the methods they use.
#ifndef PYMEMRUN_FORMAT_RECORDS_RECORD_VISITOR_H_
#define PYMEMRUN_FORMAT_RECORDS_RECORD_VISITOR_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "format/batches/event_batch.h"
#include "format/batches/heap_event.h"
#include "format/batches/page_event.h"
#include "format/objects/object_node.h"
#include "format/record_kinds.h"
#include "format/stream/byte_io.h"
#include "format/stream/stream_reader.h"
#include "format/timed/timed_events.h"
#include "format/trace.pb.h"

namespace pymemrun {

// How a visitor uses heap events, which are most of many files.
enum class HeapUse {
  kNone,    // not at all
  kFacts,   // only OnHeapBatch() is called
  kEvents,  // OnHeapBatch() and OnHeap() are called
};

// Methods are called in the order of the file. References and pointers are
// valid during the call.
//
// Ids are defined before they are used, and dense: each OnCode, OnSite, ... has
// the next id of its kind, so a vector can hold them. Where damage destroyed
// definitions, placeholders take their place: names are "?", SiteDef.code and
// StackDef.code are 0, native_id is 0. In an undamaged file, code or
// function may also be 0, which means that it is not known.
//
// Methods for batches get at most kEntriesPerCall entries and return false to
// stop reading.
class RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;
  virtual void OnHeader(const Header&) {}
  virtual void OnCode(const CodeDef&) {}
  virtual void OnFunction(const FunctionDef&) {}
  virtual void OnSite(const SiteDef&) {}
  virtual void OnThread(const ThreadDef&) {}
  virtual void OnStack(const StackDef&) {}
  // Rows of events, in the order of event numbers.
  virtual bool OnRows(const Row* rows, size_t count) { return true; }
  virtual void OnMapping(const MappingDef&) {}
  // Page events.
  virtual bool OnPages(const PageEntry* entries, size_t count) { return true; }
  virtual void OnResidency(const ResidencyView&) {}
  // Heap events, in the order of HeapBatch. heap_use() must always return the
  // same value. OnHeapBatch() is called before the events of its batch.
  virtual HeapUse heap_use() const { return HeapUse::kEvents; }
  virtual void OnHeapBatch(const HeapBatchFacts& facts) {}
  virtual bool OnHeap(const HeapEvent* events, size_t count) { return true; }
  // Events of the GIL.
  virtual bool OnGil(const GilEvent* events, size_t count) { return true; }
  // States of threads, and counts of the scheduler.
  virtual bool OnStates(const StateEvent* events, size_t count) { return true; }
  virtual bool OnSched(const SchedSample* samples, size_t count) {
    return true;
  }
  // Steps of tasks.
  virtual bool OnTasks(const TaskEvent* events, size_t count) { return true; }
  // Number of context switches lost before the states that come next.
  virtual void OnStatesLost(uint64_t switches) {}
  virtual void OnObjectType(const ObjectTypeDef&) {}
  virtual void OnObjectName(const ObjectNameDef&) {}
  // Nodes of an object dump. The references of a batch come after its nodes.
  virtual bool OnObjects(const ObjectNode* nodes, size_t count) { return true; }
  virtual bool OnReferences(const ObjectReference* references, size_t count) {
    return true;
  }
  // A method for each fact in record_kinds.h: OnMark(const Mark&) and so on.
#define PYMEMRUN_FACT_METHOD(kind, field, Message, Method, holds) \
  virtual void Method(const Message&) {}
  PYMEMRUN_FACTS(PYMEMRUN_FACT_METHOD)
#undef PYMEMRUN_FACT_METHOD
  virtual void OnFooter(const Footer&) {}
  // A record of an unknown kind, skipped.
  virtual void OnUnknown() {}
  // Damage in the file; reading continues after it.
  virtual void OnDamage(const StreamReader::Damage&) {}
};

// Result of reading a whole file.
struct ReadResult {
  uint64_t records = 0;
  uint64_t unknown_records = 0;
  uint64_t damages = 0;  // calls of OnDamage
  bool has_header = false;
  bool has_footer = false;
  bool torn = false;  // cut off in the last frame: a normal end
  // Where the file ends or, if torn, where the torn frame begins.
  uint64_t end_offset = 0;
  bool stopped = false;        // a visitor method returned false
  bool second_run = false;     // reading ended at the header of another run
  uint64_t rows = 0;           // given to OnRows
  uint64_t page_entries = 0;   // given to OnPages
  uint64_t heap_entries = 0;   // given to OnHeap
  uint64_t gil_entries = 0;    // given to OnGil
  uint64_t state_entries = 0;  // given to OnStates
  uint64_t sched_entries = 0;  // given to OnSched
  uint64_t task_entries = 0;   // given to OnTasks
  uint64_t objects = 0;        // given to OnObjects
  uint64_t references = 0;     // given to OnReferences
  uint64_t placeholders = 0;   // see RecordVisitor
};

// Returns the error for a file in which a second run follows the first.
absl::Status SecondRunError();

// Reads `source` until its end, until the visitor stops, or until a second run
// begins, which counts as damage and is not read. Fails only when nothing can
// be read: not a run file, a newer format version, an I/O error. All other
// problems are damage, reported to the visitor.
absl::Status ReadStream(ByteSource* source, StreamReader::Options options,
                        RecordVisitor* visitor, ReadResult* result);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_RECORD_VISITOR_H_
