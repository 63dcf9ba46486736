#include "readers/across_runs/processes/process_table.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/output/cells.h"
#include "readers/output/table_columns.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// The least growth to report; also the least part of the peak.
constexpr uint64_t kLeastGrowthBytes = uint64_t{1} << 20;
constexpr uint64_t kGrowthParts = 50;
constexpr absl::string_view kUsualEnd = "exit 0";

bool Grows(const ProcessRun& run) {
  return run.growth.bytes >= kLeastGrowthBytes &&
         run.growth.bytes >= run.peak_bytes / kGrowthParts;
}

// The part of the growth that is due to the line that grew most.
std::string GrownThere(const ProcessRun& run) {
  if (run.growth.line_bytes >= run.growth.bytes / 2) return "most";
  return HumanBytes(static_cast<double>(run.growth.line_bytes));
}

Cell IfKnown(uint64_t bytes) { return bytes == 0 ? Cell() : Cell(bytes); }

// The processes whose rows are shown: those with most memory.
std::vector<bool> Shown(const ProcessFamily& family, uint64_t limit) {
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < family.members().size(); ++i) {
    const ProcessRun& run = family.members()[i].run;
    // The complement sorts the largest first, and equal ones in their order.
    order.emplace_back(~std::max(run.pss_peak_bytes, run.peak_bytes), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<bool> shown(order.size(), limit == 0);
  for (size_t i = 0; i < std::min<uint64_t>(limit, order.size()); ++i) {
    shown[order[i].second] = true;
  }
  return shown;
}

// For people: pid and program, indented by the depth in the tree.
std::string NameOf(const FamilyMember& member) {
  // A chain of forks, each in the one before, must not push names off the
  // screen.
  constexpr size_t kMostDepth = 8;
  return absl::StrCat(std::string(2 * std::min(member.depth, kMostDepth), ' '),
                      member.run.pid, " ", member.run.program);
}

// A process, and its part of the common peak.
struct MemberRow {
  const FamilyMember& member;
  const ProcessRun& run;
  uint64_t share_bytes;
};
using MemberColumns = TableColumns<MemberRow>;

// All columns, for machines.
MemberColumns AllColumns(const ProcessFamily& family) {
  const MemberColumns columns = {
      {"pid", [](const auto& of) { return uint64_t{of.run.pid}; }},
      {"parent_pid",
       [](const auto& of) { return uint64_t{of.run.parent_pid}; }},
      {"depth", [](const auto& of) { return uint64_t{of.member.depth}; }},
      {"command", [](const auto& of) { return of.run.command; }},
      {"peak_bytes", [](const auto& of) { return of.run.peak_bytes; }},
      {"pss_peak_bytes",
       [](const auto& of) { return IfKnown(of.run.pss_peak_bytes); }},
      {"share_bytes", [](const auto& of) { return of.share_bytes; }},
      {"growth_bytes",
       [](const auto& of) {
         return Grows(of.run) ? of.run.growth.bytes : uint64_t{0};
       }},
      {"start_s",
       [&family](const auto& of) {
         return SecondsOfUs(of.run.begin_us - family.BeginUs());
       }},
      {"duration_s",
       [](const auto& of) {
         return SecondsOfUs(of.run.end_us - of.run.begin_us);
       }},
      {"end", [](const auto& of) { return of.run.end; }},
      {"top_line", [](const auto& of) { return TextCell(of.run.top_line); }},
      {"growing_line",
       [](const auto& of) {
         return Grows(of.run) ? TextCell(of.run.growth.line) : Cell();
       }},
      {"file", [](const auto& of) { return of.run.file; }},
  };
  return columns;
}

// Columns that say the same in each row, or are long, are for machines only.
MemberColumns ColumnsForPeople(const std::vector<MemberRow>& rows) {
  const bool knows_pss =
      std::any_of(rows.begin(), rows.end(),
                  [](const auto& of) { return of.run.pss_peak_bytes != 0; });
  MemberColumns columns;
  columns.Add("peak_bytes", "peak", CellLook::kBytes,
              [](const auto& of) { return of.run.peak_bytes; });
  if (knows_pss) {
    columns.Add("pss_peak_bytes", "PSS peak", CellLook::kBytes,
                [](const auto& of) { return IfKnown(of.run.pss_peak_bytes); });
  }
  columns.Add("share_bytes", "together", CellLook::kBytes,
              [](const auto& of) { return of.share_bytes; });
  columns.Add("duration", "time", [](const auto& of) {
    return HumanSeconds(of.run.end_us - of.run.begin_us);
  });
  columns.Add("process", "process", CellLook::kName,
              [](const auto& of) { return NameOf(of.member); });
  columns.Add("top_line", "most at", CellLook::kName,
              [](const auto& of) { return TextCell(of.run.top_line); });
  return columns;
}

// Those that grew most are first.
std::string GrowthNotes(const ProcessFamily& family) {
  std::vector<const ProcessRun*> growing;
  for (const FamilyMember& member : family.members()) {
    if (Grows(member.run)) growing.push_back(&member.run);
  }
  std::stable_sort(growing.begin(), growing.end(),
                   [](const ProcessRun* a, const ProcessRun* b) {
                     return a->growth.bytes > b->growth.bytes;
                   });
  std::string text;
  for (const ProcessRun* run : growing) {
    absl::StrAppend(&text, run->pid, " grew all the time, by ",
                    HumanBytes(static_cast<double>(run->growth.bytes)),
                    " in the last ", HumanSeconds(run->growth.span_us),
                    run->growth.line.empty()
                        ? ""
                        : absl::StrCat("; ", GrownThere(*run), " of it at ",
                                       TerminalText(run->growth.line)),
                    "\n");
  }
  return text;
}

// Unusual ends, and the processes that had them: by pid if they are few.
std::string EndNotes(const ProcessFamily& family) {
  constexpr size_t kMostNumbers = 5;
  std::map<std::string, std::vector<uint32_t>> ends;
  for (const FamilyMember& member : family.members()) {
    // Most workers end like this: a line for each would hide the others.
    if (member.run.end == kUsualEnd) continue;
    ends[member.run.end].push_back(member.run.pid);
  }
  std::string text;
  for (const auto& [end, pids] : ends) {
    absl::StrAppend(&text,
                    pids.size() <= kMostNumbers
                        ? absl::StrJoin(pids, ", ")
                        : Counted(pids.size(), "process", "processes"),
                    ": ", end, "\n");
  }
  return text;
}

std::string UntracedNote(const ProcessFamily& family) {
  uint64_t untraced = 0;
  for (const FamilyMember& member : family.members()) {
    untraced += member.run.untraced_children;
  }
  if (untraced == 0) return "";
  return absl::StrCat(
      Counted(untraced, "child process was", "child processes were"),
      " not traced; pymemrun --follow all traces the Pythons among them\n");
}

// The number of runs: each has a first process in the family.
size_t Runs(const ProcessFamily& family) {
  size_t runs = 0;
  for (const FamilyMember& member : family.members()) {
    if (member.depth == 0) ++runs;
  }
  return runs;
}

}  // namespace

