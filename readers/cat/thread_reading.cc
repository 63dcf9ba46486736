#include "readers/cat/thread_reading.h"

#include <unistd.h>

#include "format/records/record_visitor.h"
#include "format/stream/read_plan.h"
#include "readers/run/input_file.h"

namespace pymemrun {
namespace {

// Whether a run has page faults. Reads up to the first batch.
struct HeaderReader final : RecordVisitor {
  void OnHeader(const Header& header) override {
    has_faults = header.page_period() != 0 && !header.page_scan();
  }
  bool OnRows(const Row*, size_t) override { return false; }
  bool OnPages(const PageEntry*, size_t) override { return false; }
  bool OnHeap(const HeapEvent*, size_t) override { return false; }

  bool has_faults = false;
};

bool Read(int fd, RecordVisitor* visitor, ReadPlan* plan) {
  FdSource source(fd);
  StreamReader::Options options;
  options.plan = plan;
  ReadResult result;
  const absl::Status status = ReadStream(&source, options, visitor, &result);
  return lseek(fd, 0, SEEK_SET) == 0 && status.ok();
}

}  // namespace

std::unique_ptr<ThreadDrss> ReadThreadDrss(int fd, uint64_t from_us) {
  HeaderReader begin;
  if (!Read(fd, &begin, nullptr) || !begin.has_faults) return nullptr;
  const auto read = OneByOne([fd](ReplayVisitor* replay) {
    const auto plan = ReadPlan::WithoutEvents();
    const bool was_read = Read(fd, replay, plan.get());
    replay->Finish();
    return was_read;
  });
  return ThreadDrss::Read(read, from_us);
}

}  // namespace pymemrun
