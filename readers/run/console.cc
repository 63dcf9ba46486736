#include "readers/run/console.h"

#include <errno.h>

#include "absl/strings/str_cat.h"
#include "text/nearest_name.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

int OutputResult(const Console& console, const absl::Status& status) {
  if (status.ok() || ReaderHasGone(console)) return kExitOk;
  console.Say(
      absl::StrCat("standard output: ", TerminalText(status.message())));
  return kExitFailed;
}

}  // namespace

// A message is one write, so that lines of several processes are not mixed. If
// stderr cannot be written to, there is no other place to say so.
void Console::Say(absl::string_view message) const {
  constexpr size_t kLongestPath = 4096;
  FdSink(err_fd)
      .Append(absl::StrCat(
          program, ": ", ShortWords(std::string(message), kLongestPath), "\n"))
      .IgnoreError();
}

void Console::Usage(absl::string_view message) const {
  Say(absl::StrCat(ShortWords(std::string(message)), " (see ", program,
                   " --help)"));
}

// A file that is cut off, or has no footer, is no failure: a run that was
// killed leaves such a file.
int SayResult(const Console& console, absl::string_view name,
              const absl::Status& status, const ReadResult& result) {
  if (!status.ok()) {
    console.Say(absl::StrCat(name, ": ", TerminalText(status.message())));
    return kExitFailed;
  }
  if (result.objects > 0) {
    console.Say(absl::StrCat(
        name, ": a dump of the object graph, which pymemobj reads"));
    return kExitFailed;
  }
  if (result.damages > 0) return kExitFailed;
  if (result.torn) {
    console.Say(absl::StrCat(
        name, ": byte ", result.end_offset,
        ": the file ends inside a frame; everything before it was read"));
  } else if (!result.has_footer && !result.stopped) {
    console.Say(absl::StrCat(
        name, ": byte ", result.end_offset,
        ": no footer: the run did not end cleanly, or still goes on"));
  }
  return kExitOk;
}

void DamageTeller::Say(const StreamReader::Damage& damage) {
  if (count_++ >= kMaxSaid) return;
  console_->Say(absl::StrCat(name_, ": byte ", damage.offset, ": ",
                             TerminalText(damage.status.message())));
}

DamageTeller::~DamageTeller() {
  if (count_ <= kMaxSaid) return;
  const int more = count_ - kMaxSaid;
  console_->Say(absl::StrCat(
      name_, ": ", more,
      more == 1 ? " more place is damaged" : " more places are damaged"));
}

bool ReaderHasGone(const Console& console) {
  return console.out->last_errno() == EPIPE;
}

int PrintText(const Console& console, absl::string_view text) {
  return OutputResult(console, console.out->Append(text));
}

int FinishOutput(const Console& console, OutputBuffer* output) {
  return OutputResult(console, output->Flush());
}

}  // namespace pymemrun
