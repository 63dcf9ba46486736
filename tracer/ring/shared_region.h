// The shared memory as the traced process makes and maps it: ReplyPage, and
// directly behind it ControlPage with the rings (tracer/wire/ring_layout.h).
#ifndef PYMEMRUN_TRACER_RING_SHARED_REGION_H_
#define PYMEMRUN_TRACER_RING_SHARED_REGION_H_

#include <cstddef>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Descriptors of the two pieces, for the collector. Close-on-exec.
struct RegionFds {
  int region = -1;
  int reply = -1;  // the only writable descriptor of the reply
};

class SharedRegion {
 public:
  // Makes and maps both pieces, the region with or without the side ring. If
  // the file size limit is too low for `sizes`, makes small rings. Returns the
  // control page and sets *fds, which the caller must close. Returns nullptr
  // with errno set on failure. The mapping stays until the process ends.
  //
  // The reply is mapped through a read-only descriptor, so no later call can
  // make that mapping writable. Neither piece can change its size.
  static ControlPage* Create(bool side_ring, RingSizes sizes, RegionFds* fds);

  // Hides the mapping from forked children, which do not use it and must not
  // count it as their memory. Touches everything except the event ring. Returns
  // false with errno set on failure.
  static bool KeepToOurselves(ControlPage* page);
  // Shares the page of ChildCounts with forked children. Returns false where
  // pages are too large for that.
  static bool ShareChildCounts(ControlPage* page);

  // Makes and maps the pages of the event ring. Call this or MapEventRing()
  // before the first event.
  static void TouchEventRing(ControlPage* page);
  // The same, if the collector may have made the pages already: maps them, and
  // makes missing ones.
  static void MapEventRing(ControlPage* page);

  // Size of the whole mapping in bytes, from ReplyOf() on.
  static size_t mapped_bytes();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RING_SHARED_REGION_H_
