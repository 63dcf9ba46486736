#include "collector/definitions/side_stacks.h"

#include <algorithm>
#include <cstring>

#include "absl/hash/hash.h"
#include "format/records/stack_depths.h"

namespace pymemrun {
namespace {

// Stacks remembered by their frames; then all are forgotten at once.
constexpr size_t kMaxKnown = 1u << 17;

constexpr absl::string_view kSpecialNames[kSpecialStacks] = {
    kNativeThreadName, "<interpreter>", "<unknown>", kDeeperFramesName,
    "<tracing itself>"};

uint32_t FramesOf(const SideItemView& item) {
  return std::min(item.frames(), kMaxSideFrames);
}

// The innermost frame is frame 0, and is in the head.
SideFrame FrameAt(const SideItemView& item, uint32_t i) {
  if (i == 0) return item.frame;
  SideFrame frame;
  std::memcpy(&frame, item.payload.data() + (i - 1) * sizeof(frame),
              sizeof(frame));
  return frame;
}

// Ids of code objects are never reused, so equal frames are the same stack.
uint64_t HashOf(const SideItemView& item, uint32_t frames) {
  const uint64_t first =
      static_cast<uint64_t>(item.frame.code) << 32 | item.frame.position;
  const uint32_t flags = item.flags & (kSideCut | kSideUnknownFrame);
  return absl::HashOf(first, flags,
                      item.payload.substr(0, SideFrameBytes(frames)));
}

}  // namespace

void SideStacks::Define(const SideItemView& item) {
  const auto raw = static_cast<uint32_t>(item.As<SideCode>().id);
  if (raw == 0) return;
  const CodeDefinition code(item.payload);
  if (codes_.size() >= kLimits.codes) codes_.clear(), code_facts_.Clear();
  Forget(raw);
  CodeDef def;
  code.AddTo(&def);
  codes_[raw] = definitions_->InternCode(def);
  // Without names, as only the line table is used here.
  code_facts_.Add(raw, code.head, "", "", code.line_table);
}

void SideStacks::Forget(uint32_t raw_code) {
  codes_.erase(raw_code);
  code_facts_.Remove(raw_code);
}

SideStacks::Node SideStacks::NodeOf(SideFrame frame) {
  const auto found = codes_.find(frame.code);
  if (found == codes_.end()) return {SpecialCode(SpecialStack::kUnknown), 0};
  return {found->second, code_facts_.LineOf(frame.code, frame.position)};
}

// Most stacks repeat. So a hash of the raw frames is looked up first, and only
// an unknown one is interned frame by frame.
uint32_t SideStacks::StackOf(const SideItemView& item, bool is_main) {
  const uint32_t frames = FramesOf(item);
  if (frames == 0) {
    if ((item.flags & kSideUnknownFrame) != 0) {
      return Special(SpecialStack::kUnknown);
    }
    return Special((item.flags & kSideNoPython) != 0 && !is_main
                       ? SpecialStack::kNativeThread
                       : SpecialStack::kInterpreter);
  }
  if (known_.size() >= kMaxKnown) known_.clear();
  const auto [known, fresh] = known_.try_emplace(HashOf(item, frames), 0);
  if (!fresh) return known->second;
  bool lasting = true;
  const uint32_t stack = MakeStack(item, frames, &lasting);
  if (lasting) {
    known->second = stack;
  } else {
    known_.erase(known);
  }
  return stack;
}

// Interns the frames, outermost first. Sets `lasting` to false if a code object
// is unknown: its definition may still come, so the result is not remembered.
uint32_t SideStacks::MakeStack(const SideItemView& item, uint32_t frames,
                               bool* lasting) {
  uint32_t stack = 0;
  if ((item.flags & kSideUnknownFrame) != 0) {
    stack = Special(SpecialStack::kUnknown);
  } else if ((item.flags & kSideCut) != 0) {
    stack = Special(SpecialStack::kDeeperFrames);
  }
  for (uint32_t i = frames; i-- > 0;) {
    const SideFrame frame = FrameAt(item, i);
    if (frame.code != 0 && !codes_.contains(frame.code)) *lasting = false;
    const Node node = NodeOf(frame);
    stack = definitions_->InternStack(stack, node.code, node.line);
  }
  return stack;
}

uint32_t SideStacks::SpecialCode(SpecialStack which) {
  CodeDef def;
  def.set_name(std::string(kSpecialNames[static_cast<size_t>(which)]));
  return definitions_->InternCode(def);
}

uint32_t SideStacks::MakeSpecial(SpecialStack which) {
  return special_[static_cast<size_t>(which)] =
             definitions_->InternStack(0, SpecialCode(which), 0);
}

}  // namespace pymemrun
