// What the built-in module `pymemrun` has for the heap: the arguments of
// start(), and gather_stats(). GIL.
#ifndef PYMEMRUN_TRACER_SESSION_HEAP_MODULE_H_
#define PYMEMRUN_TRACER_SESSION_HEAP_MODULE_H_

#include <Python.h>

#include "tracer/base/heap_config.h"

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
  bool GatherSizes();
  // Stops, and prints the table, if GatherSizes() has begun one.
  void StopSizes();
  // Function that prints it; null: nothing is printed.
  void PrintsBy(void (*print)()) { print_ = print; }

 private:
  void (*print_)() = nullptr;
  bool gathering_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_HEAP_MODULE_H_
