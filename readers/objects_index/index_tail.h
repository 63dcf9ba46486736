// The end of an index file, which says where all else is in it.
#ifndef PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_TAIL_H_
#define PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_TAIL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "format/objects_index.pb.h"

namespace pymemrun {

void AppendIndexTail(const ObjectsIndex& index, std::string* bytes);
// Of a whole file. Fails with what is wrong, and where.
absl::StatusOr<ObjectsIndex> ReadIndexTail(absl::string_view file);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_TAIL_H_
