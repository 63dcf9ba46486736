#include "readers/resident_report.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/heap_pages.h"
#include "readers/heap_report.h"
#include "readers/reread_file.h"
#include "readers/resident_table.h"
#include "readers/stack_tree.h"

namespace pymemrun {
namespace {

// The heap's tree where there is a `heap`.
void PrintStacks(const ReportOptions& options, const ResidentReplay& replay,
                 const HeapReplay* heap, OutputBuffer* output) {
  const StackTree tree =
      heap == nullptr
          ? StackTree(options.resident_by, &replay)
          : StackTree(HeapResidentTree(options.resident_by, replay, *heap),
                      &replay);
  if (options.collapsed) return tree.PrintCollapsed(output);
  PrintTable(tree.ToTable(options.limit, options.format), options.format,
             output);
}

std::string Heading(const ReportOptions& options, const ResidentReplay& replay,
                    const HeapReplay* heap) {
  std::string text =
      ResidentHeading(replay, replay.shown_us(), options.at_peak);
  if (heap == nullptr) return text;
  absl::StrAppend(
      &text, "pages in which blocks are alive: charged to who allocated them, ",
      heap->sampled() ? "as estimated from samples"
                      : "each with its bytes there",
      "\n");
  return text;
}

// The blocks alive at a moment; nullptr: there is nothing to report, which has
// been said.
std::unique_ptr<HeapMoments> ReadBlocks(uint64_t at_us, bool at_peak,
                                        RereadFile* file,
                                        const Console& console, int* code) {
  const auto kind =
      at_us == ResidentReplay::kEnd ? HeapMoment::kEnd : HeapMoment::kTime;
  auto heap =
      std::make_unique<HeapMoments>(std::vector<HeapMoment>{{kind, at_us}});
  // Of a file that was cut the last heap events may be before the peak.
  if (!ReadHeapAgain(file, console, heap.get(), code, !at_peak)) return nullptr;
  if (heap->sampled()) {
    console.Say(absl::StrCat(
        file->shown_name(),
        ": allocations were sampled: pages without a sampled block stay with "
        "who touched them first (--heap all knows every block)"));
  }
  return heap;
}

}  // namespace

bool SayNoPageEvents(const ResidentReplay& replay, const RereadFile& file,
                     const Console& console) {
  if (replay.has_page_events()) return false;
  const bool whole = file.whole();
  console.Say(absl::StrCat(
      file.shown_name(),
      whole ? ": has no page events: the run was not made with --trace pages"
            : ": no page events in what could be read"));
  return true;
}

std::unique_ptr<PeakFinder> FindPeak(RereadFile* file) {
  auto finder = std::make_unique<PeakFinder>();
  if (!file->Read(finder.get())) return nullptr;
  Hindsight hindsight;
  hindsight.late = finder->hindsight().late;
  if (hindsight.late.empty()) return finder;
  finder = std::make_unique<PeakFinder>(std::move(hindsight));
  return file->Read(finder.get()) ? std::move(finder) : nullptr;
}

int PrintResident(const ReportOptions& options, const Console& console,
                  OutputBuffer* output) {
  const auto file = RereadFile::Open(options.files[0], console);
  if (file == nullptr) return kExitFailed;
  const std::unique_ptr<PeakFinder> finder = FindPeak(file.get());
  if (finder == nullptr) return kExitFailed;
  if (SayNoPageEvents(*finder, *file, console)) {
    return file->whole() ? kExitUsage : file->code();
  }
  const uint64_t at_us = options.at_peak ? finder->peak_us() : options.at_us;
  ResidentReplay replay(at_us, finder->hindsight());
  if (!file->Read(&replay)) return kExitFailed;
  std::unique_ptr<HeapMoments> heap;
  if (options.owner_heap) {
    int code = kExitOk;
    heap = ReadBlocks(at_us, options.at_peak, file.get(), console, &code);
    if (heap == nullptr) return code;
  }
  if (options.format == TableFormat::kText && !options.collapsed) {
    output->Append(Heading(options, replay, heap.get()));
  }
  if (options.stacks || options.collapsed) {
    PrintStacks(options, replay, heap.get(), output);
  } else if (heap != nullptr) {
    PrintTable(
        HeapResidentTable(options.resident_by, options.limit, replay, *heap),
        options.format, output);
  } else {
    PrintTable(ResidentTable(options.resident_by, options.limit, replay),
               options.format, output);
  }
  return file->code();
}

}  // namespace pymemrun
