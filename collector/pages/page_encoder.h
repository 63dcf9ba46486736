// Turns what happened to pages, in the order of time, into the run file's
// records.
#ifndef PYMEMRUN_COLLECTOR_PAGES_PAGE_ENCODER_H_
#define PYMEMRUN_COLLECTOR_PAGES_PAGE_ENCODER_H_

#include <sys/types.h>

#include <cstdint>

#include "collector/definitions/definition_table.h"
#include "collector/definitions/mapping_table.h"
#include "collector/definitions/side_stacks.h"
#include "collector/output/record_sink.h"
#include "collector/pages/page_matcher.h"
#include "collector/pages/residency_scan.h"
#include "collector/process/clock_scale.h"
#include "format/batches/page_batch.h"

namespace pymemrun {

// Not thread safe. All that it is given pointers to must outlive it.
class PageEncoder {
 public:
  struct Context {
    pid_t pid;
    uint32_t page_bytes;
    const ClockScale* clock;
    DefinitionTable* definitions;
    SideStacks* stacks;
    MappingTable* mappings;
    RecordSink* out;
  };
  explicit PageEncoder(const Context& context) : in_(context) {}

  // Number of pages that each later page stands for, unless it is certain.
  void SetWeight(uint32_t weight);
  // `certain`: it was recorded in any case.
  void AddSample(const MatchedSample& sample, bool certain);
  // The sample's page, which was just added, came with those among these bytes
  // that were not there yet.
  void AddWith(const MatchedSample& matched, uint64_t address, uint64_t bytes);
  void AddRange(const PageMark& range, bool certain);
  void WriteFork(uint64_t time_ns, uint64_t child);
  void WriteResidency(const ResidencyAnswer& answer);
  // Writes the number of samples and stacks lost since the last call.
  void WriteLoss(uint64_t time_ns, uint64_t samples, uint64_t stacks);
  // Writes the entries gathered so far.
  void EndBatch();

  uint64_t page_events() const { return page_events_; }
  uint64_t inferred() const { return inferred_; }

 private:
  PageEntry EntryOf(const MatchedSample& matched, bool certain);
  void Append(const PageEntry& entry);
  uint32_t WeightOf(bool certain) const {
    return certain ? 1 : batch_.weight();
  }
  uint32_t ThreadOf(uint32_t thread, uint64_t time_us);

  const Context in_;
  PageBatchEncoder batch_;
  uint64_t page_events_ = 0;
  uint64_t inferred_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_ENCODER_H_
