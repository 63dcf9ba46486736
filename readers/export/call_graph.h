// Live blocks as a graph of callers and callees, for Graphviz: `pymemreport
// export --format dot`.
#ifndef PYMEMRUN_READERS_EXPORT_CALL_GRAPH_H_
#define PYMEMRUN_READERS_EXPORT_CALL_GRAPH_H_

#include <string>

#include "readers/heap/heap_replay.h"

namespace pymemrun {

// A node for each function and an arrow for each pair of caller and callee that
// have no small share of the bytes. Bytes of a recursion count once.
std::string CallGraphDot(const HeapMoments& replay);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_CALL_GRAPH_H_
