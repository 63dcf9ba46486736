// Python arguments: a wrong type raises an error in one sentence, where
// pybind11 would list signatures.
#ifndef PYMEMRUN_READERS_PYTHON_ARGUMENTS_H_
#define PYMEMRUN_READERS_PYTHON_ARGUMENTS_H_

#include <Python.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "pybind11/pybind11.h"

namespace pymemrun {

// A str.
struct TextArgument {
  std::string text;
};
// An int; values beyond int64_t become the nearest one.
struct WholeArgument {
  int64_t number = 0;
};

[[noreturn]] void RaiseExpected(const char* expected, pybind11::handle found);
int64_t WholeNumberOf(pybind11::handle found);
// The number of rows wanted; `all` for None.
uint64_t LimitOf(pybind11::handle limit, uint64_t all);

// A path as bytes for the system.
std::string PathBytes(pybind11::handle path);
// Raises what open() does if a file cannot be opened, otherwise ValueError with
// a text that names the file.
[[noreturn]] void RaiseOf(const absl::Status& status, pybind11::handle path);

}  // namespace pymemrun

namespace PYBIND11_NAMESPACE {
namespace detail {

template <>
struct type_caster<pymemrun::TextArgument> {
  PYBIND11_TYPE_CASTER(pymemrun::TextArgument, const_name("str"));
  bool load(handle found, bool) {
    if (PyUnicode_Check(found.ptr()) == 0) {
      pymemrun::RaiseExpected("a str", found);
    }
    Py_ssize_t bytes = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(found.ptr(), &bytes);
    if (text == nullptr) throw error_already_set();
    value.text.assign(text, static_cast<size_t>(bytes));
    return true;
  }
  static handle cast(const pymemrun::TextArgument& value, return_value_policy,
                     handle) {
    return PyUnicode_FromStringAndSize(
        value.text.data(), static_cast<Py_ssize_t>(value.text.size()));
  }
};

template <>
struct type_caster<pymemrun::WholeArgument> {
  PYBIND11_TYPE_CASTER(pymemrun::WholeArgument, const_name("int"));
  bool load(handle found, bool) {
    value.number = pymemrun::WholeNumberOf(found);
    return true;
  }
  static handle cast(pymemrun::WholeArgument value, return_value_policy,
                     handle) {
    return PyLong_FromLongLong(value.number);
  }
};

}  // namespace detail
}  // namespace PYBIND11_NAMESPACE

#endif  // PYMEMRUN_READERS_PYTHON_ARGUMENTS_H_
