// The ring's wire for files that also see the run file's messages: both name a
// `What` and an `RssSource` in our namespace. The collector needs only the
// numbers of the wire's two, so they step aside under other names here. Every
// file of the collector takes the wire from here and never includes
// tracer/ring_layout.h itself.
#ifndef PYMEMRUN_COLLECTOR_RING_WIRE_H_
#define PYMEMRUN_COLLECTOR_RING_WIRE_H_

#define What WireWhat
#define RssSource WireRssSource
#include "tracer/ring_layout.h"
#undef What
#undef RssSource

#endif  // PYMEMRUN_COLLECTOR_RING_WIRE_H_
