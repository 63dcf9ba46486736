#include "format/timed/timed_entries.h"

namespace pymemrun {

absl::Status CheckMost(absl::string_view field, const Column64& column,
                       uint64_t most) {
  for (const uint64_t value : column) {
    if (value > most) {
      return WrongColumn(field, absl::StrCat("at most ", most), value);
    }
  }
  return absl::OkStatus();
}

// Steps are unsigned, so the last time is the highest one: only it is compared.
absl::Status CheckTimes(absl::string_view field, uint64_t first_ns,
                        const Column64& steps, uint64_t most_ns) {
  uint64_t time_ns = first_ns;
  RETURN_IF_ERROR(AddAll(field, steps, &time_ns));
  if (time_ns <= most_ns) return absl::OkStatus();
  return WrongColumn(field, absl::StrCat("a time of at most ", most_ns),
                     time_ns);
}

}  // namespace pymemrun
