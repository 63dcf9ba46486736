// What kind of memory a page is, by the name of what it is part of.
#ifndef PYMEMRUN_READERS_RESIDENT_PAGE_KIND_H_
#define PYMEMRUN_READERS_RESIDENT_PAGE_KIND_H_

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

enum class PageKind { kFile, kStack, kAnonymous };

// `mapping`: RunIndex::MappingName().
inline PageKind KindOf(absl::string_view mapping) {
  if (absl::StartsWith(mapping, "[stack")) return PageKind::kStack;
  const bool is_file =
      absl::StartsWith(mapping, "/") && !absl::StartsWith(mapping, "/dev/zero");
  return is_file || mapping == "[vdso]" ? PageKind::kFile
                                        : PageKind::kAnonymous;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_PAGE_KIND_H_
