// For tests: what a run file holds, as readers see it.
#ifndef PYMEMRUN_COLLECTOR_OUTPUT_RUN_CONTENTS_FOR_TESTS_H_
#define PYMEMRUN_COLLECTOR_OUTPUT_RUN_CONTENTS_FOR_TESTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/records/record_visitor.h"

namespace pymemrun {

struct FileContents final : RecordVisitor {
  void OnHeader(const Header& record) override { header = record; }
  void OnFooter(const Footer& record) override { footer = record; }
  bool OnRows(const Row* batch, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      in_order = in_order && batch[i].number == rows;
      ++rows;
    }
    return true;
  }
  void OnProcess(const ProcessSample& sample) override {
    rss.push_back(sample.rss_bytes());
    if (sample.rss_bytes() != 0) rss_known_us = sample.time_us();
    if (first_rss_us == 0) first_rss_us = rss_known_us;
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) heap += events[i].is_free ? "-" : "+";
    return true;
  }
  Header header;
  Footer footer;
  uint64_t rows = 0;
  std::string heap;  // its allocations and frees
  std::vector<uint64_t> rss;
  // When RSS was read first and last; 0: never.
  uint64_t first_rss_us = 0, rss_known_us = 0;
  bool in_order = true;  // numbered from 0 without gaps
  ReadResult result;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OUTPUT_RUN_CONTENTS_FOR_TESTS_H_
