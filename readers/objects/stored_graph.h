// A graph that is not loaded, but read where it lies: in an index.
#ifndef PYMEMRUN_READERS_OBJECTS_STORED_GRAPH_H_
#define PYMEMRUN_READERS_OBJECTS_STORED_GRAPH_H_

#include <cstdint>

#include "readers/columns/mapped_column.h"
#include "readers/objects/node_details.h"

namespace pymemrun {

struct StoredGraph {
  // A row for each node; first_edges has one more.
  MappedColumn addresses, sizes, types, flags, first_edges;
  // A row for each block beside a node; none in older indexes.
  MappedColumn beside_nodes, besides, beside_bytes;
  // A row for each reference.
  MappedColumn targets, kinds, names;
  const StoredDetails* details = nullptr;
  // Of each name of references its text, as those of nodes.
  const StoredDetails* name_texts = nullptr;
  uint32_t name_count = 0;
  uint64_t objects = 0, total_bytes = 0;  // without synthetic nodes
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_STORED_GRAPH_H_
