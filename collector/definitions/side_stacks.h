// The stacks of what comes on the side ring: code objects as it defines them,
// and nodes of the file's call tree made from frames.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_SIDE_STACKS_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_SIDE_STACKS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "collector/definitions/code_facts.h"
#include "collector/definitions/definition_table.h"
#include "collector/ring/side_reader.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// The places of memory that no Python line can be charged with: code objects
// without a file, by name.
enum class SpecialStack {
  kNativeThread,  // a thread without a Python frame
  kInterpreter,   // a Python thread without one, and before there is Python
  kUnknown,       // of a code object or frame that could not be read
  kDeeperFrames,  // stands for the frames that a cut stack lacks
  kTracing,       // what tracing makes the interpreter allocate
};
inline constexpr size_t kSpecialStacks = 5;

// Memory is bounded: beyond fixed budgets line tables are not kept (lines are
// then 0), and known stacks are forgotten and found again. Not thread safe.
// `definitions` must outlive it.
class SideStacks {
 public:
  explicit SideStacks(DefinitionTable* definitions)
      : definitions_(definitions) {}

  // kCode and kCodeGone.
  void Define(const SideItemView& item);
  void Forget(uint32_t raw_code);

  // StackDef.id of the innermost frame of an item with frames, defined in the
  // file. Without any frame: of kSideNoPython <native thread>, else
  // <interpreter>; `is_main`: the thread was there before Python.
  uint32_t StackOf(const SideItemView& item, bool is_main);
  uint32_t Special(SpecialStack which) {
    const uint32_t known = special_[static_cast<size_t>(which)];
    return known != 0 ? known : MakeSpecial(which);
  }

  // Bytes of the texts of live code objects.
  size_t text_bytes() const { return code_facts_.text_bytes(); }

 private:
  static constexpr CodeFacts::Limits kLimits = {1u << 18, size_t{64} << 20,
                                                1024};
  struct Node {
    uint32_t code;
    uint32_t line;
  };

  uint32_t SpecialCode(SpecialStack which);
  uint32_t MakeSpecial(SpecialStack which);
  Node NodeOf(SideFrame frame);
  uint32_t MakeStack(const SideItemView& item, uint32_t frames, bool* lasting);

  DefinitionTable* definitions_;
  std::array<uint32_t, kSpecialStacks> special_ = {};  // 0: not made yet
  absl::flat_hash_map<uint32_t, uint32_t> codes_;      // the file's ids
  CodeFacts code_facts_{kLimits};                      // both by the ring's ids
  // By a hash of the frames. Ids of code objects are not used again, so what
  // was found stays true.
  absl::flat_hash_map<uint64_t, uint32_t> known_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_SIDE_STACKS_H_
