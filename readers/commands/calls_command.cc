#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/calls/call_tree.h"
#include "readers/calls/peak_choice.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/report/call_attribution.h"
#include "readers/report/peak_options.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

class CallsCommand final : public ReportCommand {
 public:
  CallsCommand()
      : ReportCommand(
            "calls", "the calls within one call, with time and memory",
            "Prints a call and the calls in it, indented by depth: function, "
            "file, lines of the CALL and the RETURN, how long it took, what "
            "RSS changed by. Where page faults were recorded that is what its "
            "own thread did.\n\nThe call is named by its RETURN: --event takes "
            "the number that pymemcat shows, --peak that of peaks. Where only "
            "some events were logged one line says what is missing.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    const auto number = [](uint64_t least) {
      return
          [least](absl::string_view text) { return ParseNumber(text, least); };
    };
    AddParsed(app, "--event", &event_, number(0), "N",
              "The call whose RETURN is event N.");
    AddParsed(app, "--peak", &peak_, number(1), "K",
              "The call of peak K, as `pymemreport peaks` numbers them.");
    peaks_.Add(app);
    attribution_.Add(app);
    table_.Add(app, 10000, ": a row for each call");
    files_.AddOutput(app);
    SetUsualOptions(app, {"--event", "--peak", "--strip-prefix", "--csv",
                          "--json", "--limit", "--output"});
  }
  std::string Problem() const override {
    if (event_.has_value() == peak_.has_value()) {
      return "expected one of --event N and --peak K";
    }
    return table_.Problem();
  }
  std::string OfOneRun() const override { return "one call"; }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  std::optional<EndedCall> Root(RereadFile* file, const Console& console) const;

  std::optional<uint64_t> event_, peak_;
  PeakOptions peaks_;
  CallAttribution attribution_;
  TableOptions table_;
};

// Nothing: there is no such call, and why has been said.
std::optional<EndedCall> CallsCommand::Root(RereadFile* file,
                                            const Console& console) const {
  const auto say = [&](absl::string_view why) {
    console.Say(absl::StrCat(file->shown_name(), ": ", why));
    return std::nullopt;
  };
  if (event_.has_value()) {
    CallFinder finder(*event_);
    attribution_.Give(&finder);
    if (!file->Read(&finder)) return std::nullopt;
    const std::string why_not = finder.WhyNot();
    if (!why_not.empty()) return say(why_not);
    return finder.call();
  }
  PeakReplay replay(peaks_.rule, peaks_.choice);
  attribution_.Give(&replay);
  if (!file->Read(&replay)) return std::nullopt;
  if (!replay.any()) return say(replay.WhyNone());
  if (SayNoThread(replay.threads(), file->shown_name(), console)) {
    return std::nullopt;
  }
  const std::vector<EndedCall> peaks = replay.Peaks();
  if (*peak_ > peaks.size()) {
    return say(absl::StrCat("there is no peak ", *peak_, ", only ",
                            Counted(peaks.size(), "peak")));
  }
  return peaks[*peak_ - 1];
}

int CallsCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  if (!attribution_.Read(file.get(), console)) return kExitUsage;
  const std::optional<EndedCall> root = Root(file.get(), console);
  if (!root.has_value()) return file->whole() ? kExitUsage : kExitFailed;
  CallTree tree(*root, peaks_.choice);
  attribution_.Give(&tree);
  if (!file->ReadAgain(&tree)) return kExitFailed;
  const std::string missing = tree.Missing();
  if (!missing.empty()) {
    console.Say(
        absl::StrCat(file->shown_name(), ": not in the tree: ", missing,
                     tree.pairs_rows() ? "" : "; --min-drss 0 logs all"));
  }
  attribution_.SayWhatCounts(tree, *file, console);
  const uint64_t limit = table_.limit();
  if (table_.as_text()) {
    tree.Print(peaks_.prefix, limit, output);
  } else {
    PrintTable(tree.ToTable(peaks_.prefix, limit), table_.format(), output);
  }
  const uint64_t shown = tree.Shown(limit);
  if (shown < tree.calls() + 1) {
    console.Say(absl::StrCat(Counted(tree.calls() + 1 - shown, "more call"),
                             " not shown (--limit)"));
  }
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewCallsCommand() {
  return std::make_unique<CallsCommand>();
}

}  // namespace pymemrun
