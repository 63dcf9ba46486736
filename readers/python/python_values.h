// Converts values for Python code: texts, and records as the named tuples of
// pymemrun_reader/_records.py. All of it requires the GIL.
#ifndef PYMEMRUN_READERS_PYTHON_PYTHON_VALUES_H_
#define PYMEMRUN_READERS_PYTHON_PYTHON_VALUES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "pybind11/pybind11.h"
#include "readers/run/frame_budget.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// A text as in the program, including lone surrogates. Bytes that are not text,
// as in damaged files, are escaped: \xff.
pybind11::str PythonText(absl::string_view bytes);

// Caches texts, so that each is created once. The bytes must outlive it. Not
// thread safe.
class PythonTexts {
 public:
  pybind11::str Of(absl::string_view bytes);

 private:
  absl::flat_hash_map<absl::string_view, pybind11::str> made_;
};

// A value as a Python object, for RecordType::Make().
inline pybind11::object PythonObject(pybind11::object object) { return object; }
template <typename Number>
requires std::is_arithmetic_v<Number> pybind11::object PythonObject(
    Number number) {
  return pybind11::cast(number);
}

// A class of named tuples.
class RecordType {
 public:
  // `name`: in _records.py.
  explicit RecordType(const char* name);
  // Returns a record of these values, in the order of its fields.
  template <typename... Values>
  pybind11::object Make(Values&&... values) const {
    std::array<pybind11::object, sizeof...(Values)> items = {
        PythonObject(std::forward<Values>(values))...};
    return Make(items.data(), items.size());
  }

 private:
  pybind11::object Make(pybind11::object* items, size_t count) const;

  pybind11::type type_;
};

// A class of _records.py.
pybind11::object RecordClass(const char* name);

// Seconds for Python code.
double Seconds(uint64_t time_us);

// The frames of a stack as Frame records, outermost first, as many as the
// budget allows.
pybind11::list FramesOf(const RunIndex& index, uint32_t stack,
                        const RecordType& frame, PythonTexts* texts,
                        FrameBudget* budget);

// An array of float64: numpy's if numpy can be imported, otherwise
// array.array's.
pybind11::object FloatArray(const std::vector<double>& values);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_PYTHON_VALUES_H_
