// Which place each page owner is charged to: a line, a function, a file, a
// thread, or the file whose instruction touched the page.
#ifndef PYMEMRUN_READERS_RESIDENT_PLACES_H_
#define PYMEMRUN_READERS_RESIDENT_PLACES_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "readers/resident_replay.h"

namespace pymemrun {

enum class ResidentBy {
  kLine,
  kFunction,
  kFile,
  kThread,
  kModule,
  kMapping,  // what the page is part of: not the owner's, but the page's
};

// "line", "function", "file", "thread", "module", "mapping"; false for anything
// else.
bool ParseResidentBy(absl::string_view name, ResidentBy* by);

// What pages that were there before tracing are charged to.
inline constexpr absl::string_view kBeforeTracing = "<before tracing>";
// Memory that is part of no file and has no name.
inline constexpr absl::string_view kAnonymous = "<anonymous>";

// Its names live as long as the index.
struct ResidentPlace {
  absl::string_view file;  // or the only name of a place that has no line
  uint32_t line = 0;       // kLine; of kFunction the first; else 0
  absl::string_view function;

  friend bool operator==(const ResidentPlace& a, const ResidentPlace& b) {
    return a.line == b.line && a.file == b.file && a.function == b.function;
  }
  friend bool operator<(const ResidentPlace& a, const ResidentPlace& b) {
    return std::tie(a.file, a.line, a.function) <
           std::tie(b.file, b.line, b.function);
  }
  template <typename H>
  friend H AbslHashValue(H h, const ResidentPlace& place) {
    return H::combine(std::move(h), place.file, place.line, place.function);
  }
};

// The place of a stack's innermost frame. REQUIRES: kLine, kFunction, kFile.
ResidentPlace PlaceOfStack(ResidentBy by, const RunIndex& index,
                           uint32_t stack);
// A mapping's name for people.
absl::string_view ShownMapping(const RunIndex& index, uint32_t mapping);

// Places of owners, each once and numbered. Number 0 is kBeforeTracing. Not
// thread safe; the replay must outlive it.
class OwnerPlaces {
 public:
  // REQUIRES: not kMapping.
  OwnerPlaces(ResidentBy by, const ResidentReplay* replay);
  // REQUIRES: `owner` is one of the model's, and not 0.
  uint32_t NumberOf(uint32_t owner);
  const std::vector<ResidentPlace>& places() const { return places_; }

 private:
  ResidentPlace PlaceOf(const PageOwner& owner) const;

  const ResidentBy by_;
  const ResidentReplay& replay_;
  std::vector<ResidentPlace> places_;
  absl::flat_hash_map<ResidentPlace, uint32_t> numbers_;
  std::vector<uint32_t> by_owner_;  // number + 1; 0: not asked for yet
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_PLACES_H_
