#include "readers/heap_model.h"

#include <algorithm>

namespace pymemrun {
namespace {

// Blocks ahead whose memory is asked for: a large table is not in the cache.
constexpr size_t kAhead = 12;
constexpr uint64_t kMostBytes = (uint64_t{1} << 47) - 1;
// Ids above are looked up in the hash table alone.
constexpr uint32_t kMaxTableId = 1 << 22;

}  // namespace

HeapModel::HeapModel(const Limits& limits) : limits_(limits), sources_(1) {}

void HeapModel::SetTracing(uint32_t stack) {
  if (stack > kMaxTableId) return;
  if (stack >= tracing_.size()) tracing_.resize(stack + 1);
  tracing_[stack] = true;
}

void HeapModel::Add(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) blocks_.prefetch(events[i + kAhead].address);
    const HeapEvent& event = events[i];
    if (!event.is_free) {
      Allocate(event);
      continue;
    }
    const auto found = blocks_.find(event.address);
    if (found == blocks_.end()) {
      ++unmatched_frees_;
      continue;
    }
    Free(found->second);
    blocks_.erase(found);
  }
}

void HeapModel::Allocate(const HeapEvent& event) {
  Block block;
  block.source = SourceOf(event);
  block.size = std::min(event.size, kMostBytes);
  block.rate = rate_;
  block.sequence = temporary_limit_ == 0 ? 0 : ++AllocationsOf(event.thread);
  const auto [found, is_new] = blocks_.try_emplace(event.address, block);
  if (!is_new) {
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
  if (source.tracing) return;
  live_.Add(block.size, weight);
  if (live_.bytes <= peak_bytes_) return;
  peak_bytes_ = live_.bytes;
  peak_us_ = event.time_us;
  ++peak_number_;
}

void HeapModel::Free(const Block& block) {
  const double weight = WeightOf(block);
  HeapSource& source = Change(block.source);
  source.live.Remove(block.size, weight);
  if (!source.tracing) live_.Remove(block.size, weight);
  if (temporary_limit_ == 0) return;
  const uint32_t since = AllocationsOf(source.key.thread) - block.sequence;
  if (since < temporary_limit_) source.temporary.Add(block.size, weight);
}

HeapSource& HeapModel::Change(uint32_t number) {
  HeapSource& source = sources_[number];
  if (source.kept_for != peak_number_) {
    source.kept_for = peak_number_;
    source.kept = source.live;
  }
  return source;
}

uint32_t& HeapModel::AllocationsOf(uint32_t thread) {
  const uint32_t at = std::min(thread, kMaxTableId);
  if (at >= allocations_.size()) allocations_.resize(at + 1);
  return allocations_[at];
}

uint32_t HeapModel::SourceOf(const HeapEvent& event) {
  if (event.stack > kMaxTableId) return FindSource(event);
  if (event.stack >= last_of_stack_.size()) {
    last_of_stack_.resize(event.stack + 1 + last_of_stack_.size());
  }
  const uint32_t last = last_of_stack_[event.stack];
  const HeapSource::Key& key = sources_[last].key;
  if (last != 0 && key.thread == event.thread && key.code == event.code &&
      key.allocator == event.allocator) {
    return last;
  }
  return last_of_stack_[event.stack] = FindSource(event);
}

uint32_t HeapModel::FindSource(const HeapEvent& event) {
  HeapSource::Key key;
  key.stack = event.stack;
  key.thread = event.thread;
  key.code = event.code;
  key.allocator = event.allocator;
  const auto found = numbers_.find(key);
  if (found != numbers_.end()) return found->second;
  if (sources_.size() > limits_.sources) return 0;
  const auto number = static_cast<uint32_t>(sources_.size());
  sources_.emplace_back();
  sources_.back().key = key;
  sources_.back().tracing = IsTracing(event.stack);
  numbers_.emplace(key, number);
  return number;
}

HeapSums HeapModel::Allocated() const {
  HeapSums sums;
  for (const HeapSource& source : sources_) {
    if (!source.tracing) sums.Add(source.allocated);
  }
  return sums;
}

HeapSums HeapModel::Freed() const {
  HeapSums sums = Allocated();
  sums.recorded -= live_.recorded;
  sums.bytes = std::fmax(sums.bytes - live_.bytes, 0);
  sums.count = std::fmax(sums.count - live_.count, 0);
  sums.bytes_variance -= live_.bytes_variance;
  sums.count_variance -= live_.count_variance;
  return sums;
}

}  // namespace pymemrun
