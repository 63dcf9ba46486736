#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "readers/answer/answer_text.h"
#include "readers/report/report_command.h"

namespace pymemrun {
namespace {

constexpr size_t kUsualColumns = 80;
constexpr size_t kMostColumns = 120;
constexpr size_t kBriefLines = 3;

size_t ColumnsOfTerminal(int fd) {
  winsize size;
  uint32_t columns = 0;
  const char* const given = getenv("COLUMNS");
  if (given == nullptr || !absl::SimpleAtoi(given, &columns)) {
    if (isatty(fd) == 0 || ioctl(fd, TIOCGWINSZ, &size) != 0) {
      return kUsualColumns;
    }
    columns = size.ws_col;
  }
  return columns == 0 ? kUsualColumns : std::min<size_t>(columns, kMostColumns);
}

// The locale names another charset.
bool TakesUnicode() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = getenv(name);
    if (value == nullptr || *value == 0) continue;
    const absl::string_view locale = value;
    return !absl::StrContains(locale, '.') ||
           absl::StrContains(absl::AsciiStrToLower(locale), "utf");
  }
  return true;
}

class AnswerCommand final : public ReportCommand {
 public:
  AnswerCommand()
      : ReportCommand("report",
                      "the answer on one screen; also without a command",
                      "Tells what a run's memory was: its peak, what it "
                      "consisted of, which lines of yours held it, and what "
                      "is still there at the end.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    app->add_flag("--brief", brief_,
                  "Print the first lines only, as pymemrun does at the end.");
    AddOwn(app);
    files_.AddOutput(app);
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  bool brief_ = false;
};

int AnswerCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  const std::unique_ptr<Answer> answer =
      ReadAnswer(file.get(), /*with_curves=*/!brief_);
  if (answer == nullptr) return kExitFailed;
  AnswerTextOptions options;
  options.columns =
      files_.ToConsole() ? ColumnsOfTerminal(console.out_fd) : kUsualColumns;
  options.unicode = TakesUnicode();
  options.brief = brief_;
  if (brief_) options.lines = kBriefLines;
  options.file_name = files_.paths[0];
  output->Append(AnswerText(*answer, options));
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewAnswerCommand() {
  return std::make_unique<AnswerCommand>();
}

}  // namespace pymemrun
