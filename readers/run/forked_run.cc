#include "readers/run/forked_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "readers/run/input_file.h"
#include "readers/run/run_files.h"

namespace pymemrun {
namespace {

// Id 0 means none in every file.
uint32_t Above(uint32_t base, uint32_t id) { return id == 0 ? 0 : base + id; }

// The number of definitions of each kind that a visitor got.
struct DefinitionCounts {
  uint32_t codes = 0, functions = 0, sites = 0;
  uint32_t threads = 0, stacks = 0, mappings = 0;
};

// Passes on all records of a file except pages. Its ids are moved above those
// of earlier files.
class ShiftedIds : public RecordVisitor {
 public:
  // `counts`: over all files. It and `to` must outlive the object.
  ShiftedIds(RecordVisitor* to, DefinitionCounts* counts)
      : to_(*to), counts_(*counts) {}

  void OnHeader(const Header& header) override { to_.OnHeader(header); }
  void OnCode(const CodeDef& code) override;
  void OnFunction(const FunctionDef& function) override;
  void OnSite(const SiteDef& site) override;
  void OnThread(const ThreadDef& thread) override;
  void OnStack(const StackDef& node) override;
  void OnMapping(const MappingDef& mapping) override;
  bool OnRows(const Row* rows, size_t count) override;
  HeapUse heap_use() const override { return to_.heap_use(); }
  void OnHeapBatch(const HeapBatchFacts& facts) override {
    to_.OnHeapBatch(facts);
  }
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void OnResidency(const ResidencyView& seen) override;
#define PYMEMRUN_HAND_ON(kind, field, Message, Method, holds) \
  void Method(const Message& fact) override { to_.Method(Shifted(fact)); }
  PYMEMRUN_FACTS(PYMEMRUN_HAND_ON)
#undef PYMEMRUN_HAND_ON
  void OnFooter(const Footer& footer) override { to_.OnFooter(footer); }
  void OnUnknown() override { to_.OnUnknown(); }
  void OnDamage(const StreamReader::Damage& damage) override {
    to_.OnDamage(damage);
  }

 protected:
  // Ids of this file start above the current ones.
  void Begin() { base_ = counts_; }
  DefinitionCounts& counts() { return counts_; }
  // The events with the visitor's ids.
  const HeapEvent* Shifted(const HeapEvent* events, size_t count);
  bool Shifts() const {
    return base_.stacks != 0 || base_.threads != 0 || base_.mappings != 0;
  }
  template <typename Fact>
  // Every fact whose message has a thread or a stack gets it shifted.
  Fact Shifted(const Fact& fact) const {
    Fact shifted = fact;
    if constexpr (requires { shifted.set_thread(1u); }) {
      shifted.set_thread(Above(base_.threads, fact.thread()));
    }
    if constexpr (requires { shifted.set_stack(1u); }) {
      shifted.set_stack(Above(base_.stacks, fact.stack()));
    }
    return shifted;
  }

