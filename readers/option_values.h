// Values of command line options, from text. Used by the readers' mains.
#ifndef PYMEMRUN_READERS_OPTION_VALUES_H_
#define PYMEMRUN_READERS_OPTION_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "readers/row_filter.h"

namespace pymemrun {

// "4096", "4KiB", "1M", "1.5GiB", see ParseSize().
absl::StatusOr<uint64_t> ParseBytes(absl::string_view text);

// Seconds, not negative, as microseconds: "0.684542".
absl::StatusOr<uint64_t> ParseSeconds(absl::string_view text);

// "call,c_return,mark", letters of any case, as FilterOptions::kinds.
absl::StatusOr<uint32_t> ParseKinds(absl::string_view list);

// "calls,marks,heap" into options->calls, marks and extra.
absl::Status ParseRecords(absl::string_view list, FilterOptions* options);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OPTION_VALUES_H_
