// The one place that decodes records: ReadStream() turns a run file into calls
// of a visitor, with the columns of EventBatch unrolled into rows and every id
// checked. Readers derive from RecordVisitor and override what they use.
#ifndef PYMEMRUN_FORMAT_RECORD_VISITOR_H_
#define PYMEMRUN_FORMAT_RECORD_VISITOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
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
  uint32_t site;    // defined: OnSite has been called with it
  uint32_t thread;  // defined
  uint32_t stack;   // 0 or defined
  What what;
  bool context;  // PREV
  bool exact;    // rss_bytes is statm's value
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
  virtual void OnMark(const Mark&) {}
  virtual void OnProfilerGap(const ProfilerGap&) {}
  virtual void OnLoss(const Loss&) {}
  virtual void OnProcess(const ProcessSample&) {}
  virtual void OnPeak(const Peak&) {}
  virtual void OnGauge(const GaugeChange&) {}
  virtual void OnPause(const Pause&) {}
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
  bool torn = false;  // cut off inside the last frame: a normal end
  uint64_t torn_offset = 0;
  bool stopped = false;       // the visitor asked to
  bool second_run = false;    // its header was found: reading ended there
  uint64_t rows = 0;          // given to OnRows
  uint64_t placeholders = 0;  // definitions made up, see RecordVisitor
};

// How many of each have been defined: the highest ids.
struct DefinedIds {
  uint32_t codes = 0;
  uint32_t functions = 0;
  uint32_t sites = 0;
  uint32_t threads = 0;
  uint32_t stacks = 0;
};

// Decodes record by record. Holds what must be known across records (the
// highest ids seen). Not thread safe.
class RecordDecoder {
 public:
  explicit RecordDecoder(RecordVisitor* visitor) : visitor_(visitor) {}
  // One serialised record. Fails with what is wrong with it (the message names
  // the field, what was expected and found); the visitor has then seen none of
  // it, or for a bad batch none of its rows. Of the codes, kDataLoss means that
  // this record is lost and the next may be decoded; with kInvalidArgument (no
  // run file) and kFailedPrecondition (a newer format) nothing more can be.
  absl::Status Decode(absl::string_view record);
  // To be called when records were lost: from now on definitions may be
  // missing. Without it an undefined id is damage.
  void NoteDamage() { damage_seen_ = true; }
  const ReadResult& result() const { return result_; }
  ReadResult& result() { return result_; }
  const DefinedIds& defined() const { return defined_; }

 private:
  absl::Status DecodeKind(absl::string_view record);
  absl::Status Dispatch(const Record& record);
  absl::Status DispatchOther(const Record& record);
  absl::Status CheckFirst(Record::KindCase kind) const;
  absl::Status DecodeHeader(const Header& header);
  absl::Status DecodeSite(const SiteDef& site);
  absl::Status DecodeStack(const StackDef& stack);
  absl::Status DecodeFooter(const Footer& footer);
  absl::Status DecodeEvents(const EventBatch& batch);
  absl::Status DecodeUnknown();
  template <class Def>
  absl::Status Define(const Def& def);
  template <class Def>
  absl::Status Refer(uint32_t id, absl::string_view field);
  template <class Def>
  void Emit(const Def& def);

  RecordVisitor* visitor_;
  ReadResult result_;
  DefinedIds defined_;
  bool damage_seen_ = false;
  uint64_t definition_bytes_ = 0;
  uint64_t next_number_ = 0;     // smallest number that a row may have
  std::vector<What> site_what_;  // by SiteDef.id
  Record record_;                // reused, and so are batch_ and rows_
  EventBatch batch_;
  std::vector<Row> rows_;
};

// What is wrong with a file in which another run follows the first.
absl::Status SecondRunError();

// Reads `source` to its end, or until the visitor stops it, or a second run
// begins, which is damage of which nothing is read. Fails only when
// nothing can be read at all: not a run file, a newer format version, an I/O
// error; everything else is damage, given to the visitor.
absl::Status ReadStream(ByteSource* source, StreamReader::Options options,
                        RecordVisitor* visitor, ReadResult* result);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORD_VISITOR_H_
