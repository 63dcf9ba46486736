// The one place that decodes records: ReadStream() turns a run file into calls
// of a visitor, with the columns of EventBatch unrolled into rows and every id
// checked. Readers derive from RecordVisitor and override what they use.
#ifndef PYMEMRUN_FORMAT_RECORD_VISITOR_H_
#define PYMEMRUN_FORMAT_RECORD_VISITOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "format/byte_io.h"
#include "format/stream_reader.h"
#include "format/trace.pb.h"

namespace pymemrun {

// One logged event, or one kept as context.
struct Row {
  uint64_t number;
  uint64_t time_us;
  uint64_t rss_bytes;
  int64_t drss_bytes;
  uint32_t site;     // defined: OnSite has been called with it
  uint32_t thread;   // defined
  uint32_t stack;    // 0 or defined
  What what;
  bool context;      // PREV
  bool exact;        // rss_bytes is statm's value
};

// Ids given to a visitor are defined and dense: each OnCode/OnSite/... comes
// with the id one above the last of its kind, so a vector can hold them.
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
  virtual void OnMark(const Mark&) {}
  virtual void OnProfilerGap(const ProfilerGap&) {}
  virtual void OnLoss(const Loss&) {}
  virtual void OnProcess(const ProcessSample&) {}
  virtual void OnPeak(const Peak&) {}
  virtual void OnGauge(const GaugeChange&) {}
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
  uint64_t damages = 0;     // OnDamage calls
  bool has_header = false;
  bool has_footer = false;
  bool torn = false;        // cut off inside the last frame: a normal end
  uint64_t torn_offset = 0;
  bool stopped = false;     // the visitor asked to
};

// Decodes record by record. Holds what must be known across records (the
// highest ids seen). Not thread safe.
class RecordDecoder {
 public:
  explicit RecordDecoder(RecordVisitor* visitor) : visitor_(visitor) {}
  // One serialised record. Fails with what is wrong with it (the message names
  // the field, what was expected and found); the visitor has then seen none of
  // it, or for a bad batch none of its rows.
  absl::Status Decode(absl::string_view record);
  const ReadResult& result() const { return result_; }
  ReadResult& result() { return result_; }

 private:
  RecordVisitor* visitor_;
  ReadResult result_;
  uint32_t codes_ = 0, functions_ = 0, sites_ = 0, threads_ = 0, stacks_ = 0;
};

// Reads `source` to its end (or until the visitor stops it). Fails only when
// nothing can be read at all: not a run file, a newer format version, an I/O
// error; everything else is damage, given to the visitor.
absl::Status ReadStream(ByteSource* source, StreamReader::Options options,
                        RecordVisitor* visitor, ReadResult* result);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORD_VISITOR_H_
