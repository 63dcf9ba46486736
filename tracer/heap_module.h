// What the built-in module `pymemrun` has for the heap: the arguments of
// start(), and gather_stats(). GIL.
#ifndef PYMEMRUN_TRACER_HEAP_MODULE_H_
#define PYMEMRUN_TRACER_HEAP_MODULE_H_

#include <Python.h>

#include "tracer/heap_config.h"

namespace pymemrun {

class HeapModule {
 public:
  // Reads the sampling rates that `heap` says: a dict of sizes and
  // probabilities, or a mean number of bytes. Returns false with an exception:
  // TypeError, ValueError; RuntimeError where allocations are not sampled.
  static bool ReadRates(PyObject* heap, HeapRatesConfig* rates);
  // They are in force from here on. Returns false with a RuntimeError.
  static bool SetRates(const HeapRatesConfig& rates);

  // Begins to count the sizes of allocations anew. Returns false with errno
  // set.
  static bool GatherSizes();
  // Stops, and prints the table, if GatherSizes() has begun one.
  static void StopSizes();
  // Who prints it; null: nobody.
  static void PrintsBy(void (*print)());
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_MODULE_H_
