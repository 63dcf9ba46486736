#include "tracer/session/heap_module.h"

#include "tracer/base/heap_config.h"
#include "tracer/heap/heap_hooks.h"
#include "tracer/heap/heap_parts.h"
#include "tracer/heap/heap_size_hooks.h"

namespace pymemrun {
namespace {

bool Refuse(PyObject* type, const char* why) {
  PyErr_SetString(type, why);
  return false;
}

// A number of bytes above 0. A bool is an int in Python, and here more likely a
// mistake.
bool ReadBytes(PyObject* object, uint64_t* bytes) {
  if (!PyLong_Check(object) || PyBool_Check(object)) {
    return Refuse(PyExc_TypeError, "heap: a size must be an int");
  }
  const long long value = PyLong_AsLongLong(object);
  if (value == -1 && PyErr_Occurred() != nullptr) return false;
  if (value <= 0)
    return Refuse(PyExc_ValueError, "heap: a size must be above 0");
  *bytes = static_cast<uint64_t>(value);
  return true;
}

bool ReadClass(PyObject* size, PyObject* probability, HeapRateClass* read) {
  if (!ReadBytes(size, &read->below_bytes)) return false;
  if (!PyFloat_Check(probability) && !PyLong_Check(probability)) {
    return Refuse(PyExc_TypeError, "heap: a probability must be a number");
  }
  read->probability = PyFloat_AsDouble(probability);
  if (read->probability == -1 && PyErr_Occurred() != nullptr) return false;
  return (read->probability >= 0 && read->probability <= 1) ||
         Refuse(PyExc_ValueError, "heap: a probability must be from 0 to 1");
}

// Insertion sort: the sampler needs the classes in rising order.
void Insert(const HeapRateClass& added, HeapRatesConfig* rates) {
  size_t i = rates->class_count++;
  for (; i > 0 && rates->classes[i - 1].below_bytes > added.below_bytes; --i) {
    rates->classes[i] = rates->classes[i - 1];
  }
  rates->classes[i] = added;
}

bool ReadClasses(PyObject* dict, HeapRatesConfig* rates) {
  rates->mean_bytes = 0;
  Py_ssize_t at = 0;
  PyObject *size, *probability;
  while (PyDict_Next(dict, &at, &size, &probability)) {
    HeapRateClass read;
    if (!ReadClass(size, probability, &read)) return false;
    if (rates->class_count == kMaxHeapClasses) {
      return Refuse(PyExc_ValueError, "heap: more than 16 sizes");
    }
    Insert(read, rates);
  }
  return rates->class_count > 0 ||
         Refuse(PyExc_ValueError, "heap: an empty dict");
}

}  // namespace

// Checks everything before anything is changed. Returns false with an exception
// set.
bool HeapModule::ReadRates(PyObject* heap, HeapRatesConfig* rates) {
  *rates = {};
  const bool is_dict = PyDict_Check(heap);
  if (!is_dict && (!PyLong_Check(heap) || PyBool_Check(heap))) {
    return Refuse(PyExc_TypeError,
                  "heap: expected a dict {size: probability} or an int, the "
                  "mean number of bytes between samples");
  }
  if (is_dict ? !ReadClasses(heap, rates)
              : !ReadBytes(heap, &rates->mean_bytes)) {
    return false;
  }
  return HeapHooks::samples() ||
         Refuse(PyExc_RuntimeError,
                "the heap is not sampled: run with --heap sampled");
}

bool HeapModule::SetRates(const HeapRatesConfig& rates) {
  return HeapHooks::SetRates(rates) ||
         Refuse(PyExc_RuntimeError,
                "another tool has put its allocator hooks over pymemrun's");
}

// The hooks go in at the first call and stay: another tool may have put its own
// above them by the time they are stopped. Later only the switch changes.
bool HeapModule::GatherSizes() {
  if (gathering_) return true;
  if (!HeapSizeHooks::installed()) {
    if (!HeapSizeHooks::Create()) return false;
    HeapSizeHooks::Install();
  }
  g_heap_sizes.Clear();
  HeapSizeHooks::Count(true);
  gathering_ = true;
  return true;
}

void HeapModule::StopSizes() {
  if (!gathering_) return;
  gathering_ = false;
  HeapSizeHooks::Count(false);
  if (print_ != nullptr) print_();
}

}  // namespace pymemrun
