// The one place that decodes records: ReadStream() turns a run file into calls
// of a visitor, with the columns of EventBatch unrolled into rows, those of
// PageBatch and HeapBatch into entries, and every id checked. Readers derive
// from RecordVisitor and override what they use.
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

// What a visitor makes of heap events, which are most of many files.
enum class HeapUse {
  kNone,    // nothing
  kFacts,   // it is told what each batch holds
  kEvents,  // it is given them
};

// Ids given to a visitor are defined and dense: each OnCode/OnSite/... comes
// with the id one above the last of its kind, so a vector can hold them. Where
// damage took definitions away, placeholders come in their stead: names are
// "?", SiteDef.code and StackDef.code are 0, native_id is 0. Also else code and
// function may be 0: not known.
class RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;
  virtual void OnHeader(const Header&) {}
  virtual void OnCode(const CodeDef&) {}
  virtual void OnFunction(const FunctionDef&) {}
  virtual void OnSite(const SiteDef&) {}
  virtual void OnThread(const ThreadDef&) {}
  virtual void OnStack(const StackDef&) {}
  // Rows come in batches, for speed: `count` rows that are valid during the
  // call. Return false to stop reading.
  virtual bool OnRows(const Row* rows, size_t count) { return true; }
  virtual void OnMapping(const MappingDef&) {}
  // Page events, in batches as rows come. Return false to stop reading.
  virtual bool OnPages(const PageEntry* entries, size_t count) { return true; }
  virtual void OnResidency(const ResidencyView&) {}
  // Heap events, in batches as rows come, in the order of HeapBatch. Return
  // false to stop reading. They come if heap_use() says so, which stays the
  // same, and what each batch holds comes before them or in their stead.
  virtual HeapUse heap_use() const { return HeapUse::kEvents; }
  virtual void OnHeapBatch(const HeapBatchFacts& facts) {}
  virtual bool OnHeap(const HeapEvent* events, size_t count) { return true; }
  // Events of the GIL, in batches as rows come. Return false to stop reading.
  virtual bool OnGil(const GilEvent* events, size_t count) { return true; }
  // What threads do, in batches as rows come; and what the scheduler has
  // counted of them. Return false to stop reading.
  virtual bool OnStates(const StateEvent* events, size_t count) { return true; }
  virtual bool OnSched(const SchedSample* samples, size_t count) {
    return true;
  }
  // Steps of tasks, in batches as rows come. Return false to stop reading.
  virtual bool OnTasks(const TaskEvent* events, size_t count) { return true; }
  // Context switches that found no room, before the states that come next.
  virtual void OnStatesLost(uint64_t switches) {}
  virtual void OnObjectType(const ObjectTypeDef&) {}
  virtual void OnObjectName(const ObjectNameDef&) {}
  // Nodes of an object dump, and after those of a batch its references, in
  // batches as rows come. Return false to stop reading.
  virtual bool OnObjects(const ObjectNode* nodes, size_t count) { return true; }
  virtual bool OnReferences(const ObjectReference* references, size_t count) {
    return true;
  }
  // A method for each fact of record_kinds.h: OnMark(const Mark&) and so on.
#define PYMEMRUN_FACT_METHOD(kind, field, Message, Method, holds) \
  virtual void Method(const Message&) {}
  PYMEMRUN_FACTS(PYMEMRUN_FACT_METHOD)
#undef PYMEMRUN_FACT_METHOD
  virtual void OnFooter(const Footer&) {}
  // A record of a kind that this reader does not know.
  virtual void OnUnknown() {}
  // Damage inside the file; reading goes on after it.
  virtual void OnDamage(const StreamReader::Damage&) {}
};

// What a whole read came to.
struct ReadResult {
  uint64_t records = 0;
  uint64_t unknown_records = 0;
  uint64_t damages = 0;  // OnDamage calls
  bool has_header = false;
  bool has_footer = false;
  bool torn = false;           // cut off inside the last frame: a normal end
  uint64_t end_offset = 0;     // of the file, or of the frame that is cut off
  bool stopped = false;        // the visitor asked to
  bool second_run = false;     // its header was found: reading ended there
  uint64_t rows = 0;           // given to OnRows
  uint64_t page_entries = 0;   // given to OnPages
  uint64_t heap_entries = 0;   // given to OnHeap
  uint64_t gil_entries = 0;    // given to OnGil
  uint64_t state_entries = 0;  // given to OnStates
  uint64_t sched_entries = 0;  // given to OnSched
  uint64_t task_entries = 0;   // given to OnTasks
  uint64_t objects = 0;        // given to OnObjects
  uint64_t references = 0;     // given to OnReferences
  uint64_t placeholders = 0;   // definitions made up, see RecordVisitor
};

// What is wrong with a file in which another run follows the first.
absl::Status SecondRunError();

// Reads `source` to its end, or until the visitor stops it, or a second run
// begins: that run is damage, and is not read. Fails only when nothing can be
// read at all: not a run file, a newer format version, an I/O error. Everything
// else is damage, given to the visitor.
absl::Status ReadStream(ByteSource* source, StreamReader::Options options,
                        RecordVisitor* visitor, ReadResult* result);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_RECORD_VISITOR_H_
