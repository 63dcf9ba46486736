#include "readers/replay/heap/heap_places.h"

#include "absl/strings/match.h"

namespace pymemrun {
namespace {

// CPython imports its site module before the program starts. It may run any
// .pth file.
bool IsOfSite(absl::string_view file) {
  return file == "<frozen site>" || absl::EndsWith(file, "/site.py");
}

}  // namespace

absl::string_view HeapAllocatorName(HeapAllocator allocator) {
  static constexpr absl::string_view kNames[] = {"obj",    "mem",  "raw",
                                                 "malloc", "mmap", "mremap"};
  const auto index = static_cast<size_t>(allocator);
  return index < std::size(kNames) ? kNames[index] : "?";
}

Origin OriginOf(const HeapSource::Key& key) {
  return {.stack = key.stack,
          .thread = key.thread,
          .module = key.code,
          .no_module = "<python>",
          .allocator = HeapAllocatorName(key.allocator),
          .waits = key.waits};
}

Origin OriginOf(const HeapSource::Key& key, const HeapReplay& replay) {
  Origin origin = OriginOf(key);
  origin.task = replay.TaskLabel(key.task);
  return origin;
}

InterpreterStacks::Kind InterpreterStacks::OwnKind(uint32_t stack) const {
  const absl::string_view file = index_.ResolveStack(stack).file;
  if (IsOfSite(file)) return kSite;
  // Code that is not Python has no file.
  if (file.empty() || absl::StartsWith(file, "<frozen ")) return kInterpreter;
  return kProgram;
}

bool InterpreterStacks::Contains(uint32_t stack) {
  // Outwards to a known frame, and back.
  std::vector<uint32_t> path;
  Kind kind = kInterpreter;
  for (uint32_t at = stack; at != 0 && at < kMaxStack;
       at = index_.ParentStack(at)) {
    if (at < kinds_.size() && kinds_[at] != kUnknown) {
      kind = kinds_[at];
      break;
    }
    path.push_back(at);
  }
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    // Everything called from those frames has their kind.
    if (kind != kSite && kind != kProgram) kind = OwnKind(*at);
    if (*at >= kinds_.size()) kinds_.resize(*at + 1);
    kinds_[*at] = kind;
  }
  return kind != kProgram;
}

}  // namespace pymemrun
