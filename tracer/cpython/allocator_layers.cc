#include "tracer/cpython/allocator_layers.h"

extern "C" {
#ifdef PYMEMRUN_STATIC_PYTHON
// The renamed originals (tracer/CMakeLists.txt).
void pymemrun_real_PyMem_GetAllocator(PyMemAllocatorDomain domain,
                                      PyMemAllocatorEx* allocator);
void pymemrun_real_PyMem_SetAllocator(PyMemAllocatorDomain domain,
                                      PyMemAllocatorEx* allocator);
#else
#define pymemrun_real_PyMem_GetAllocator PyMem_GetAllocator
#define pymemrun_real_PyMem_SetAllocator PyMem_SetAllocator
#endif
}  // extern "C"

namespace pymemrun {
namespace {

// Where the lowest of our layers keeps what is below it, by domain.
PyMemAllocatorEx* g_below[3];

// What our layers have for their context, so that they are known.
char g_mark;

bool IsOurs(const PyMemAllocatorEx& allocator) {
  return allocator.ctx == &g_mark;
}

}  // namespace

PyMemAllocatorEx AllocatorLayers::Get(PyMemAllocatorDomain domain) {
  PyMemAllocatorEx there;
  pymemrun_real_PyMem_GetAllocator(domain, &there);
  return there;
}

void AllocatorLayers::Replace(PyMemAllocatorDomain domain,
                              PyMemAllocatorEx ours) {
  ours.ctx = &g_mark;
  pymemrun_real_PyMem_SetAllocator(domain, &ours);
}

void AllocatorLayers::Put(PyMemAllocatorDomain domain, PyMemAllocatorEx ours,
                          PyMemAllocatorEx* below) {
  *below = Get(domain);
  if (!IsOurs(*below)) g_below[domain] = below;
  Replace(domain, ours);
}

#ifdef PYMEMRUN_STATIC_PYTHON
namespace {

// What the program is to see in the place of `there`; null: itself.
PyMemAllocatorEx* BelowOurs(PyMemAllocatorDomain domain,
                            const PyMemAllocatorEx& there) {
  return IsOurs(there) ? g_below[domain] : nullptr;
}

}  // namespace
#endif

}  // namespace pymemrun

#ifdef PYMEMRUN_STATIC_PYTHON
extern "C" {

void PyMem_GetAllocator(PyMemAllocatorDomain domain,
                        PyMemAllocatorEx* allocator) {
  using namespace pymemrun;  // NOLINT: C's own names
  pymemrun_real_PyMem_GetAllocator(domain, allocator);
  const PyMemAllocatorEx* below = BelowOurs(domain, *allocator);
  if (below != nullptr) *allocator = *below;
}

// CPython itself puts back what it took out for a moment without coming through
// here, which may be ours.
void PyMem_SetAllocator(PyMemAllocatorDomain domain,
                        PyMemAllocatorEx* allocator) {
  using namespace pymemrun;  // NOLINT: C's own names
  PyMemAllocatorEx* below = BelowOurs(domain, AllocatorLayers::Get(domain));
  if (below != nullptr && !IsOurs(*allocator)) {
    *below = *allocator;
  } else {
    pymemrun_real_PyMem_SetAllocator(domain, allocator);
  }
}

}  // extern "C"
#endif
