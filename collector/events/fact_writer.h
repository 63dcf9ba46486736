// The facts of the event ring, which stand between rows, as records.
#ifndef PYMEMRUN_COLLECTOR_EVENTS_FACT_WRITER_H_
#define PYMEMRUN_COLLECTOR_EVENTS_FACT_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "collector/definitions/definition_table.h"
#include "collector/output/record_sink.h"
#include "collector/process/clock_scale.h"
#include "collector/ring/payload_reader.h"
#include "format/trace.pb.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// What the footer says about all rows.
struct RowTotals {
  uint64_t rows = 0;
  uint64_t next_number = 0;  // last row's number + 1
  uint64_t max_rss_bytes = 0;
  uint64_t max_rss_number = 0;
  uint32_t max_rss_site = 0;
  uint32_t max_rss_thread = 0;
  uint64_t max_rss_us = 0;
  Peak peak;  // the highest; hwm_bytes is 0 when there was none
  uint64_t clock_steps_back = 0;       // rows below the time of the one before
  uint64_t worst_clock_step_back = 0;  // in time stamp units
  GaugeChange gauge_change;            // the last...
  uint32_t gauge_changes = 0;          // how many there were
};

// The dumps of the object graph that are whole.
struct DumpsMade {
  void Take(const ObjectsDumped& dump);

  uint64_t count = 0;
  std::string last;       // its file's name, without folders
  bool has_peak = false;  // the last of the peaks is kept
};

// EventEncoder owns one. Not thread safe. All pointers must outlive it.
class FactWriter {
 public:
  struct Context {
    uint64_t page_bytes;
    const ClockScale* clock;
    DefinitionTable* definitions;
    RecordSink* out;
    RowTotals* totals;  // of what is known of peaks and gauges
  };
  explicit FactWriter(const Context& context) : in_(context) {}

  // False: no such kind is known, and nothing was written.
  bool Write(ControlKind kind, absl::string_view payload);
  // The run file's new path, if the script has changed it; else empty.
  const std::string& output() const { return output_; }
  const DumpsMade& dumps() const { return dumps_; }
  // Values of counters that are one too many, which were not written.
  uint64_t refused_counters() const { return refused_counters_; }

 private:
  void WriteCounter(PayloadReader payload);

  const Context in_;
  absl::flat_hash_set<std::string> counters_;  // their names
  uint64_t refused_counters_ = 0;
  std::string output_;
  DumpsMade dumps_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_EVENTS_FACT_WRITER_H_
