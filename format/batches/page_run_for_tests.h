// A small run with page events. For tests only.
#ifndef PYMEMRUN_FORMAT_BATCHES_PAGE_RUN_FOR_TESTS_H_
#define PYMEMRUN_FORMAT_BATCHES_PAGE_RUN_FOR_TESTS_H_

#include <string>
#include <vector>

#include "format/batches/encode_batch_for_tests.h"
#include "format/batches/page_batch.h"
#include "format/batches/residency.h"
#include "format/stream/stream_for_tests.h"

namespace pymemrun {

inline bool operator==(const PageEntry& a, const PageEntry& b) {
  return a.time_us == b.time_us && a.page == b.page && a.pages == b.pages &&
         a.moved_to == b.moved_to && a.thread == b.thread &&
         a.stack == b.stack && a.code_mapping == b.code_mapping &&
         a.mapping == b.mapping && a.weight == b.weight &&
         a.action == b.action && a.inferred == b.inferred &&
         a.collecting == b.collecting;
}

inline bool operator==(const ResidentRange& a, const ResidentRange& b) {
  return a.page == b.page && a.pages == b.pages && a.mapping == b.mapping &&
         a.file_backed == b.file_backed && a.huge == b.huge;
}

// A page that came on thread 1, with stack 1, by an instruction of mapping 1.
inline PageEntry PlainEntry(uint64_t time_us, uint64_t page) {
  return {time_us, page, 1, 0, 1, 1, 1, 1, PAGE_CAME, false};
}

inline PageEntry ActionEntry(uint64_t time_us, PageAction action, uint64_t page,
                             uint64_t pages, uint64_t moved_to = 0) {
  return {time_us, page, pages, moved_to, 1, 1, 0, 1, action, false};
}

inline Record MappingRecord(uint32_t id, const std::string& name) {
  Record record;
  record.mutable_mapping()->set_id(id);
  record.mutable_mapping()->set_name(name);
  return record;
}

inline Record PagesRecord(const std::vector<PageEntry>& entries) {
  return EncodePages(entries);
}

inline Record ResidencyRecord(uint64_t begin_us, uint64_t time_us,
                              uint64_t rss_bytes,
                              const std::vector<ResidentRange>& ranges) {
  Record record;
  ResidencyEncoder encoder(record.mutable_residency());
  for (const ResidentRange& range : ranges) encoder.Add(range);
  record.mutable_residency()->set_begin_us(begin_us);
  record.mutable_residency()->set_time_us(time_us);
  record.mutable_residency()->set_rss_bytes(rss_bytes);
  return record;
}

inline std::vector<PageEntry> PageRunEntries() {
  std::vector<PageEntry> entries = {PlainEntry(2000, 100),
                                    PlainEntry(2000, 101)};
  entries.push_back(PlainEntry(2500, 7));
  entries.back().inferred = true;
  entries.back().code_mapping = 2;
  entries.back().collecting = true;
  entries.push_back(ActionEntry(2600, PAGES_MOVED, 100, 2, 300));
  entries.push_back(ActionEntry(2600, PAGES_UNMAPPED, 300, 1));
  entries.push_back(ActionEntry(2700, PAGES_POPULATED, 4000, 512));
  return entries;
}

// Frames: definitions with the first Residency, page events, a Residency with
// a fork and a loss, the footer.
inline std::vector<std::string> PageRunFrames(
    int level = StreamWriter::kStored) {
  std::vector<Record> first = Definitions();
  first.push_back(MappingRecord(1, "/usr/bin/python3.11"));
  first.push_back(MappingRecord(2, "[heap]"));
  first.push_back(ResidencyRecord(
      0, 900, 40960, {{50, 8, 1, true, false}, {90, 2, 2, false, false}}));
  Record fork, loss, footer;
  fork.mutable_fork()->set_time_us(3000);
  loss.mutable_page_loss()->set_time_us(3001);
  loss.mutable_page_loss()->set_samples(5);
  footer.mutable_footer()->set_page_events(3);
  footer.mutable_footer()->set_end_us(5000);
  const Record second =
      ResidencyRecord(4000, 4100, 8192,
                      {{301, 1, 2, false, false}, {4000, 512, 2, false, true}});
  return {FrameOf(first, level),
          FrameOf({PagesRecord(PageRunEntries())}, level),
          FrameOf({fork, loss, second}, level), FrameOf({footer}, level)};
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_PAGE_RUN_FOR_TESTS_H_
