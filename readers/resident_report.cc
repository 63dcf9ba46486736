#include "readers/resident_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "readers/reread_file.h"
#include "readers/resident_table.h"
#include "readers/stack_tree.h"

namespace pymemrun {
namespace {

void PrintStacks(const ReportOptions& options, const ResidentReplay& replay,
                 OutputBuffer* output) {
  const StackTree tree(options.resident_by, &replay);
  if (options.collapsed) return tree.PrintCollapsed(output);
  PrintTable(tree.ToTable(options.limit, options.format), options.format,
             output);
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

int PrintResident(const ReportOptions& options, const Console& console,
                  OutputBuffer* output) {
  const auto file = RereadFile::Open(options.files[0], console);
  if (file == nullptr) return kExitFailed;
  PeakFinder finder;
  if (!file->Read(&finder)) return kExitFailed;
  if (SayNoPageEvents(finder, *file, console)) {
    return file->whole() ? kExitUsage : file->code();
  }
  const uint64_t at_us = options.at_peak ? finder.peak_us() : options.at_us;
  ResidentReplay replay(at_us, finder.most_rss_bytes());
  if (!file->Read(&replay)) return kExitFailed;
  if (options.format == TableFormat::kText && !options.collapsed) {
    output->Append(ResidentHeading(replay, std::min(at_us, replay.last_us()),
                                   options.at_peak));
  }
  if (options.stacks || options.collapsed) {
    PrintStacks(options, replay, output);
  } else {
    PrintTable(ResidentTable(options.resident_by, options.limit, replay),
               options.format, output);
  }
  return file->code();
}

}  // namespace pymemrun
