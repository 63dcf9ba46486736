// For tests: a producer that speaks the ring's wire, as the tracer does.
#ifndef PYMEMRUN_COLLECTOR_RING_RING_FIXTURE_H_
#define PYMEMRUN_COLLECTOR_RING_RING_FIXTURE_H_

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Builds a stream of slots in memory.
class SlotStream {
 public:
  void Row(uint32_t what, uint32_t code, uint32_t position, uint32_t function,
           uint64_t stamp, bool context = false) {
    slots_.push_back({what << kWhatShift | (context ? kContextBit : 0) | code,
                      position, function, static_cast<uint32_t>(stamp)});
  }
  void Alloc(uint32_t stack, uint64_t address, uint64_t size,
             AllocatorKind allocator = AllocatorKind::kObj,
             uint32_t flags = 0) {
    if (size >> 32 != 0) {
      State(ControlKind::kHeapSize, static_cast<uint32_t>(size >> 32));
    }
    const uint32_t kind = static_cast<uint32_t>(allocator);
    slots_.push_back({kAllocWhat << kWhatShift | stack,
                      static_cast<uint32_t>(size),
                      static_cast<uint32_t>(address),
                      static_cast<uint32_t>(address >> 32) |
                          kind << kHeapAllocatorShift | flags});
  }
  void Free(uint64_t address, uint32_t flags = 0) {
    slots_.push_back({kFreeWhat << kWhatShift, 0,
                      static_cast<uint32_t>(address),
                      static_cast<uint32_t>(address >> 32) | flags});
  }
  void Stack(uint32_t id, uint32_t parent, uint32_t code, uint32_t position) {
    Payload(ControlKind::kStackDef, id,
            Bytes(StackPayload{parent, code, position, 0}));
  }
  void State(ControlKind kind, uint32_t w1, uint32_t w2 = 0, uint32_t w3 = 0) {
    slots_.push_back(
        {kControlWhat << kWhatShift | static_cast<uint32_t>(kind), w1, w2, w3});
  }
  void Wide(ControlKind kind, uint64_t value) {
    State(kind, static_cast<uint32_t>(value),
          static_cast<uint32_t>(value >> 32));
  }
  void Payload(ControlKind kind, uint32_t id, absl::string_view bytes) {
    State(kind, static_cast<uint32_t>(bytes.size()), id);
    const size_t at = slots_.size();
    slots_.resize(at +
                  (bytes.size() + sizeof(EventSlot) - 1) / sizeof(EventSlot));
    std::memcpy(slots_.data() + at, bytes.data(), bytes.size());
  }
  void Code(uint32_t id, absl::string_view file, absl::string_view name,
            uint32_t first_line = 1, absl::string_view line_table = "",
            uint32_t start_position = kNoPosition) {
    Payload(ControlKind::kCode, id,
            CodeBytes(file, name, first_line, line_table, start_position));
  }
  static std::string CodeBytes(absl::string_view file, absl::string_view name,
                               uint32_t first_line,
                               absl::string_view line_table,
                               uint32_t start_position = kNoPosition) {
    const CodePayload head = {first_line, 3, start_position};
    return Bytes(head) + Text(file) + Text(name) + Text(name) + Text("mod") +
           Text(line_table);
  }
  void Function(uint32_t id, absl::string_view qualname, bool bound = false) {
    Payload(ControlKind::kFunction, id, FunctionBytes(qualname, bound));
  }
  static std::string FunctionBytes(absl::string_view qualname, bool bound) {
    return Bytes(FunctionPayload{bound}) + Text(qualname) + Text("builtins");
  }
  void Thread(uint32_t id, uint64_t native_id, absl::string_view name) {
    Payload(ControlKind::kThreadDef, id,
            Bytes(ThreadPayload{native_id, 0, 0, 0}) + Text(name));
  }

  template <typename Struct>
  static std::string Bytes(const Struct& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  static std::string Text(absl::string_view text) {
    return Bytes(static_cast<uint32_t>(text.size())) + std::string(text);
  }

  const std::vector<EventSlot>& slots() const { return slots_; }
  void Clear() { slots_.clear(); }

 private:
  std::vector<EventSlot> slots_;
};

// The producer's side of a ring in (shared) memory.
class RingProducer {
 public:
  RingProducer(ControlPage* page, EventSlot* slots, const ReplyPage* reply)
      : page_(page), slots_(slots), reply_(reply) {}

  // Publishes all of `stream` at once, or nothing when there is no room now.
  bool TryPush(const std::vector<EventSlot>& stream) {
    const uint64_t head = page_->head.load(std::memory_order_relaxed);
    // Acquire: pairs with the release in RingReader::Take.
    const uint64_t tail = reply_->tail.load(std::memory_order_acquire);
    if (head + stream.size() - tail > kRingSlots) return false;
    for (size_t i = 0; i < stream.size(); ++i) {
      slots_[(head + i) & (kRingSlots - 1)] = stream[i];
    }
    // Release: pairs with the acquire in RingReader::Look.
    page_->head.store(head + stream.size(), std::memory_order_release);
    return true;
  }

 private:
  ControlPage* page_;
  EventSlot* slots_;
  const ReplyPage* reply_;
};

// Waits until the file is larger than `size`, for some minutes. Returns its
// size.
inline off_t AwaitLarger(int fd, off_t size) {
  struct stat status = {};
  for (int i = 0; i < 200000 && status.st_size <= size; ++i) {
    usleep(1000);
    fstat(fd, &status);
  }
  return status.st_size;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_RING_RING_FIXTURE_H_
