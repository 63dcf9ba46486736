#include "readers/resident_places.h"

#include <algorithm>

namespace pymemrun {

bool ParseResidentBy(absl::string_view name, ResidentBy* by) {
  static constexpr absl::string_view kNames[] = {
      "line", "function", "file", "thread", "module", "mapping"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return false;
  *by = static_cast<ResidentBy>(found - std::begin(kNames));
  return true;
}

ResidentPlace PlaceOfStack(ResidentBy by, const RunIndex& index,
                           uint32_t stack) {
  const Place where = index.ResolveStack(stack);
  ResidentPlace place;
  place.file = where.file;
  if (by == ResidentBy::kFile) {
    // What is no Python code has a name for itself.
    if (place.file.empty()) place.file = where.code_name;
    return place;
  }
  place.line = by == ResidentBy::kLine ? where.line : where.first_line;
  place.function = where.code_name;
  return place;
}

absl::string_view ShownMapping(const RunIndex& index, uint32_t mapping) {
  const absl::string_view name = index.MappingName(mapping);
  return name.empty() ? kAnonymous : name;
}

OwnerPlaces::OwnerPlaces(ResidentBy by, const ResidentReplay* replay)
    : by_(by), replay_(*replay), places_(1) {
  places_[0].file = kBeforeTracing;
}

ResidentPlace OwnerPlaces::PlaceOf(const PageOwner& owner) const {
  const RunIndex& index = replay_.index();
  ResidentPlace place;
  switch (by_) {
    case ResidentBy::kThread:
      place.file = index.ThreadLabel(owner.thread);
      return place;
    case ResidentBy::kModule:
      place.file = ShownMapping(index, owner.code_mapping);
      return place;
    default:
      return PlaceOfStack(by_, index, owner.stack);
  }
}

uint32_t OwnerPlaces::NumberOf(uint32_t owner) {
  const auto& owners = replay_.model().owners();
  if (owner >= by_owner_.size()) by_owner_.resize(owners.size());
  uint32_t& known = by_owner_[owner];
  if (known != 0) return known - 1;
  uint32_t number = 0;
  if (!owners[owner].before_tracing()) {
    const ResidentPlace place = PlaceOf(owners[owner]);
    const auto next = static_cast<uint32_t>(places_.size());
    const auto [found, is_new] = numbers_.emplace(place, next);
    if (is_new) places_.push_back(place);
    number = found->second;
  }
  known = number + 1;
  return number;
}

}  // namespace pymemrun
