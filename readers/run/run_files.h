// Which files people mean by a folder, or by one file of a family.
#ifndef PYMEMRUN_READERS_RUN_RUN_FILES_H_
#define PYMEMRUN_READERS_RUN_RUN_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace pymemrun {

// Each folder of `paths` replaced by the names in it that end in ".pb", sorted,
// but those of dumps of the object graph ("run.obj.pb"). All else stays. A folder without any stays too, and cannot be opened.
std::vector<std::string> WithFolders(const std::vector<std::string>& paths);

// Of "a/run.pb": "a/run.pb", and all "a/run.*.pb" that are there, sorted. Such
// are the files of processes that it began, and of earlier runs' processes.
std::vector<std::string> WithChildren(const std::string& path);

// Without those that came before.
std::vector<std::string> EachOnce(const std::vector<std::string>& paths);

// Where the file of the process that began this one's may be: beside it, with
// the parent's number in the name, or with none.
std::vector<std::string> ParentFiles(const std::string& path, uint32_t pid,
                                     uint32_t parent_pid);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_RUN_FILES_H_
