#include "readers/objects/blocks/what_if.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "readers/objects/blocks/block_replay.h"
#include "readers/objects/blocks/load_allocations.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/replay/heap/heap_model.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/heap_in_rss/python_arenas.h"
#include "readers/replay/heap_in_rss/returned_memory.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/replay/resident/page_mappings.h"
#include "readers/replay/resident/resident_replay.h"
#include "readers/run/input_file.h"
#include "readers/run/reread_file.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// An object has a block of its own. Parts of its size may be in other blocks,
// such as the items of a list: see BesideBlocks.
struct BlocksOfObjects {
  uint64_t bytes = 0;  // of these objects, by the heap's sizes
  // Part of `bytes` whose address is unknown: further blocks of an object, or
  // blocks from before tracing.
  uint64_t unplaced_bytes = 0;
  std::vector<BlockRange> going;    // blocks of these objects
  std::vector<BlockRange> staying;  // all other blocks, and mappings of C code
};

using Block = HeapModel::Block;

// The least size of a further block: a `__sizeof__` may exceed what was
// allocated by less.
constexpr uint64_t kLeastFurther = 8;
// The most bytes of an object from before tracing that are certainly at its
// address. CPython's pools hold blocks up to this size (SMALL_REQUEST_THRESHOLD
// in its pycore_obmalloc.h).
constexpr uint64_t kMostInline = 512;

// Divides all blocks into those of the freed objects and the others.
class BlockFinder {
 public:
  BlockFinder(const HeapModel& heap, const ObjectGraph& graph,
              const std::vector<bool>& gone)
      : heap_(heap), graph_(graph), gone_(gone) {}

  BlocksOfObjects Find() {
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (!graph_.is_synthetic(node)) {
        AddObject(node, graph_.besides().Of(node));
      }
    }
    // Blocks without an object stay.
    Divide();
    return std::move(found_);
  }

 private:
  const Block* BlockAt(uint64_t address) const {
    const auto found = heap_.blocks().find(address);
    return found == heap_.blocks().end() ? nullptr : &found->second;
  }
  void AddObject(NodeId node, const BesideBlock& beside) {
    const bool is_gone = gone_[node];
    const uint64_t bytes = graph_.size_bytes(node);
    // The part of the size that is not in the block beside it.
    const uint64_t own = bytes - std::min(bytes, beside.bytes);
    AddPart(BlockOf(graph_, node), own, kMostInline, is_gone);
    if (beside.bytes > 0 && !AddMapping(node, beside)) {
      AddPart(beside.address, beside.bytes, beside.bytes, is_gone);
    }
  }
  // For an mmap.mmap. The dump has only the resident bytes of its mapping.
  bool AddMapping(NodeId node, const BesideBlock& beside) {
    if (BlockAt(beside.address) != nullptr ||
        beside.address > UINT64_MAX - beside.bytes) {
      return false;
    }
    const auto& parts = heap_.mappings().parts();
    const bool is_known = parts.find(beside.address) != parts.end();
    if (!is_known && graph_.type_name(graph_.type(node)) != "mmap.mmap") {
      return false;
    }
    const bool is_gone = gone_[node];
    if (!is_known) {
      (is_gone ? found_.going : found_.staying)
          .push_back({beside.address, beside.address + beside.bytes, false,
                      /*is_mapping=*/true});
    } else if (is_gone) {
      going_.insert(beside.address);
    }
    if (is_gone) found_.bytes += beside.bytes;
    return true;
  }
  // `bytes` of an object are at `address`. If the block is unknown, at most
  // `sure` of them are certain.
  void AddPart(uint64_t address, uint64_t bytes, uint64_t sure, bool is_gone) {
    if (const Block* const block = BlockAt(address)) {
      if (!is_gone) return;
      going_.insert(address);
      // The size counts more than the block has: the rest is elsewhere.
      const uint64_t further =
          bytes >= block->size + kLeastFurther ? bytes - block->size : 0;
      found_.bytes += block->size + further;
      found_.unplaced_bytes += further;
      return;
    }
    // No block is known: the object is from before tracing.
    const uint64_t placed = std::clamp<uint64_t>(bytes, 1, sure);
    if (address > UINT64_MAX - placed) return;
    (is_gone ? found_.going : found_.staying)
        .push_back({address, address + placed, placed <= kMostInline});
    if (!is_gone) return;
    found_.bytes += bytes;
    found_.unplaced_bytes += bytes - std::min(bytes, placed);
  }
  // Each block is on one of the two lists, with its kind.
  void Divide() {
    for (const auto& [address, block] : heap_.blocks()) {
      if (block.size == 0 || address > UINT64_MAX - block.size) continue;
      const HeapAllocator allocator =
          heap_.sources()[block.source].key.allocator;
      (going_.contains(address) ? found_.going : found_.staying)
          .push_back({address, address + block.size,
                      PythonArenas::IsSmall(allocator, block.size)});
    }
    for (const auto& [begin, part] : heap_.mappings().parts()) {
      if (part.end <= begin) continue;
      (going_.contains(begin) ? found_.going : found_.staying)
          .push_back({begin, part.end, false, /*is_mapping=*/true});
    }
  }

  const HeapModel& heap_;
  const ObjectGraph& graph_;
  const std::vector<bool>& gone_;
  absl::flat_hash_set<uint64_t> going_;  // starts of blocks and mappings
  BlocksOfObjects found_;
};

