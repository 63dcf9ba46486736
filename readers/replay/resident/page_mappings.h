// What resident pages are part of: a file, the heap, a stack. Used by whatever
// tells pages apart by that.
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

// Asked in the order of addresses. Not thread safe; the replay must outlive it.
class PageMappings {
 public:
  explicit PageMappings(const ResidentReplay& replay)
      : ranges_(replay.model().ranges()), later_(replay.later_ranges()) {}

  // The MappingDef.id of a page with that owner; 0: it is not known.
  uint32_t Of(uint64_t page, const PageOwner& owner) {
    const ResidentRange* range = ranges_.Find(page);
    const ResidentRange* later_range = later_.Find(page);
    if (owner.before_tracing()) return owner.mapping;
    if (range != nullptr) return range->mapping;
    // The kernel was not asked while it was there.
    if (owner.mapping != 0 || later_range == nullptr) return owner.mapping;
    return later_range->mapping;
  }
  // Whether the page is of a private mapping of a file, and the kernel said
  // that it is not of the file: it was copied when it was written.
  bool IsCopied(uint64_t page, const PageOwner& owner) {
    if (owner.before_tracing()) return false;
    const ResidentRange* range = ranges_.Find(page);
    if (range == nullptr) range = later_.Find(page);
    return range != nullptr && !range->file_backed;
  }
  // Up to where Of() gives what it gave last, of this page.
  uint64_t End(uint64_t page) const {
    return std::min(ranges_.End(page), later_.End(page));
  }

 private:
  RangeCursor ranges_, later_;
};

// Calls `visit(pages, owner, mapping, copied)` for pages side by side that have
// these in common, in the order of addresses. Pages: a PageMap::Range; copied:
// see IsCopied(), which says something of pages of files alone.
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
// Without `copied`.
template <typename Visit>
void ForEachMapped(const ResidentReplay& replay, Visit visit) {
  ForEachPart(replay, [&visit](const PageMap::Range& range, uint32_t owner,
                               uint32_t mapping,
                               bool) { visit(range, owner, mapping); });
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_MAPPINGS_H_
