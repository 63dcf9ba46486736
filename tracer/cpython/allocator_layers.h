// Layers of the tracer on the allocators of CPython, and those of other tools
// (PEP 445). In a static build the layers of the tracer are always on top and
// invisible: everything that the program reads and installs is below them. So a
// tool from before, such as tracemalloc, can remove itself without removing the
// tracer. With a shared libpython its calls do not come through here, and the
// last one to install is on top.
//
// All functions need the GIL.
#ifndef PYMEMRUN_TRACER_CPYTHON_ALLOCATOR_LAYERS_H_
#define PYMEMRUN_TRACER_CPYTHON_ALLOCATOR_LAYERS_H_

#include <Python.h>

namespace pymemrun {

class AllocatorLayers {
 public:
  // The allocator of the domain, with all layers.
  static PyMemAllocatorEx Get(PyMemAllocatorDomain domain);
  // Puts a layer over the current one, which *below becomes. The layer must
  // look there for it, because it may change.
  static void Put(PyMemAllocatorDomain domain, PyMemAllocatorEx ours,
                  PyMemAllocatorEx* below);
  // Replaces the uppermost layer by another one of the tracer.
  static void Replace(PyMemAllocatorDomain domain, PyMemAllocatorEx ours);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CPYTHON_ALLOCATOR_LAYERS_H_
