// The calls within one call, as a tree: `pymemreport calls`.
#ifndef PYMEMRUN_READERS_REPLAY_CALLS_CALL_TREE_H_
#define PYMEMRUN_READERS_REPLAY_CALLS_CALL_TREE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/output/output_buffer.h"
#include "readers/output/table.h"
#include "readers/replay/calls/call_replay.h"

namespace pymemrun {

// Finds the call that an event ended. Not thread safe.
class CallFinder final : public CallReplay {
 public:
  explicit CallFinder(uint64_t number) : number_(number) {}
  bool OnRows(const Row* rows, size_t count) override;

  // If WhyNot() is empty.
  const EndedCall& call() const { return call_; }
  // Why there is no such call.
  std::string WhyNot() const;

 private:
  void OnEnded(const EndedCall& call) override {
    if (call.number == number_) call_ = call;
  }

  const uint64_t number_;
  bool there_ = false;
  What what_ = CALL;
  EndedCall call_ = {};
};

// Not thread safe.
class CallTree final : public CallReplay {
 public:
  // Without calls that are not wanted: those in them take their places.
  // `choice` must outlive it.
  CallTree(const EndedCall& root, const CallChoice& choice)
      : root_(root), filter_(choice, &index()) {}
  bool OnRows(const Row* rows, size_t count) override;

  // Calls in it.
  uint64_t calls() const { return calls_; }
  // How many lines these have: the root, too, but not what found no room.
  uint64_t Shown(uint64_t limit) const;
  // A line each, the root first, each level indented by one more space; at most
  // `limit` of them (0: all).
  void Print(absl::string_view prefix, uint64_t limit,
             OutputBuffer* output) const;
  // The same as a table, which also has the level.
  Table ToTable(absl::string_view prefix, uint64_t limit) const;

 private:
  // What is beyond is counted alone.
  static constexpr size_t kMaxNodes = size_t{1} << 20;
  static constexpr uint32_t kNone = ~0u;

  struct Node {
    EndedCall call;
    uint32_t first_child, next;
  };
  void OnEnded(const EndedCall& call) override;
  template <typename Visit>
  void Walk(uint64_t limit, Visit visit) const;

  const EndedCall root_;
  CallFilter filter_;
  uint64_t calls_ = 0;
  std::vector<Node> nodes_;
  std::vector<uint32_t> tops_;  // nodes that are in no other one so far
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_CALL_TREE_H_
