// For tests: a producer that speaks the side ring's wire, as the tracer does.
#ifndef PYMEMRUN_COLLECTOR_RING_SIDE_RING_FIXTURE_H_
#define PYMEMRUN_COLLECTOR_RING_SIDE_RING_FIXTURE_H_

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

class SideProducer {
 public:
  SideProducer(ControlPage* page, SideContinued* cells)
      : page_(page), cells_(cells) {}

  // An item with all its cells reserved and filled, and committed unless
  // `commit` is false. Returns the index of its head.
  template <typename Head>
  uint64_t Push(const Head& head, absl::string_view payload,
                bool commit = true) {
    const uint32_t count = static_cast<uint32_t>(
        1 + (payload.size() + kSidePayloadBytes - 1) / kSidePayloadBytes);
    const uint64_t index = page_->side_head.fetch_add(count);
    std::memcpy(Cell(index).payload, &head.kind, kSidePayloadBytes);
    HeadAt(index).cells = count;
    for (uint32_t i = 1; i < count; ++i) {
      const absl::string_view part =
          payload.substr((i - 1) * kSidePayloadBytes, kSidePayloadBytes);
      std::memcpy(Cell(index + i).payload, part.data(), part.size());
    }
    for (uint32_t i = count; commit && i-- > 0;) Commit(index + i);
    return index;
  }
  // As a thread does that has reserved its item and not filled it.
  void Begin(uint64_t index, SideKind kind, uint32_t thread) {
    HeadAt(index).kind = kind;
    HeadAt(index).thread = thread;
    Cell(index).sequence.store((index + 1) | kSideBegun,
                               std::memory_order_release);
  }
  void Commit(uint64_t index) {
    Cell(index).sequence.store(index + 1, std::memory_order_release);
  }

  // Frames innermost first.
  uint64_t Touch(uint32_t thread, uint64_t time_ns, uint64_t address,
                 const std::vector<SideFrame>& frames, uint16_t flags = 0) {
    auto head = HeadOf<SideTouch>(SideKind::kTouch, thread, time_ns);
    head.flags = flags;
    head.address = address;
    return Push(head, WithFrames(frames, 0, &head));
  }
  uint64_t Range(RangeAction action, uint32_t thread, uint64_t time_ns,
                 uint64_t address, uint64_t bytes,
                 const std::vector<SideFrame>& frames, uint64_t to = 0) {
    auto head = HeadOf<SideRange>(SideKind::kRange, thread, time_ns);
    head.address = address;
    head.bytes = bytes;
    head.to = to;
    return Push(head, WithFrames(frames, static_cast<uint16_t>(action), &head));
  }
  // `index`: of the event ring's slot that it comes before.
  uint64_t Alloc(AllocatorKind allocator, uint32_t thread, uint64_t time_ns,
                 uint64_t index, uint64_t address, uint64_t size,
                 const std::vector<SideFrame>& frames, uint16_t flags = 0,
                 uint64_t caller = 0) {
    auto head = HeadOf<SideHeapEvent>(SideKind::kAlloc, thread, time_ns);
    head.flags = static_cast<uint16_t>(flags | (caller != 0 ? kSideCaller : 0));
    head.address = address;
    head.bytes = size;
    head.index = index;
    std::string payload =
        WithFrames(frames, static_cast<uint16_t>(allocator), &head);
    if (caller != 0) {
      payload.append(reinterpret_cast<const char*>(&caller), sizeof(caller));
    }
    return Push(head, payload);
  }
  uint64_t Free(uint32_t thread, uint64_t time_ns, uint64_t index,
                uint64_t address, SideKind kind = SideKind::kFree,
                uint64_t bytes = 0, uint16_t flags = 0) {
    auto head = HeadOf<SideHeapEvent>(kind, thread, time_ns);
    head.flags = flags;
    head.address = address;
    head.bytes = bytes;
    head.index = index;
    return Push(head, "");
  }
  uint64_t HeapRates(uint64_t time_ns, uint64_t mean_bytes, uint16_t flags,
                     const std::vector<SideHeapClass>& classes = {}) {
    auto head = HeadOf<SideHeapRates>(SideKind::kHeapRates, 0, time_ns);
    head.flags = flags;
    head.mean_bytes = mean_bytes;
    head.detail = static_cast<uint32_t>(classes.size());
    return Push(head, {reinterpret_cast<const char*>(classes.data()),
                       classes.size() * sizeof(SideHeapClass)});
  }
  uint64_t Code(uint32_t id, absl::string_view file, absl::string_view name,
                uint32_t first_line, absl::string_view line_table = "") {
    const CodePayload fields = {first_line, 3};
    std::string payload(reinterpret_cast<const char*>(&fields), sizeof(fields));
    for (const absl::string_view text :
         {file, name, name, absl::string_view("m"), line_table}) {
      const uint32_t size = static_cast<uint32_t>(text.size());
      payload.append(reinterpret_cast<const char*>(&size), sizeof(size));
      payload.append(text.data(), text.size());
    }
    auto head = HeadOf<SideCode>(SideKind::kCode, 0, 0);
    head.id = id;
    head.bytes = payload.size();
    return Push(head, payload);
  }
  uint64_t Plain(SideKind kind, uint64_t time_ns, uint64_t first_word = 0) {
    auto head = HeadOf<SideAny>(kind, 0, time_ns);
    head.words[0] = first_word;
    return Push(head, "");
  }

 private:
  template <typename Head>
  static Head HeadOf(SideKind kind, uint32_t thread, uint64_t time_ns) {
    Head head;
    head.kind = kind;
    head.thread = thread;
    head.time_ns = time_ns;
    return head;
  }
  SideHead& HeadAt(uint64_t i) { return reinterpret_cast<SideHead&>(Cell(i)); }
  SideContinued& Cell(uint64_t i) { return cells_[i & (kSideCells - 1)]; }
  template <typename Head>
  static std::string WithFrames(const std::vector<SideFrame>& frames,
                                uint16_t what, Head* head) {
    head->detail = SideHead::Detail(frames.size(), what);
    if (!frames.empty()) head->frame = frames[0];
    if (frames.size() < 2) return "";
    return std::string(reinterpret_cast<const char*>(&frames[1]),
                       (frames.size() - 1) * sizeof(SideFrame));
  }

  ControlPage* page_;
  SideContinued* cells_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_RING_SIDE_RING_FIXTURE_H_
