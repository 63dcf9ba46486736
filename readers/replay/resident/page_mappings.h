// The mappings of resident pages: a file, the heap, a stack. Used by everything
// that distinguishes pages by them.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_MAPPINGS_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_MAPPINGS_H_

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// What kind of memory a page is.
enum class PageKind { kFile, kStack, kAnonymous };

// `mapping`: RunIndex::MappingName().
inline PageKind KindOf(absl::string_view mapping) {
  if (absl::StartsWith(mapping, "[stack")) return PageKind::kStack;
  const bool is_file =
      absl::StartsWith(mapping, "/") && !absl::StartsWith(mapping, "/dev/zero");
  return is_file || mapping == "[vdso]" ? PageKind::kFile
                                        : PageKind::kAnonymous;
}

// Finds the mappings of pages. To be asked in ascending order of pages. Not
// thread safe. The replay must outlive it.
class PageMappings {
 public:
  explicit PageMappings(const ResidentReplay& replay)
      : ranges_(replay.model().ranges()), later_(replay.later_ranges()) {}

  // The MappingDef.id of a page with this owner; 0: unknown.
  uint32_t Of(uint64_t page, const PageOwner& owner) {
    const ResidentRange* range = ranges_.Find(page);
    const ResidentRange* later_range = later_.Find(page);
    if (owner.before_tracing()) return owner.mapping;
    if (range != nullptr) return range->mapping;
    // The page came after the last Residency.
    if (owner.mapping != 0 || later_range == nullptr) return owner.mapping;
    return later_range->mapping;
  }
  // Whether a page of a private file mapping has been copied by a write: the
  // kernel says that it is not backed by the file.
  bool IsCopied(uint64_t page, const PageOwner& owner) {
    if (owner.before_tracing()) return false;
    const ResidentRange* range = ranges_.Find(page);
    if (range == nullptr) range = later_.Find(page);
    return range != nullptr && !range->file_backed;
  }
  // The page up to which Of() and IsCopied() return the same as for `page`.
  uint64_t End(uint64_t page) const {
    return std::min(ranges_.End(page), later_.End(page));
  }

 private:
  RangeCursor ranges_, later_;
};

// Calls `visit(pages, owner, mapping, copied)` for each run of adjacent pages
// that agree in these, by ascending address. Pages: a PageMap::Range. Copied:
// see IsCopied(); it is meaningful only for pages of files.
template <typename Visit>
void ForEachPart(const ResidentReplay& replay, Visit visit) {
  PageMappings mappings(replay);
  replay.model().pages().ForEach([&](const PageMap::Run& run) {
    const PageOwner& owner = replay.model().owners()[run.owner];
    for (uint64_t page = run.begin; page < run.end;) {
      const uint32_t mapping = mappings.Of(page, owner);
      const uint64_t end = std::min(run.end, mappings.End(page));
      visit(PageMap::Range{page, end}, run.owner, mapping,
            mappings.IsCopied(page, owner));
      page = end;
    }
  });
}
// The same without `copied`.
template <typename Visit>
void ForEachMapped(const ResidentReplay& replay, Visit visit) {
  ForEachPart(replay, [&visit](const PageMap::Range& range, uint32_t owner,
                               uint32_t mapping,
                               bool) { visit(range, owner, mapping); });
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_MAPPINGS_H_