// `gone`: by node. REQUIRES: the model is at the dump's moment, and has every
// block since tracing started.
BlocksOfObjects FindBlocks(const HeapModel& heap, const ObjectGraph& graph,
                           const std::vector<bool>& gone) {
  return BlockFinder(heap, graph, gone).Find();
}

// glibc raises its thresholds when a mapped block is freed: the trim threshold
// becomes twice its size, up to a limit.
constexpr uint64_t kTrimThreshold = 128 << 10, kMostMapped = 32 << 20;

// How much must be free at the end of malloc's heap before it is released.
class TrimThreshold {
 public:
  void Take(const HeapEvent& event) {
    // glibc maps a block with a header of 16 bytes at the start of a page.
    if (event.free_of != HeapFreeOf::kBlock || event.address % 4096 != 16) {
      return;
    }
    if (event.is_free) {
      const auto found = mapped_.find(event.address);
      if (found == mapped_.end()) return;
      bytes_ = std::max(bytes_, 2 * found->second);
      mapped_.erase(found);
    } else if (event.size >= kTrimThreshold && event.size <= kMostMapped &&
               event.allocator < HEAP_MMAP) {
      mapped_[event.address] = event.size;
    }
  }
  uint64_t bytes() const { return bytes_; }

 private:
  absl::flat_hash_map<uint64_t, uint64_t> mapped_;  // block, and its size
  uint64_t bytes_ = kTrimThreshold;
};

// The blocks at a moment, and the arenas of small ones.
class BlocksThen final : public HeapReplay {
 public:
  explicit BlocksThen(uint64_t until_us)
      : HeapReplay(until_us, /*to_end=*/false), until_us_(until_us) {}

  void OnHeader(const Header& header) override {
    HeapReplay::OnHeader(header);
    arenas_.SetPython(header.python_version());
  }
  bool OnRows(const Row* rows, size_t count) override {
    if (count > 0) Reach(rows[count - 1].time_us);
    return HeapReplay::OnRows(rows, count);
  }
  void OnProcess(const ProcessSample& sample) override {
    Reach(sample.time_us());
    HeapReplay::OnProcess(sample);
  }
  void OnFooter(const Footer& footer) override {
    Reach(until_us_);
    HeapReplay::OnFooter(footer);
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    if (count > 0) Reach(events[count - 1].time_us);
    for (size_t i = 0; i < count && events[i].time_us <= until_us_; ++i) {
      Take(events[i]);
    }
    return HeapReplay::OnHeap(events, count);
  }
  void Inherit(const HeapEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) Take(events[i]);
    HeapReplay::Inherit(events, count);
  }
  const PythonArenas& arenas() const { return arenas_; }
  uint64_t trim_bytes() const { return trim_.bytes(); }
  // Whether an event at this moment or later was recorded.
  bool reaches_it() const { return reaches_it_; }

 private:
  void Reach(uint64_t time_us) { reaches_it_ |= time_us >= until_us_; }
  void Take(const HeapEvent& event) {
    arenas_.Take(event);
    trim_.Take(event);
  }

  const uint64_t until_us_;
  bool reaches_it_ = false;
  PythonArenas arenas_;
  TrimThreshold trim_;
};

// The heap that brk(2) grows, from its first resident page to its last. Empty
// if it is unknown.
MallocHeap MallocHeapOf(const ResidentReplay& pages, uint64_t trim_bytes) {
  MallocHeap heap;
  heap.trim_bytes = trim_bytes;
  ForEachMapped(pages,
                [&](const PageMap::Range& range, uint32_t, uint32_t mapping) {
                  if (pages.index().MappingName(mapping) != "[heap]") return;
                  if (heap.end == 0)
                    heap.begin = range.begin * pages.model().page_bytes();
                  heap.end = range.end * pages.model().page_bytes();
                });
  return heap;
}

