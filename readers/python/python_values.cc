#include "readers/python/python_values.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

// Bytes of a record and its place in a list, for FrameBudget. The texts are
// shared.
constexpr uint64_t kFrameTupleBytes = 96;

}  // namespace

// Run files have surrogates as CPython encodes them with "surrogatepass".
py::str PythonText(absl::string_view bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), size, "surrogatepass");
  if (text == nullptr && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
    PyErr_Clear();
    text = PyUnicode_DecodeUTF8(bytes.data(), size, "backslashreplace");
  }
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

py::str PythonTexts::Of(absl::string_view bytes) {
  const auto found = made_.find(bytes);
  if (found != made_.end()) return found->second;
  return made_.emplace(bytes, PythonText(bytes)).first->second;
}

py::object RecordClass(const char* name) {
  return py::module_::import("pymemrun_reader._records").attr(name);
}

RecordType::RecordType(const char* name) : type_(RecordClass(name)) {}

// Like tuple.__new__, without a tuple of arguments: named tuples have no fields
// of their own beyond the tuple's items. REQUIRES: `count` is the number of
// fields.
py::object RecordType::Make(py::object* items, size_t count) const {
  auto* const type = reinterpret_cast<PyTypeObject*>(type_.ptr());
  PyObject* const record = type->tp_alloc(type, static_cast<Py_ssize_t>(count));
  if (record == nullptr) throw py::error_already_set();
  for (size_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(record, i, items[i].release().ptr());
  }
  return py::reinterpret_steal<py::object>(record);
}

double Seconds(uint64_t time_us) { return static_cast<double>(time_us) / 1e6; }

// Walks from the innermost frame to the outermost, and reverses at the end. If
// the budget ends, one frame says that there are more.
py::list FramesOf(const RunIndex& index, uint32_t stack,
                  const RecordType& frame, PythonTexts* texts,
                  FrameBudget* budget) {
  py::list frames;
  budget->BeginStack();
  for (uint32_t at = stack; at != 0; at = index.ParentStack(at)) {
    if (!budget->HasRoom()) {
      frames.append(
          frame.Make(texts->Of(""), 0u, texts->Of(kDeeperFramesName)));
      break;
    }
    budget->Take(kFrameTupleBytes);
    const SourceLocation place = index.ResolveStack(at);
    frames.append(frame.Make(texts->Of(place.file), place.line,
                             texts->Of(place.code_name)));
  }
  if (PyList_Reverse(frames.ptr()) != 0) throw py::error_already_set();
  return frames;
}

// numpy is no dependency: asarray() shares the array's memory by its buffer.
py::object FloatArray(const std::vector<double>& values) {
  const py::bytes bytes(reinterpret_cast<const char*>(values.data()),
                        values.size() * sizeof(double));
  py::object array = py::module_::import("array").attr("array")("d", bytes);
  try {
    return py::module_::import("numpy").attr("asarray")(array);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    return array;
  }
}

}  // namespace pymemrun
