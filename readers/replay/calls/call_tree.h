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

  // REQUIRES: WhyNot() is empty.
  const EndedCall& call() const { return call_; }
  // Why there is no such call; empty if there is one.
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

// The calls within a call, in memory. Not thread safe.
class CallTree final : public CallReplay {
 public:
  // Calls that `choice` leaves out are replaced by the calls within them.
  // `choice` must outlive it.
  CallTree(const EndedCall& root, const CallChoice& choice)
      : root_(root), filter_(choice, &index()) {}
  bool OnRows(const Row* rows, size_t count) override;

  // The number of calls in the tree.
  uint64_t calls() const { return calls_; }
  // The number of lines to print: includes the root, but not calls that did not
  // fit.
  uint64_t Shown(uint64_t limit) const;
  // Prints a line for each call, the root first. Each level is indented by one
  // more space. Prints at most `limit` lines (0: all).
  void Print(absl::string_view prefix, uint64_t limit,
             OutputBuffer* output) const;
  // The same as a table, with a column for the level.
  Table ToTable(absl::string_view prefix, uint64_t limit) const;

 private:
  // Further calls are counted, but not kept.
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
  std::vector<uint32_t> tops_;  // nodes that have no parent so far
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_CALL_TREE_H_
