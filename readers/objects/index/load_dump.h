// Loads a dump for a command: through its index if there is one, otherwise
// whole.
#ifndef PYMEMRUN_READERS_OBJECTS_INDEX_LOAD_DUMP_H_
#define PYMEMRUN_READERS_OBJECTS_INDEX_LOAD_DUMP_H_

#include <memory>
#include <string>
#include <vector>

#include "readers/objects/findings/analysis.h"
#include "readers/run/console.h"

namespace pymemrun {

// The dumps in a folder, those of one run in the order of their numbers. For
// any other path, and a folder without dumps: the path.
std::vector<std::string> DumpsOf(const std::string& path);

// The message for a folder without dumps.
inline constexpr char kNoDumps[] =
    "expected dumps (*.obj.pb) in this folder, found none";

// The default path of a dump's index: "run.obj.pb.idx".
std::string IndexPath(const std::string& dump);

// Like LoadObjects(). `index`: the index to use; empty: none. If it does not
// fit the dump, prints that and loads the dump. If the file is missing, prints
// that only if it `is_named`.
std::unique_ptr<ObjectAnalysis> LoadDump(const std::string& path,
                                         const std::string& index,
                                         bool is_named, bool details,
                                         const Console& console, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_INDEX_LOAD_DUMP_H_
