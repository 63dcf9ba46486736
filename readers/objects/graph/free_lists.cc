#include "readers/objects/graph/free_lists.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace pymemrun {
namespace {

// Minor versions of CPython 3 that keep freed objects of the type. CPython 3.14
// has its lists in pycore_freelist_state.h, older versions mostly in the types'
// own files.
constexpr int kAnyVersion = 0, kLatest = 1000;
constexpr struct {
  absl::string_view type;
  int first, last;
} kLists[] = {
    {"Context", kAnyVersion, kLatest},
    {"MemoryError", kAnyVersion, kLatest},
    {"_asyncio.FutureIter", kAnyVersion, kLatest},
    {"_contextvars.Context", kAnyVersion, kLatest},
    {"async_generator_asend", kAnyVersion, kLatest},
    {"async_generator_wrapped_value", kAnyVersion, kLatest},
    {"builtin_function_or_method", 14, kLatest},
    {"builtin_method", 14, kLatest},
    {"complex", 14, kLatest},
    {"dict", kAnyVersion, kLatest},
    {"float", kAnyVersion, kLatest},
    {"frame", kAnyVersion, 10},
    {"int", 14, kLatest},
    {"list", kAnyVersion, kLatest},
    {"list_iterator", 14, kLatest},
    {"method", 14, kLatest},
    {"range", 14, kLatest},
    {"range_iterator", 14, kLatest},
    {"slice", kAnyVersion, kLatest},
    {"tuple", kAnyVersion, kLatest},
    {"tuple_iterator", 14, kLatest},
};

// 11 for "3.11.2 (main)"; other interpreters have no known lists.
bool HasList(absl::string_view type, absl::string_view python_version) {
  int minor = 0;
  const bool is_known =
      absl::ConsumePrefix(&python_version, "3.") &&
      absl::SimpleAtoi(python_version.substr(0, python_version.find('.')),
                       &minor);
  return std::any_of(
      std::begin(kLists), std::end(kLists), [&](const auto& list) {
        return list.type == type &&
               (!is_known || (list.first <= minor && minor <= list.last));
      });
}

}  // namespace

FreeLists::FreeLists(const ObjectGraph* graph) : graph_(*graph) {
  for (uint32_t type = 0; type < graph->types().size(); ++type) {
    types_.push_back(HasList(graph->type_name(type),
                             graph->facts().header.python_version()));
  }
}

// PyTuple_MAXSAVESIZE is 20: a tuple with more items is freed at once.
bool FreeLists::MayHold(NodeId node) const {
  constexpr uint64_t kMostItems = 20;  // longer tuples have no free list
  const uint32_t type = graph_.type(node);
  return types_[type] &&
         (graph_.type_name(type) != "tuple" ||
          graph_.details(node).length.value_or(0) <= kMostItems);
}

bool FreeLists::MayHoldBeside(NodeId node, const BesideBlock& beside) const {
  // The smallest tables of dicts, and small arrays of numpy.
  constexpr uint64_t kMostTableBytes = 168, kMostDataBytes = 1024;
  const std::string& type = graph_.type_name(graph_.type(node));
  if (type == "dict") return beside.bytes <= kMostTableBytes;
  return type == "numpy.ndarray" && beside.bytes <= kMostDataBytes;
}

}  // namespace pymemrun
