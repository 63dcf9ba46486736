// The tracks of --trace counters: runs of the cycle collector as slices;
// counters of the user, descriptors and page faults as counters.
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/run/replay_visitor.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

class CounterTracks final : public ReplayVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
  CounterTracks(const SourceOptions&, TrackSink* sink) : sink_(*sink) {}

  void OnGcRun(const GcRun& run) override;
  void OnCounter(const CounterValue& value) override;
  void OnProcess(const ProcessSample& sample) override;
  void OnFooter(const Footer& footer) override { end_us_ = footer.end_us(); }
  void Finish() override;

 private:
  struct Last {
    uint64_t time_us = 0;
    int64_t whole = 0;
    double real = 0;
    bool is_real = false;
  };

  uint32_t CounterOf(absl::string_view name);
  void Count(uint32_t counter, const Last& value);
  uint32_t GenerationName(uint32_t generation);

  TrackSink& sink_;
  uint32_t gc_track_ = 0;
  uint64_t gc_us_ = 0;  // its track has slices up to this time
  absl::flat_hash_map<uint32_t, uint32_t> generation_names_;
  absl::flat_hash_map<std::string, uint32_t> counters_;
  std::map<uint32_t, Last> last_;  // by counter
  uint64_t end_us_ = 0;            // of the run; 0: not known
};

uint32_t CounterTracks::CounterOf(absl::string_view name) {
  const auto [found, is_new] = counters_.try_emplace(name);
  if (is_new) found->second = sink_.AddCounter(name, CounterUnit::kCount);
  return found->second;
}

uint32_t CounterTracks::GenerationName(uint32_t generation) {
  // CPython has three generations; a damaged file may name any.
  constexpr uint32_t kOldest = 2;
  const uint32_t shown = std::min(generation, kOldest + 1);
  const auto [found, is_new] = generation_names_.try_emplace(shown);
  if (is_new) {
    const std::string text =
        shown > kOldest ? "gc" : absl::StrCat("gc, generation ", shown);
    SliceName name;
    name.name = text;
    found->second = sink_.AddName(name);
  }
  return found->second;
}

// The interpreter runs one collection at a time, so slices follow each other.
void CounterTracks::OnGcRun(const GcRun& run) {
  if (gc_track_ == 0) gc_track_ = sink_.AddLane(0, "cycle collector");
  const uint64_t begin_us = std::max(run.begin_us(), gc_us_);
  gc_us_ = std::max(run.time_us(), begin_us);
  sink_.Begin(gc_track_, begin_us, GenerationName(run.generation()));
  sink_.End(gc_track_, gc_us_, {});
}

// A counter may have whole values and others in turn: each keeps its kind.
void CounterTracks::OnCounter(const CounterValue& value) {
  const bool is_real = value.value_case() == CounterValue::kReal;
  Count(CounterOf(value.name()),
        {value.time_us(), value.whole(), value.real(), is_real});
}

void CounterTracks::Count(uint32_t counter, const Last& value) {
  if (value.is_real) {
    sink_.CountReal(counter, value.time_us, value.real);
  } else {
    sink_.Count(counter, value.time_us, value.whole);
  }
  last_[counter] = value;
}

// A counter keeps its value until the run's end, so its curve is drawn up to
// it.
void CounterTracks::Finish() {
  for (auto& [counter, value] : last_) {
    if (value.time_us >= end_us_) continue;
    value.time_us = end_us_;
    Count(counter, Last(value));
  }
}

void CounterTracks::OnProcess(const ProcessSample& sample) {
  if (!sample.counted()) return;
  const auto add = [&](absl::string_view name, uint64_t value) {
    Count(CounterOf(name),
          {sample.time_us(), static_cast<int64_t>(value), 0, false});
  };
  add("page faults", sample.minor_faults() + sample.major_faults());
  if (sample.descriptors() > 0) {
    add("open descriptors", sample.descriptors() - 1);
  }
}

}  // namespace

std::unique_ptr<TrackSource> NewCounterSource(const SourceOptions& options) {
  return std::make_unique<ReadOnce<CounterTracks>>(options);
}

}  // namespace pymemrun
