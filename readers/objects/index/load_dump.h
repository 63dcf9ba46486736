// A dump for a command: by its index where there is one, else as a whole.
#ifndef PYMEMRUN_READERS_OBJECTS_INDEX_LOAD_DUMP_H_
#define PYMEMRUN_READERS_OBJECTS_INDEX_LOAD_DUMP_H_

#include <memory>
#include <string>
#include <vector>

#include "readers/objects/findings/analysis.h"
#include "readers/run/console.h"

namespace pymemrun {

// Of a folder the dumps in it, those of one run in the order of their numbers;
// else the path alone. So is a folder without any.
std::vector<std::string> DumpsOf(const std::string& path);

// What is wrong with a folder without any.
inline constexpr char kNoDumps[] =
    "expected dumps (*.obj.pb) in this folder, found none";

// Where the index of a dump is, unless it was put elsewhere: "run.obj.pb.idx".
std::string IndexPath(const std::string& dump);

// As LoadObjects(). `index`: the file to use if it is the dump's index; empty:
// none. Where it is not, that is said, and the dump is loaded. That it is not
// there is said if it `is_named`.
std::unique_ptr<ObjectAnalysis> LoadDump(const std::string& path,
                                         const std::string& index,
                                         bool is_named, bool details,
                                         const Console& console, int* code);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_INDEX_LOAD_DUMP_H_
