// Our layers on CPython's allocators, and everybody else's. In a static build
// ours are always uppermost and nobody sees them: what the program finds, keeps
// and puts back (PEP 445) lies below them. So a tool that was there before us,
// as tracemalloc may be, takes itself out without taking us. Where libpython is
// shared it does not come through here, and whoever came last is uppermost.
//
// GIL.
#ifndef PYMEMRUN_TRACER_CPYTHON_ALLOCATOR_LAYERS_H_
#define PYMEMRUN_TRACER_CPYTHON_ALLOCATOR_LAYERS_H_

#include <Python.h>

namespace pymemrun {

class AllocatorLayers {
 public:
  // The allocator of the domain, with all layers.
  static PyMemAllocatorEx Get(PyMemAllocatorDomain domain);
  // Puts a layer of ours over what is there, which *below becomes. `below` is
  // where the layer looks for it from then on: it may change.
  static void Put(PyMemAllocatorDomain domain, PyMemAllocatorEx ours,
                  PyMemAllocatorEx* below);
  // Puts another one of ours in the place of the uppermost.
  static void Replace(PyMemAllocatorDomain domain, PyMemAllocatorEx ours);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CPYTHON_ALLOCATOR_LAYERS_H_