 private:
  RecordVisitor& to_;
  DefinitionCounts& counts_;
  DefinitionCounts base_;
  std::vector<Row> rows_;
  std::vector<HeapEvent> events_;
};

void ShiftedIds::OnCode(const CodeDef& code) {
  CodeDef shifted = code;
  shifted.set_id(++counts_.codes);
  to_.OnCode(shifted);
}

void ShiftedIds::OnResidency(const ResidencyView& seen) {
  std::vector<ResidentRange> ranges(seen.ranges.begin(), seen.ranges.end());
  for (ResidentRange& range : ranges) {
    range.mapping = Above(base_.mappings, range.mapping);
  }
  ResidencyView shifted = seen;
  shifted.ranges = ranges;
  to_.OnResidency(shifted);
}

void ShiftedIds::OnFunction(const FunctionDef& function) {
  FunctionDef shifted = function;
  shifted.set_id(++counts_.functions);
  to_.OnFunction(shifted);
}

void ShiftedIds::OnSite(const SiteDef& site) {
  SiteDef shifted = site;
  shifted.set_id(++counts_.sites);
  shifted.set_code(Above(base_.codes, site.code()));
  shifted.set_function(Above(base_.functions, site.function()));
  to_.OnSite(shifted);
}

void ShiftedIds::OnThread(const ThreadDef& thread) {
  ThreadDef shifted = thread;
  shifted.set_id(++counts_.threads);
  shifted.set_renamed(Above(base_.threads, thread.renamed()));
  to_.OnThread(shifted);
}

void ShiftedIds::OnStack(const StackDef& node) {
  StackDef shifted = node;
  shifted.set_id(++counts_.stacks);
  shifted.set_parent(Above(base_.stacks, node.parent()));
  shifted.set_code(Above(base_.codes, node.code()));
  to_.OnStack(shifted);
}

void ShiftedIds::OnMapping(const MappingDef& mapping) {
  MappingDef shifted = mapping;
  shifted.set_id(++counts_.mappings);
  to_.OnMapping(shifted);
}

bool ShiftedIds::OnRows(const Row* rows, size_t count) {
  rows_.assign(rows, rows + count);
  for (Row& row : rows_) {
    row.site = Above(base_.sites, row.site);
    row.thread = Above(base_.threads, row.thread);
    row.stack = Above(base_.stacks, row.stack);
  }
  return to_.OnRows(rows_.data(), count);
}

const HeapEvent* ShiftedIds::Shifted(const HeapEvent* events, size_t count) {
  // The first file's ids need no change, and no copy.
  if (!Shifts()) return events;
  events_.assign(events, events + count);
  for (HeapEvent& event : events_) {
    event.stack = Above(base_.stacks, event.stack);
    event.thread = Above(base_.threads, event.thread);
    event.code = Above(base_.mappings, event.code);
  }
  return events_.data();
}

bool ShiftedIds::OnHeap(const HeapEvent* events, size_t count) {
  return to_.OnHeap(Shifted(events, count), count);
}

// The most ancestors that are read: a file could name itself.
constexpr int kMostAncestors = 16;

bool ReadFile(const std::string& path, RecordVisitor* visitor) {
  const auto file = InputFile::Open(path);
  if (!file.ok()) return false;
  FdSource source((*file)->fd());
  ReadResult result;
  return ReadStream(&source, StreamReader::Options(), visitor, &result).ok() ||
         result.has_header;
}

// Finds whether a file is the parent's, and when it forked the child. Reads no
// more than needed.
class ForkFinder final : public RecordVisitor {
 public:
  explicit ForkFinder(const Header& child) : child_(child) {}

  void OnHeader(const Header& header) override {
    is_parent_ = IsParent(header, child_);
    // The Fork record may have been lost.
    const uint64_t start_ns = header.start_monotonic_ns();
    const uint64_t child_ns = child_.start_monotonic_ns();
    fork_us_ = child_ns > start_ns ? (child_ns - start_ns) / 1000 : 0;
  }
  bool OnRows(const Row*, size_t) override { return GoesOn(); }
  bool OnPages(const PageEntry*, size_t) override { return GoesOn(); }
  bool OnHeap(const HeapEvent*, size_t) override { return GoesOn(); }
  // A later child may have the same pid: its fork is after this child's start.
  void OnFork(const Fork& fork) override {
    if (fork.child_pid() != child_.pid() || fork.time_us() > fork_us_) return;
    fork_us_ = fork.time_us();
    found_ = true;
  }

  bool is_parent() const { return is_parent_; }
  uint64_t fork_us() const { return fork_us_; }

 private:
  bool GoesOn() const { return is_parent_ && !found_; }

