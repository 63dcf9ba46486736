// Lists of words on pymemcat's command line: which rows and records to print.
#ifndef PYMEMRUN_READERS_CAT_FILTER_WORDS_H_
#define PYMEMRUN_READERS_CAT_FILTER_WORDS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "readers/cat/row_filter.h"

namespace pymemrun {

// "call,c_return,mark", letters of any case, as FilterOptions::kinds.
absl::StatusOr<uint32_t> ParseKinds(absl::string_view list);

// "calls,marks,heap" into options->calls, marks and extra.
absl::Status ParseRecords(absl::string_view list, FilterOptions* options);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_FILTER_WORDS_H_
