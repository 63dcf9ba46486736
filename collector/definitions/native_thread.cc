#include "collector/definitions/native_thread.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "collector/process/proc_file.h"

namespace pymemrun {
namespace {

std::string NameOf(pid_t pid, uint32_t thread) {
  // As threading calls it, so that it is one thread with the ring's.
  if (thread == static_cast<uint32_t>(pid)) return "MainThread";
  char name[64];
  const ProcFile file(pid, absl::StrCat("task/", thread, "/comm"));
  const absl::string_view text = file.Read(name, sizeof(name));
  if (text.empty()) return "native thread";
  return std::string(absl::StripAsciiWhitespace(text));
}

}  // namespace

uint32_t NativeThreadId(pid_t pid, uint32_t thread, uint64_t first_us,
                        DefinitionTable* definitions) {
  return definitions->NativeThread(thread, first_us,
                                   [&] { return NameOf(pid, thread); });
}

}  // namespace pymemrun