  const Header& child_;
  bool is_parent_ = false, found_ = false;
  uint64_t fork_us_ = 0;
};

// Gives the replay what an ancestor had when it forked.
class Ancestor final : public ShiftedIds {
 public:
  // Up to the fork of the child.
  static void Inherit(const std::string& path, const Header& child,
                      int generation, ReplayVisitor* to,
                      DefinitionCounts* counts) {
    // Only a forked process has blocks of its parent; exec starts anew.
    if (!child.forked() || generation >= kMostAncestors) return;
    for (const std::string& parent :
         ParentFiles(path, child.pid(), child.parent_pid())) {
      ForkFinder fork(child);
      if (!ReadFile(parent, &fork) || !fork.is_parent()) continue;
      // Reads the parent's file twice: for the time of the fork, then for the
      // blocks.
      Ancestor ancestor(parent, fork.fork_us(), generation, to, counts);
      ReadFile(parent, &ancestor);
      return;
    }
  }

  // An ancestor may be forked itself: its own parent comes first, so that ids
  // follow each other.
  void OnHeader(const Header& header) override {
    Inherit(path_, header, generation_ + 1, &to_, &counts());
    Begin();
  }
  bool OnRows(const Row*, size_t) override { return !past_; }
  bool OnPages(const PageEntry*, size_t) override { return !past_; }
  HeapUse heap_use() const override { return HeapUse::kEvents; }
  void OnHeapBatch(const HeapBatchFacts&) override {}
  bool OnHeap(const HeapEvent* events, size_t count) override {
    const HeapEvent* const end = std::find_if(
        events, events + count,
        [this](const HeapEvent& event) { return event.time_us > fork_us_; });
    const size_t before = static_cast<size_t>(end - events);
    past_ |= before < count;
    to_.Inherit(Shifted(events, before), before);
    return !past_;
  }
  void OnHeapRates(const HeapRates& rates) override {
    if (rates.time_us() <= fork_us_) to_.OnHeapRates(rates);
  }
  // Other records are only about this file's process.
  void OnResidency(const ResidencyView&) override {}
  void OnMark(const Mark&) override {}
  void OnProcess(const ProcessSample&) override {}
  void OnGcRun(const GcRun&) override {}
  void OnCounter(const CounterValue&) override {}
  void OnCounterPlan(const CounterPlan&) override {}
  void OnHeapLoss(const HeapLoss&) override {}
  void OnFooter(const Footer&) override {}
  void OnDamage(const StreamReader::Damage&) override {}

 private:
  Ancestor(std::string path, uint64_t fork_us, int generation,
           ReplayVisitor* to, DefinitionCounts* counts)
      : ShiftedIds(to, counts),
        path_(std::move(path)),
        fork_us_(fork_us),
        generation_(generation),
        to_(*to) {}

  const std::string path_;
  const uint64_t fork_us_;
  const int generation_;
  ReplayVisitor& to_;
  bool past_ = false;  // later events are not needed
};

// The visitor for the file itself. At its header the ancestors are read first.
class ForkedRun final : public ShiftedIds {
 public:
  ForkedRun(std::string path, ReplayVisitor* to)
      : ShiftedIds(to, &counts_), path_(std::move(path)), to_(*to) {}

  void OnHeader(const Header& header) override {
    to_.OnHeader(header);
    Ancestor::Inherit(path_, header, 0, &to_, &counts_);
    to_.OnInherited();
    Begin();
  }

 private:
  const std::string path_;
  ReplayVisitor& to_;
  DefinitionCounts counts_;
};

}  // namespace

// A pid alone may be used again: the start time of the parent process has to
// fit.
bool IsParent(const Header& parent, const Header& child) {
  return parent.pid() == child.parent_pid() && parent.host() == child.host() &&
         parent.process_start_ticks() != 0 &&
         parent.process_start_ticks() == child.parent_start_ticks();
}

std::unique_ptr<RecordVisitor> WithInherited(const std::string& path,
                                             ReplayVisitor* to) {
  return std::make_unique<ForkedRun>(path, to);
}

}  // namespace pymemrun
