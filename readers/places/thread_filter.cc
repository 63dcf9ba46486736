#include "readers/places/thread_filter.h"

#include <fnmatch.h>

#include "absl/strings/str_cat.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {

// Patterns are those of fnmatch(3). The plain comparisons come first, as a name
// may have characters of a pattern.
bool ThreadFilter::IsWanted(uint32_t definition) const {
  const uint32_t thread = index_->LatestThread(definition);
  return wanted_ == absl::StrCat(index_->ThreadNativeId(thread)) ||
         wanted_ == index_->ThreadLabel(thread) ||
         wanted_ == index_->ThreadName(thread) ||
         fnmatch(wanted_.c_str(),
                 std::string(index_->ThreadName(thread)).c_str(), 0) == 0;
}

bool ThreadFilter::Keeps(uint32_t thread) {
  if (!any()) return true;
  // The thread may be defined later.
  if (thread == 0 || thread > index_->threads()) return false;
  if (thread >= known_.size()) known_.resize(index_->threads() + 1);
  char& known = known_[thread];
  if (known == 0) known = IsWanted(thread) ? 2 : 1;
  return known == 2;
}

absl::Status ThreadFilter::Check() {
  constexpr uint32_t kMostNamed = 8;
  if (!any()) return absl::OkStatus();
  std::string names;
  uint32_t count = 0;
  for (uint32_t thread = 1; thread <= index_->threads(); ++thread) {
    if (Keeps(thread)) return absl::OkStatus();
    if (index_->LatestThread(thread) != thread || count++ >= kMostNamed)
      continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ",
                    TerminalText(index_->ThreadLabel(thread)));
  }
  if (count > kMostNamed) {
    absl::StrAppend(&names, " and ", count - kMostNamed, " more");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--thread: expected ", names.empty() ? "a thread" : names,
                   ", found '", TerminalText(wanted_), "'",
                   names.empty() ? "; the run recorded no threads" : ""));
}

std::string ThreadFilter::Label() {
  uint32_t first = 0, count = 0;
  for (uint32_t thread = 1; thread <= index_->threads(); ++thread) {
    if (!Keeps(thread) || index_->LatestThread(thread) != thread) continue;
    if (count++ == 0) first = thread;
  }
  if (count == 1) return TerminalText(index_->ThreadLabel(first));
  return absl::StrCat(Counted(count, "thread"), " '", TerminalText(wanted_),
                      "'");
}

}  // namespace pymemrun
