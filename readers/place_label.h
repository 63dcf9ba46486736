// A place in one line, for legends and column names.
#ifndef PYMEMRUN_READERS_PLACE_LABEL_H_
#define PYMEMRUN_READERS_PLACE_LABEL_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "readers/resident_places.h"

namespace pymemrun {

// "/job.py:5 load", "/job.py", "worker#4712".
inline std::string LabelOf(const ResidentPlace& place) {
  std::string label(place.file);
  if (place.line != 0) absl::StrAppend(&label, ":", place.line);
  if (!place.function.empty()) {
    absl::StrAppend(&label, label.empty() ? "" : " ", place.function);
  }
  return label;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACE_LABEL_H_
