#include "tracer/heap/hook_cost.h"

#include <Python.h>

#include <algorithm>
#include <cstdint>

#include "tracer/base/clock.h"

namespace pymemrun {
namespace {

// Takes some 0.1 ms. The shortest round is the least disturbed one.
constexpr int kRounds = 8;
constexpr int kPairs = 1024;

// Nanoseconds for one allocation and free of 32 bytes.
double TimePair() {
  uint64_t best = UINT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t begin = MonotonicNs();
    for (int i = 0; i < kPairs; ++i) PyObject_Free(PyObject_Malloc(32));
    best = std::min(best, MonotonicNs() - begin);
  }
  return static_cast<double>(best) / kPairs;
}

}  // namespace

HookCost::HookCost() : without_ns_(TimePair()) {}

double HookCost::PairNs() const {
  return std::max(TimePair() - without_ns_, 0.0);
}

}  // namespace pymemrun
