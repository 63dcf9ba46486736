// Macros that return a failed Status to the caller. This version of Abseil has
// none. Include it only in .cc files.
#ifndef PYMEMRUN_FORMAT_STREAM_STATUS_UTIL_H_
#define PYMEMRUN_FORMAT_STREAM_STATUS_UTIL_H_

#include <cstdint>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace pymemrun {

// Returns the same error with the file offset in bytes in its message.
inline absl::Status AtOffset(uint64_t offset, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("byte ", offset, ": ", status.message()));
}

}  // namespace pymemrun

#define PYMEMRUN_CONCAT_INNER_(a, b) a##b
#define PYMEMRUN_CONCAT_(a, b) PYMEMRUN_CONCAT_INNER_(a, b)

// Returns from the calling function when `expression`, a Status, is not OK.
#define RETURN_IF_ERROR(expression)               \
  do {                                            \
    if (absl::Status status_or_ok = (expression); \
        ABSL_PREDICT_FALSE(!status_or_ok.ok())) { \
      return status_or_ok;                        \
    }                                             \
  } while (false)

// Gives `target` (a declaration or an lvalue) the value of `expression`, a
// StatusOr, or returns its Status from the calling function.
#define ASSIGN_OR_RETURN(target, expression)                               \
  PYMEMRUN_ASSIGN_OR_RETURN_(PYMEMRUN_CONCAT_(status_or_value_, __LINE__), \
                             target, expression)
#define PYMEMRUN_ASSIGN_OR_RETURN_(temporary, target, expression) \
  auto temporary = (expression);                                  \
  if (ABSL_PREDICT_FALSE(!temporary.ok())) {                      \
    return std::move(temporary).status();                         \
  }                                                               \
  target = *std::move(temporary)

#endif  // PYMEMRUN_FORMAT_STREAM_STATUS_UTIL_H_
