#include "tracer/heap/heap_sampler.h"

#include <sys/random.h>

#include <cmath>

#include "tracer/base/clock.h"

namespace pymemrun {

// Sampling as in tcmalloc: samples are a Poisson process over the allocated
// bytes. The distance to the next sample is exponentially distributed, thus
// without memory. So a count may be drawn anew at any time, for instance when
// the rate changes. The probability of an allocation does not depend on earlier
// ones. The fast half only subtracts a size and looks at the sign. Counts start
// at 0, so the first allocation of a thread takes the slow half, which draws
// them.
constinit thread_local int64_t t_heap_bytes_left = 0;
constinit thread_local int64_t t_heap_left[kMaxHeapClasses] = {};

namespace {

// Longest count. No program reaches it, and sums of two do not overflow.
constexpr double kLongest = 1e18;

// State of the thread's random numbers (xorshift64*), and the set of counts
// that were drawn: bit i for class i, bit kMaxHeapClasses for bytes.
constinit thread_local uint64_t t_random = 0;
constinit thread_local uint32_t t_drawn = 0;

uint64_t Seed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed)) {
    // Early after boot. The addresses of thread-local variables make threads
    // differ.
    seed = (MonotonicNs() ^ reinterpret_cast<uintptr_t>(&t_random)) *
           0x9E3779B97F4A7C15u;
  }
  return seed | 1;
}

// Uniform in (0, 1].
double Uniform() {
  if (t_random == 0) t_random = Seed();
  t_random ^= t_random >> 12;
  t_random ^= t_random << 25;
  t_random ^= t_random >> 27;
  const uint64_t bits = (t_random * 0x2545F4914F6CDD1Du) >> 11;
  return static_cast<double>(bits + 1) * 0x1p-53;
}

int64_t Bounded(double count) {
  return static_cast<int64_t>(count < kLongest ? count : kLongest);
}

// Bytes before the next sample: -ln(U) * mean is exponentially distributed. An
// allocation of `size` bytes gets the sample if it exceeds the bytes left, so
// with probability 1 - exp(-size / mean).
int64_t DrawBytes(double mean) {
  return Bounded(std::ceil(-std::log(Uniform()) * mean)) - 1;
}

// Allocations before the next sample: geometrically distributed, ln(U) / ln(1 -
// p).
int64_t DrawAllocations(double probability) {
  if (probability >= 1) return 0;
  if (probability <= 0) return Bounded(kLongest);
  return Bounded(std::log(Uniform()) / std::log1p(-probability));
}

// Marks the count as drawn. Returns whether it was not.
bool IsFirst(uint32_t count) {
  const uint32_t bit = 1u << count;
  const bool first = (t_drawn & bit) == 0;
  t_drawn |= bit;
  return first;
}

}  // namespace

void HeapSampler::Set(const HeapRatesConfig& rates) {
  rates_ = rates;
  SetMean(rates.mean_bytes);
}

void HeapSampler::SetMean(uint64_t bytes) {
  mean_bytes_.store(bytes, std::memory_order_relaxed);
  DrawAnew();
}

bool HeapSampler::TakeBytes() const {
  const double mean = static_cast<double>(mean_bytes());
  if (IsFirst(kMaxHeapClasses)) {
    // The fast half has subtracted the size from 0, so what is left is -size.
    // Adding the first draw gives the state as if it had been drawn before.
    t_heap_bytes_left += DrawBytes(mean);
    if (t_heap_bytes_left >= 0) return false;
  }
  t_heap_bytes_left = DrawBytes(mean);
  return true;
}

// Sizes above all classes are always recorded.
bool HeapSampler::TakeClass(size_t size) const {
  uint32_t i = 0;
  while (i < rates_.class_count && size >= rates_.classes[i].below_bytes) ++i;
  if (i == rates_.class_count) return true;
  const double probability = rates_.classes[i].probability;
  if (IsFirst(i)) {
    t_heap_left[i] += DrawAllocations(probability);
    if (t_heap_left[i] >= 0) return false;
  }
  t_heap_left[i] = DrawAllocations(probability);
  return true;
}

// The thread's counts become so large that its fast half does not ask again, or
// not before `bytes`.
void HeapSampler::Rest(int64_t bytes) {
  t_heap_bytes_left = bytes;
  for (int64_t& left : t_heap_left) left = Bounded(kLongest);
  t_drawn = 0;
}

void HeapSampler::DrawAnew() {
  t_heap_bytes_left = 0;
  for (int64_t& left : t_heap_left) left = 0;
  t_drawn = 0;
}

}  // namespace pymemrun