// Reads the run file for the blocks, and then for the pages.
class Reading {
 public:
  Reading(const ObjectGraph& graph, const std::vector<bool>& gone,
          RereadFile* file, WhatIf* what)
      : graph_(graph),
        gone_(gone),
        file_(*file),
        what_(*what),
        heap_(graph.facts().begin.time_us()) {}

  void Read() {
    if (!file_.Read(&heap_)) {
      what_.no_heap = absl::StrCat(file_.shown_name(), " cannot be read");
      return;
    }
    what_.no_heap = NoHeap();
    if (!what_.no_heap.empty()) return;
    BlocksOfObjects blocks = FindBlocks(heap_.model(), graph_, gone_);
    what_.heap_bytes = blocks.bytes;
    what_.unplaced_bytes = blocks.unplaced_bytes;
    ReadPages(std::move(blocks));
  }

 private:
  // Each of these would make the result wrong, not just less exact.
  std::string NoHeap() const {
    const std::string& name = file_.shown_name();
    if (!IsSameProcess(heap_.header(), graph_.facts().header)) {
      return name + " is of another process";
    }
    if (!heap_.has_heap_events()) {
      return name +
             " has no heap events: the run was made with --heap off "
             "or stats";
    }
    if (heap_.sampled()) {
      return name + " has samples of the heap: --heap all records every block";
    }
    if (!heap_.reaches_it()) {
      return name + " ends before the dump";
    }
    return "";
  }
  void ReadPages(BlocksOfObjects blocks) {
    const auto peak = FindPeak(&file_);
    if (peak == nullptr || !peak->has_page_events()) {
      what_.no_rss = file_.shown_name() +
                     " has no page events: --trace pages records them";
      return;
    }
    ResidentReplay pages(graph_.facts().begin.time_us(), peak->hindsight());
    if (!file_.Read(&pages)) return;
    if (pages.model().sampled()) {
      what_.no_rss = file_.shown_name() +
                     " has samples of pages: --page-period 1 records each";
      return;
    }
    what_.rss_bytes = pages.model().RssBytes();
    // Otherwise C code's blocks may be anywhere in it.
    const MallocHeap malloc_heap = heap_.header().heap_native()
                                       ? MallocHeapOf(pages, heap_.trim_bytes())
                                       : MallocHeap();
    what_.returned =
        MemoryWithout(std::move(blocks.going), std::move(blocks.staying),
                      heap_.arenas().Found(), malloc_heap, pages.model());
  }

  const ObjectGraph& graph_;
  const std::vector<bool>& gone_;
  RereadFile& file_;
  WhatIf& what_;
  BlocksThen heap_;
};

// Why the dump has no run file that can be opened; empty if it has.
std::string NoRun(const ObjectGraph& graph, const std::string& run) {
  if (graph.facts().header.pid() == 0) {
    return "the dump does not say which process it is of";
  }
  if (run.empty()) {
    return "the run file is not known from the dump's name; give it with --run";
  }
  const auto file = InputFile::Open(run);
  if (file.ok()) return "";
  return absl::IsNotFound(file.status())
             ? absl::StrCat("there is no ", TerminalText(run))
             : absl::StrCat(TerminalText(run), ": ", file.status().message());
}

}  // namespace

// The number of objects needs only the dump. If a file is missing, the result
// says what is unknown, and why.
WhatIf Without(const ObjectGraph& graph, const std::vector<bool>& gone,
               const std::string& dump_path, const std::string& run_path,
               const Console& console, int* code) {
  WhatIf what;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (!gone[node] || graph.is_synthetic(node)) continue;
    ++what.objects;
    what.object_bytes += graph.size_bytes(node);
  }
  const std::string run = run_path.empty() ? RunFileOf(dump_path) : run_path;
  what.no_heap = NoRun(graph, run);
  if (what.no_heap.empty()) {
    const auto file = RereadFile::Open(run, console);
    if (file == nullptr) {
      *code = std::max(*code, kExitFailed);
      what.no_heap = absl::StrCat(TerminalText(run), " cannot be opened");
    } else {
      Reading(graph, gone, file.get(), &what).Read();
      *code = std::max(*code, file->code());
    }
  }
  if (!what.no_heap.empty()) what.no_rss = what.no_heap;
  return what;
}

}  // namespace pymemrun
