#include "readers/replay/heap/heap_model.h"

#include <algorithm>

namespace pymemrun {
namespace {

// The table exceeds the cache, so the slot of a block this far ahead is
// prefetched.
constexpr size_t kAhead = 12;
// HeapModel::Block has 47 bits for a size.
constexpr uint64_t kMostBytes = (uint64_t{1} << 47) - 1;
// A moved range keeps at most this number of separate parts; further ones are
// joined. The kernel merges adjacent mappings of one kind, so parts are few.
constexpr size_t kMostMoved = 64;
// Larger ids use only the hash table, so that a malformed file cannot make a
// table of any size.
constexpr uint32_t kMaxTableId = 1 << 22;
// The sources of SumUp(), by number.
enum Sum : uint32_t { kNoRoom, kSum, kTracingSum, kReservedSum, kSums };

}  // namespace

uint32_t HeapSources::Find(const HeapSource::Key& key) const {
  const auto found = numbers_.find(key);
  return found != numbers_.end() ? found->second : 0;
}

uint32_t HeapSources::Make(const HeapSource::Key& key) {
  if (free_.empty()) {
    if (all_.size() > most_) return 0;
    free_.push_back(static_cast<uint32_t>(all_.size()));
    all_.emplace_back();
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  all_[number].key = key;
  numbers_.emplace(key, number);
  return number;
}

// A server may have a source for each of millions of tasks, but few are alive
// at a time. Numbers that go are used again.
void HeapSources::LetIdleGo(uint64_t peak_number) {
  for (uint32_t number = 1; number < all_.size(); ++number) {
    HeapSource& source = all_[number];
    const bool was_at_peak =
        source.kept_for == peak_number && source.kept.recorded != 0;
    // Unused numbers have allocated nothing.
    if (source.allocated.recorded == 0 || source.live.recorded != 0 ||
        source.temporary.recorded != 0 || was_at_peak || source.held) {
      continue;
    }
    let_go_(source);
    if (source.counts()) gone_.Add(source.allocated);
    numbers_.erase(source.key);
    source = HeapSource();
    free_.push_back(number);
  }
  // Doubling the limit keeps the cost of all passes linear in the number of
  // sources made.
  many_ = std::max(kMany, 2 * numbers_.size());
}

void HeapSources::HoldLive() {
  for (HeapSource& source : all_) source.held |= source.live.recorded != 0;
}

HeapSums HeapSources::Allocated() const {
  HeapSums sums = gone_;
  for (const HeapSource& source : all_) {
    if (source.counts()) sums.Add(source.allocated);
  }
  return sums;
}

void HeapSources::BeginAnew() {
  for (HeapSource& source : all_) {
    source.allocated = source.live;
    source.temporary = HeapSums();
  }
  gone_ = HeapSums();
}

HeapModel::HeapModel(const Limits& limits)
    : limits_(limits), sources_(limits.sources) {}

void HeapModel::TellTasksApart(TaskOfEvent task_of, bool with_stacks) {
  task_of_ = std::move(task_of);
  joins_stacks_ = !with_stacks;
}

// Sources get fixed numbers, so no event needs a look-up.
void HeapModel::SumUp() {
  sums_up_ = true;
  std::vector<HeapSource>& sources = sources_.all();
  sources.resize(kSums);
  sources[kTracingSum].tracing = true;
  sources[kReservedSum].reserved = true;
}

void HeapModel::SetTracing(uint32_t stack) {
  if (stack > kMaxTableId) return;
  if (stack >= tracing_.size()) tracing_.resize(stack + 1);
  tracing_[stack] = true;
}

void HeapModel::Add(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) blocks_.prefetch(events[i + kAhead].address);
    const HeapEvent& event = events[i];
    if (event.is_free) {
      FreeAt(event);
    } else {
      Allocate(event);
    }
  }
}

void HeapModel::FreeAt(const HeapEvent& event) {
  if (event.free_of != HeapFreeOf::kBlock) return Unmap(event);
  const auto found = blocks_.find(event.address);
  if (found != blocks_.end()) {
    Free(found->second);
    blocks_.erase(found);
    return;
  }
  // Files of format version 1 record only the start of an unmapped range.
  const auto mapped = mappings_.parts().find(event.address);
  if (mapped == mappings_.parts().end()) {
    ++unmatched_frees_;
    return;
  }
  HeapEvent range = event;
  range.size = mapped->second.end - mapped->first;
  range.free_of = HeapFreeOf::kRange;
  Unmap(range);
}

