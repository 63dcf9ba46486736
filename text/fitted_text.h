// Text in columns of a terminal. See ColumnsOf() for what a column is.
#ifndef PYMEMRUN_TEXT_FITTED_TEXT_H_
#define PYMEMRUN_TEXT_FITTED_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace pymemrun {

// What stands between the spaces at which a line may end: a number stays with
// the word behind it, which may be its unit.
std::vector<absl::string_view> UnbrokenWords(absl::string_view text);

// With spaces behind it, or before it, up to so many columns.
std::string PadRight(absl::string_view text, size_t columns);
std::string PadLeft(absl::string_view text, size_t columns);
// A name made harmless, of at most so many columns; dots end what is cut.
std::string CutToColumns(absl::string_view name, size_t columns);

// Of at most so many columns, its end; dots begin what is cut, whole folders if
// that suffices. `path` has been made harmless.
std::string CutPath(absl::string_view path, size_t columns, bool unicode);

// A place or a thread, "load (/a/job.py:16)", "/a/job.py:16 load", "pool#313",
// of at most so many columns. The number is never cut, as it tells rows apart:
// names and paths are. `label` has been made harmless. A label without such a
// number is cut as a path, if it has a folder, or as a name.
std::string CutLabel(absl::string_view label, size_t columns, bool unicode);

// "102 MiB", "2.4 MiB": two or three digits, where a table has more.
std::string ShortBytes(double bytes);
// "33 %".
std::string Percent(double share);

// A path as people write it: below `folder`, or as of the place where packages
// are installed.
std::string ShortPath(absl::string_view path, absl::string_view folder);
// Of other paths the last folder and the file, behind dots.
std::string ShortestPath(absl::string_view path, absl::string_view folder,
                         bool unicode);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_FITTED_TEXT_H_
