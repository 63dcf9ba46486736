// The memory that the traced process and the collector share, as the traced
// process makes and maps it: ReplyPage, then right behind it ControlPage with
// the rings (tracer/ring_layout.h).
#ifndef PYMEMRUN_TRACER_RING_SHARED_REGION_H_
#define PYMEMRUN_TRACER_RING_SHARED_REGION_H_

#include <cstddef>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Close-on-exec descriptors of the two pieces, for the collector.
struct RegionFds {
  int region = -1;
  int reply = -1;  // the only one by which the reply can be written
};

class SharedRegion {
 public:
  // Makes and maps both pieces, the region with the side ring or without; its
  // rings are of those sizes or, where files may not be as large, small.
  // On success returns it and sets *fds, which are the caller's. On failure
  // returns nullptr, errno tells why. What is mapped stays.
  //
  // The reply is mapped through a descriptor that reads: no later call can make
  // that mapping writable. Neither piece can change its size.
  static ControlPage* Create(bool side_ring, RingSizes sizes, RegionFds* fds);

  // A forked child has no use for it and must not count it as its memory.
  // False, errno set, when it cannot be kept from children. Touches all but the
  // event ring.
  static bool KeepToOurselves(ControlPage* page);
  // Forked children have its ChildCounts, all the same. Returns whether they
  // do: not so where pages are large.
  static bool ShareChildCounts(ControlPage* page);

  // Before the first event, one of these has the event ring's pages mapped.
  // Makes them.
  static void TouchEventRing(ControlPage* page);
  // The collector has made them meanwhile, or the call makes those missing.
  static void MapEventRing(ControlPage* page);

  // From ReplyOf() on.
  static size_t mapped_bytes();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RING_SHARED_REGION_H_