// Rows stay in the order of the tree, whichever are left out.
Table ProcessTable(const ProcessFamily& family, const FamilyPeak& peak,
                   uint64_t pid, uint64_t limit, TableFormat format) {
  std::vector<MemberRow> rows;
  const std::vector<bool> shown = Shown(family, pid == 0 ? limit : 0);
  for (size_t i = 0; i < shown.size(); ++i) {
    const FamilyMember& member = family.members()[i];
    const bool is_asked_for = pid == 0 || member.run.pid == pid;
    if (shown[i] && is_asked_for)
      rows.push_back({member, member.run, peak.shares[i]});
  }
  return (format == TableFormat::kText ? ColumnsForPeople(rows)
                                       : AllColumns(family))
      .Make(rows);
}

std::string ProcessHeading(const ProcessFamily& family,
                           const FamilyPeak& peak) {
  return absl::StrCat(
      Counted(family.members().size(), "process", "processes"),
      Runs(family) > 1 ? absl::StrCat(" of ", Runs(family), " runs") : "",
      " in ", HumanSeconds(family.EndUs() - family.BeginUs()),
      "; together at most ", HumanBytes(static_cast<double>(peak.bytes)),
      " at ",
      HumanSeconds(peak.time_us - std::min(peak.time_us, family.BeginUs())),
      "; their peaks add up to ",
      HumanBytes(static_cast<double>(peak.sum_of_peaks_bytes)), "\n");
}

std::string ProcessNotes(const ProcessFamily& family) {
  return absl::StrCat(GrowthNotes(family), EndNotes(family),
                      UntracedNote(family));
}

}  // namespace pymemrun
