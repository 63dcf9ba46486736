#include "readers/heap_places.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace pymemrun {
namespace {

constexpr uint32_t kMaxStack = 1 << 22;

bool IsOfSite(absl::string_view file) {
  return file == "<frozen site>" || absl::EndsWith(file, "/site.py");
}

}  // namespace

bool ParseHeapBy(absl::string_view name, HeapBy* by) {
  static constexpr absl::string_view kNames[] = {
      "line", "function", "file", "thread", "allocator", "module", "stack"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return false;
  *by = static_cast<HeapBy>(found - std::begin(kNames));
  return true;
}

absl::string_view HeapAllocatorName(HeapAllocator allocator) {
  static constexpr absl::string_view kNames[] = {"obj",    "mem",  "raw",
                                                 "malloc", "mmap", "mremap"};
  const auto index = static_cast<size_t>(allocator);
  return index < std::size(kNames) ? kNames[index] : "?";
}

ResidentPlace SourcePlaces::PlaceOf(const HeapSource::Key& key) {
  const RunIndex& index = replay_.index();
  ResidentPlace place;
  switch (by_) {
    case HeapBy::kLine:
      return PlaceOfStack(ResidentBy::kLine, index, key.stack);
    case HeapBy::kFunction:
      return PlaceOfStack(ResidentBy::kFunction, index, key.stack);
    case HeapBy::kFile:
      return PlaceOfStack(ResidentBy::kFile, index, key.stack);
    case HeapBy::kThread:
      place.file = index.ThreadLabel(key.thread);
      return place;
    case HeapBy::kAllocator:
      place.file = HeapAllocatorName(key.allocator);
      return place;
    case HeapBy::kModule:
      place.file = key.code == 0 ? "<python>" : ShownMapping(index, key.code);
      return place;
    case HeapBy::kStack:
      stack_texts_.push_back(index.StackText(key.stack, &stack_budget_));
      place.file = stack_texts_.back();
      return place;
  }
  return place;
}

uint32_t SourcePlaces::NumberOf(uint32_t source) {
  const auto& sources = replay_.model().sources();
  if (source >= by_source_.size()) by_source_.resize(sources.size());
  uint32_t& known = by_source_[source];
  if (known != 0) return known - 1;
  const ResidentPlace place = PlaceOf(sources[source].key);
  const auto next = static_cast<uint32_t>(places_.size());
  const auto [found, is_new] = numbers_.emplace(place, next);
  if (is_new) {
    places_.push_back(place);
  } else if (by_ == HeapBy::kStack) {
    stack_texts_.pop_back();
  }
  known = found->second + 1;
  return found->second;
}

InterpreterStacks::Kind InterpreterStacks::OwnKind(uint32_t stack) const {
  const absl::string_view file = index_.ResolveStack(stack).file;
  if (IsOfSite(file)) return kSite;
  // What is no Python code has no file.
  if (file.empty() || absl::StartsWith(file, "<frozen ")) return kInterpreter;
  return kProgram;
}

bool InterpreterStacks::Contains(uint32_t stack) {
  // Outwards up to a frame that is known, and back.
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
    // Whatever is called from those is what they are.
    if (kind != kSite && kind != kProgram) kind = OwnKind(*at);
    if (*at >= kinds_.size()) kinds_.resize(*at + 1);
    kinds_[*at] = kind;
  }
  return kind != kProgram;
}

}  // namespace pymemrun