void HeapModel::Allocate(const HeapEvent& event) {
  if (event.allocator == HEAP_MMAP) return Map(event);
  if (event.allocator == HEAP_MREMAP) return TakeMoved(event);
  Block block;
  block.source = SourceOf(event);
  block.size = std::min(event.size, kMostBytes);
  block.rate = rate_;
  block.sequence =
      temporary_limit_ == 0 ? step_ : ++AllocationsOf(event.thread);
  const auto [found, is_new] = blocks_.try_emplace(event.address, block);
  if (!is_new) {
    // An allocation at the address of a live block: the block's free was lost.
    ++missed_frees_;
    Free(found->second);
    found->second = block;
  } else if (blocks_.size() > limits_.blocks) {
    ++not_kept_;
    blocks_.erase(found);
    return;
  }
  const double weight = WeightOf(block);
  HeapSource& source = Change(block.source);
  source.live.Add(block.size, weight);
  source.allocated.Add(block.size, weight);
  if (!source.counts()) return;
  live_.Add(block.size, weight);
  // A new peak. Its number, not a copy of all sources, marks it: Change()
  // copies a source only when it changes after the peak.
  if (live_.bytes <= peak_bytes_) return;
  peak_bytes_ = live_.bytes;
  peak_us_ = event.time_us;
  ++peak_number_;
}

void HeapModel::Free(const Block& block) {
  const double weight = WeightOf(block);
  HeapSource& source = Change(block.source);
  source.live.Remove(block.size, weight);
  if (source.counts()) live_.Remove(block.size, weight);
  if (temporary_limit_ == 0) return;
  const uint32_t since = AllocationsOf(source.key.thread) - block.sequence;
  if (since < temporary_limit_) source.temporary.Add(block.size, weight);
}

void HeapModel::Map(const HeapEvent& event) {
  MakeRoomFor(event);
  HeapMappings::Mapping mapping;
  mapping.source = SourceOf(event);
  mapping.rate = rate_;
  mapping.rate_bytes = mapping.left_bytes = std::min(event.size, kMostBytes);
  AddMapping(event.address, mapping);
}

// What was mapped there before is gone: its unmapping was lost.
void HeapModel::MakeRoomFor(const HeapEvent& event) {
  const bool was_there = mappings_.Remove(
      event.address, event.size,
      [this](const HeapMappings::Mapping& mapping, uint64_t, uint64_t bytes) {
        ShrinkMapping(mapping, bytes);
      });
  if (was_there) ++missed_frees_;
}

void HeapModel::AddMapping(uint64_t begin,
                           const HeapMappings::Mapping& mapping) {
  const uint64_t bytes = mapping.left_bytes;
  if (bytes == 0 || begin > UINT64_MAX - bytes) return;
  if (mapping.source == 0 || mappings_.parts().size() >= limits_.blocks) {
    ++not_kept_;
    return;
  }
  mappings_.Add(begin, mapping);
  const double weight = WeightOf(mapping);
  HeapSource& source = Change(mapping.source);
  source.live.Add(bytes, weight);
  source.allocated.Add(bytes, weight);
}

// The mapping's weight is that of its first size: the part that is left was
// sampled with the whole.
void HeapModel::ShrinkMapping(const HeapMappings::Mapping& mapping,
                              uint64_t bytes) {
  const double weight = WeightOf(mapping);
  HeapSource& source = Change(mapping.source);
  const uint64_t left = mapping.left_bytes - bytes;
  source.live.Shrink(mapping.left_bytes, left, weight);
}

// mremap() is recorded as two events of one thread: a range that leaves, then
// its new address. The parts are kept between them, with their weights.
void HeapModel::Unmap(const HeapEvent& range) {
  const bool moves = range.free_of == HeapFreeOf::kMovedRange;
  std::vector<MovedPart> moved;
  mappings_.Remove(
      range.address, range.size,
      [&](const HeapMappings::Mapping& mapping, uint64_t distance,
          uint64_t bytes) {
        ShrinkMapping(mapping, bytes);
        if (!moves) return;
        if (moved.size() < kMostMoved) {
          moved.push_back({distance, bytes, mapping.rate, mapping.rate_bytes});
        } else {
          moved.back().bytes += bytes;
        }
      });
  if (moves) moved_[range.thread] = std::move(moved);
}

