#include "readers/calls/call_filter.h"

#include "readers/run/own_code.h"

namespace pymemrun {

bool CallFilter::KeepsSite(uint32_t site) {
  if (!view_.chooses_files() && !OwnCode::HasPatterns()) return true;
  if (site == 0 || site > index_.sites()) return false;
  if (site >= sites_.size()) sites_.resize(index_.sites() + 1);
  char& known = sites_[site];
  if (known == 0) {
    const absl::string_view file = index_.Resolve(site).file;
    const bool is_wanted =
        view_.Lists(file) &&
        (!OwnCode::HasPatterns() || OwnCode::KindOf(file) == OwnCode::kOwn);
    known = is_wanted ? 2 : 1;
  }
  return known == 2;
}

}  // namespace pymemrun
