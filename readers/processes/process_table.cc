#include "readers/processes/process_table.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Less than this, and less than this part of its peak, is no growth to tell of.
constexpr uint64_t kLeastGrowthBytes = uint64_t{1} << 20;
constexpr uint64_t kGrowthParts = 50;
constexpr absl::string_view kUsualEnd = "exit 0";

bool Grows(const ProcessRun& run) {
  return run.growth.bytes >= kLeastGrowthBytes &&
         run.growth.bytes >= run.peak_bytes / kGrowthParts;
}

// How much of it the line that grew most has to do with.
std::string GrownThere(const ProcessRun& run) {
  if (run.growth.line_bytes >= run.growth.bytes / 2) return "most";
  return HumanBytes(static_cast<double>(run.growth.line_bytes));
}

Cell IfKnown(const std::string& text) {
  return text.empty() ? Cell() : Cell(text);
}

Cell IfKnown(uint64_t bytes) { return bytes == 0 ? Cell() : Cell(bytes); }

double Seconds(uint64_t us) { return static_cast<double>(us) / 1e6; }

// Whose row is shown: those that had most.
std::vector<bool> Shown(const ProcessFamily& family, uint64_t limit) {
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < family.members().size(); ++i) {
    const ProcessRun& run = family.members()[i].run;
    order.emplace_back(~std::max(run.pss_peak_bytes, run.peak_bytes), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<bool> shown(order.size(), limit == 0);
  for (size_t i = 0; i < std::min<uint64_t>(limit, order.size()); ++i) {
    shown[order[i].second] = true;
  }
  return shown;
}

// For people: its number and its program, set in by the depth of the tree.
std::string NameOf(const FamilyMember& member) {
  constexpr size_t kMostDepth = 8;
  return absl::StrCat(std::string(2 * std::min(member.depth, kMostDepth), ' '),
                      member.run.pid, " ", member.run.program);
}

// All that is known, for machines.
void FillAll(const ProcessFamily& family, const FamilyPeak& peak,
             const std::vector<bool>& shown, Table* table) {
  table->headings = {{"pid"},          {"parent_pid"},   {"depth"},
                     {"command"},      {"peak_bytes"},   {"pss_peak_bytes"},
                     {"share_bytes"},  {"growth_bytes"}, {"start_s"},
                     {"duration_s"},   {"end"},          {"top_line"},
                     {"growing_line"}, {"file"}};
  for (size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i]) continue;
    const FamilyMember& member = family.members()[i];
    const ProcessRun& run = member.run;
    const bool grows = Grows(run);
    table->rows.push_back(
        {uint64_t{run.pid}, uint64_t{run.parent_pid}, uint64_t{member.depth},
         run.command, run.peak_bytes, IfKnown(run.pss_peak_bytes),
         peak.shares[i], grows ? run.growth.bytes : uint64_t{0},
         Seconds(run.begin_us - family.BeginUs()),
         Seconds(run.end_us - run.begin_us), run.end, IfKnown(run.top_line),
         IfKnown(grows ? run.growth.line : ""), run.file});
  }
}

void FillForPeople(const ProcessFamily& family, const FamilyPeak& peak,
                   const std::vector<bool>& shown, Table* table) {
  table->headings = {{"peak_bytes", "peak", CellLook::kBytes},
                     {"pss_peak_bytes", "PSS peak", CellLook::kBytes},
                     {"share_bytes", "together", CellLook::kBytes},
                     {"duration", "time"},
                     {"process", "process", CellLook::kName},
                     {"top_line", "most at", CellLook::kName}};
  bool knows_pss = false;
  for (size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i]) continue;
    const FamilyMember& member = family.members()[i];
    const ProcessRun& run = member.run;
    knows_pss |= run.pss_peak_bytes != 0;
    table->rows.push_back({run.peak_bytes, IfKnown(run.pss_peak_bytes),
                           peak.shares[i],
                           HumanSeconds(run.end_us - run.begin_us),
                           NameOf(member), IfKnown(run.top_line)});
  }
  if (knows_pss) return;
  table->headings.erase(table->headings.begin() + 1);
  for (auto& row : table->rows) row.erase(row.begin() + 1);
}

// Those that grew most come first.
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

// Other ends than usual, and whose: numbers, where they are few.
std::string EndNotes(const ProcessFamily& family) {
  constexpr size_t kMostNumbers = 5;
  std::map<std::string, std::vector<uint32_t>> ends;
  for (const FamilyMember& member : family.members()) {
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

// Of these the family has the first processes.
size_t Runs(const ProcessFamily& family) {
  size_t runs = 0;
  for (const FamilyMember& member : family.members()) {
    if (member.depth == 0) ++runs;
  }
  return runs;
}

}  // namespace

Table ProcessTable(const ProcessFamily& family, const FamilyPeak& peak,
                   uint64_t limit, TableFormat format) {
  Table table;
  const auto fill = format == TableFormat::kText ? FillForPeople : FillAll;
  fill(family, peak, Shown(family, limit), &table);
  table.places = table.rows.size();
  return table;
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