// mremap: the thread's last moved range arrives at its new address.
void HeapModel::TakeMoved(const HeapEvent& event) {
  const auto found = moved_.find(event.thread);
  if (found == moved_.end()) return;
  const std::vector<MovedPart> moved = std::move(found->second);
  moved_.erase(found);
  const uint64_t size = std::min(event.size, kMostBytes);
  if (moved.empty() || size == 0) return;
  // The kernel never places it there; its parts would wrap around to address 0.
  if (event.address > UINT64_MAX - size) return;
  MakeRoomFor(event);
  for (size_t i = 0; i < moved.size(); ++i) {
    const MovedPart& part = moved[i];
    if (part.distance >= size) break;
    const uint64_t room = size - part.distance;
    HeapMappings::Mapping mapping;
    mapping.source = SourceOf(event);
    mapping.rate = part.rate;
    mapping.rate_bytes = part.rate_bytes;
    // The last part takes what the range grew by.
    const bool is_last = i + 1 == moved.size();
    mapping.left_bytes = is_last ? room : std::min(part.bytes, room);
    AddMapping(event.address + part.distance, mapping);
  }
}

// Copies the source's sums at its first change after a peak: constant time for
// each event, whatever the number of peaks.
HeapSource& HeapModel::Change(uint32_t number) {
  HeapSource& source = sources_.all()[number];
  if (source.kept_for != peak_number_) {
    source.kept_for = peak_number_;
    source.kept = source.live;
  }
  return source;
}

// Threads with larger ids, as in a damaged file, share one count.
uint32_t& HeapModel::AllocationsOf(uint32_t thread) {
  const uint32_t at = std::min(thread, kMaxTableId);
  if (at >= allocations_.size()) allocations_.resize(at + 1);
  return allocations_[at];
}

uint32_t HeapModel::SourceOf(const HeapEvent& event) {
  if (sums_up_) {
    return event.allocator >= HEAP_MMAP ? kReservedSum
           : IsTracing(event.stack)     ? kTracingSum
                                        : kSum;
  }
  HeapSource::Key key;
  key.stack = event.stack;
  key.thread = event.thread;
  key.code = event.code;
  key.allocator = event.allocator;
  key.waits = waits_.At(event.time_us, event.thread, event.stack, event.code);
  if (task_of_) key.task = task_of_(event);
  // By task alone: stacks and code no longer matter, but tracing's own memory
  // and mappings stay apart.
  if (joins_stacks_) {
    if (!IsTracing(key.stack)) key.stack = 0;
    if (key.allocator == HEAP_MEM) key.allocator = HEAP_OBJ;
    if (key.allocator < HEAP_MMAP) key.code = 0;
    key.waits = 0;
  }
  // Events of one stack mostly have one source: the last one of each stack is
  // tried before the hash table.
  if (key.stack > kMaxTableId) return FindSource(key);
  if (key.stack >= last_of_stack_.size()) {
    last_of_stack_.resize(key.stack + 1 + last_of_stack_.size());
  }
  uint32_t& last = last_of_stack_[key.stack];
  if (last == 0 || !(sources()[last].key == key)) last = FindSource(key);
  return last;
}

uint32_t HeapModel::FindSource(const HeapSource::Key& key) {
  uint32_t number = sources_.Find(key);
  if (number != 0) return number;
  if (sources_.are_many()) {
    sources_.LetIdleGo(peak_number_);
    // Numbers were reused, so the last sources of stacks no longer hold.
    std::fill(last_of_stack_.begin(), last_of_stack_.end(), 0);
  }
  number = sources_.Make(key);
  if (number == 0) return 0;
  HeapSource& source = sources_.all()[number];
  source.tracing = IsTracing(key.stack);
  source.reserved = key.allocator >= HEAP_MMAP;
  source.pool = source.reserved && !block_mappers_.contains(key.code);
  return number;
}

void HeapModel::BeginAnew() {
  sources_.BeginAnew();
  ++peak_number_;
  peak_bytes_ = live_.bytes;
  peak_us_ = 0;
  unmatched_frees_ = missed_frees_ = 0;
}

HeapSums HeapModel::Freed() const {
  // Freed = allocated - live. Rounding may leave the difference just below 0.
  HeapSums sums = Allocated();
  sums.recorded -= live_.recorded;
  sums.bytes = std::fmax(sums.bytes - live_.bytes, 0);
  sums.count = std::fmax(sums.count - live_.count, 0);
  sums.bytes_variance -= live_.bytes_variance;
  sums.count_variance -= live_.count_variance;
  return sums;
}

}  // namespace pymemrun
