#include "readers/cat/first_reading.h"

#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "format/records/record_visitor.h"
#include "format/stream/read_plan.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/run/input_file.h"
#include "readers/run/reread_file.h"

namespace pymemrun {
namespace {

// Finds whether a run has page faults. Reads up to the first batch.
struct HeaderReader final : RecordVisitor {
  void OnHeader(const Header& header) override {
    has_faults = header.page_period() != 0 && !header.page_scan();
  }
  bool OnRows(const Row*, size_t) override { return false; }
  bool OnPages(const PageEntry*, size_t) override { return false; }
  bool OnHeap(const HeapEvent*, size_t) override { return false; }

  bool has_faults = false;
};

// Leaves the file at its start again, for the next reading.
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
  // Rows and heap events are passed over: only page events matter here.
  const auto read = OneByOne([fd](ReplayVisitor* replay) {
    const auto plan = ReadPlan::WithoutEvents();
    const bool was_read = Read(fd, replay, plan.get());
    replay->Finish();
    return was_read;
  });
  return ThreadDrss::Read(read, from_us);
}

// Messages about the file itself are kept back, as the reading of rows repeats
// them. Those about the moments are printed.
bool FindTimes(const CatOptions& options, const InputFile& input,
               const Console& console, FilterOptions* filter, int* code) {
  const std::string& name = input.shown_name();
  if (input.size_bytes() == 0) {
    console.Say(absl::StrCat(
        name, ": can be read only once: --from and --to take only times"));
    *code = kExitUsage;
    return false;
  }
  Console quiet = console;
  quiet.err_fd = -1;
  const auto file = RereadFile::Open(input.path(), quiet);
  std::unique_ptr<RunMoments> moments;
  MomentRange range;
  if (file != nullptr && FindRange(options.from, options.to, file.get(),
                                   console, &moments, &range, code)) {
    filter->from_us = range.from_us;
    filter->to_us = range.to_us;
    return true;
  }
  // FindRange() says which moment is missing, but not that nothing could be
  // read.
  if (moments == nullptr) {
    console.Say(absl::StrCat(name, ": no moment can be found in it"));
    *code = kExitFailed;
  }
  return false;
}

}  // namespace pymemrun
