#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/growth/top_table.h"
#include "readers/options/help_text.h"
#include "readers/report/report_command.h"
#include "readers/summary/facts_reader.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Above the table in text.
constexpr absl::string_view kMeaning =
    "RSS grew while these lines ran; pymemreport heap tells which lines hold "
    "memory\n";

class TopCommand final : public ReportCommand {
 public:
  TopCommand()
      : ReportCommand(
            "top", "the places where RSS grew",
            "Lists the places where RSS grew.\n\nGrowth that pymemcat shows at "
            "a C function is counted where Python code calls it: at the "
            "calling line, and for the Python function it is in.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddSeveral(app);
    AddGroupBy(
        app, &by_,
        {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
         GroupBy::kFile, GroupBy::kThread},
        "Group by line (default; your code's), library-line (the innermost), "
        "function (Python's), file, thread.");
    table_.AddPlaces(app, 20);
    AddOwn(app);
    files_.AddOutput(app);
    SetUsualOptions(
        app, {"--by", "--limit", "--sort", "--thread", "--csv", "--output"});
  }
  std::string Problem() const override { return table_.Problem(by_); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  GroupBy by_ = GroupBy::kLine;
  PlaceOptions table_;
};

int TopCommand::Run(const Console& console, OutputBuffer* output) {
  ProfileTable profile(by_);
  OwnCost cost;
  int code = kExitOk;
  bool any_calls = false;
  for (const std::string& path : files_.paths) {
    const auto facts = FactsReader::Read(path, console, &code, table_.thread);
    if (facts == nullptr) continue;
    if (!facts->HasCalls()) {
      console.Say(absl::StrCat(
          TerminalText(path),
          ": has no calls: the run was not made with --trace calls"));
      code = std::max(code, kExitUsage);
      continue;
    }
    any_calls = true;
    facts->AddTo(&profile);
    facts->AddCost(&cost);
  }
  if (!any_calls) return code;
  return std::max(
      code,
      table_.PrintPlaces(kMeaning, TopTable(profile, table_.made_limit(), cost),
                         by_, /*folds=*/false, console, output));
}

}  // namespace

std::unique_ptr<ReportCommand> NewTopCommand() {
  return std::make_unique<TopCommand>();
}

}  // namespace pymemrun
