#include "readers/replay/calls/call_filter.h"

#include "readers/run/own_code.h"

namespace pymemrun {

bool CallFilter::KeepsSite(uint32_t site) {
  if (!view_.chooses_places() && !OwnCode::HasPatterns()) return true;
  if (site == 0 || site > index_.sites()) return false;
  if (site >= sites_.size()) sites_.resize(index_.sites() + 1);
  char& known = sites_[site];
  if (known == 0) {
    const SourceLocation where = index_.Resolve(site);
    const bool is_wanted = view_.Lists(where.file, where.function) &&
                           (!OwnCode::HasPatterns() ||
                            OwnCode::KindOf(where.file) == OwnCode::kOwn);
    known = is_wanted ? 2 : 1;
  }
  return known == 2;
}

}  // namespace pymemrun
