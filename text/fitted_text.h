// Fits text into the columns of a terminal. ColumnsOf() counts columns.
#ifndef PYMEMRUN_TEXT_FITTED_TEXT_H_
#define PYMEMRUN_TEXT_FITTED_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace pymemrun {

// The parts between the spaces at which a line may be broken: a number stays
// with the next word, which may be its unit.
std::vector<absl::string_view> UnbrokenWords(absl::string_view text);

// The text with spaces after or before it, up to `columns`.
std::string PadRight(absl::string_view text, size_t columns);
std::string PadLeft(absl::string_view text, size_t columns);
// A name, escaped and cut to `columns`; dots mark the cut.
std::string CutToColumns(absl::string_view name, size_t columns);

// The end of a path, cut to `columns`, by whole folders if possible; dots mark
// the cut. REQUIRES: `path` was escaped.
std::string CutPath(absl::string_view path, size_t columns, bool unicode);

// A place or a thread, "load (/a/job.py:16)", "/a/job.py:16 load", "pool#313",
// cut to `columns`. Names and paths are cut, but not the number, which
// distinguishes rows. Without a number it is cut like a path if it has a
// folder, otherwise like a name. REQUIRES: `label` was escaped.
std::string CutLabel(absl::string_view label, size_t columns, bool unicode);

// "102 MiB", "2.4 MiB": two or three digits; tables have more.
std::string ShortBytes(double bytes);
// "33 %".
std::string Percent(double share);

// A path relative to `folder`, or to the folder of installed packages.
std::string ShortPath(absl::string_view path, absl::string_view folder);
// As ShortPath(), but a path in neither folder is cut to dots, its last folder
// and its file.
std::string ShortestPath(absl::string_view path, absl::string_view folder,
                         bool unicode);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_FITTED_TEXT_H_
