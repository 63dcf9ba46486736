// The run files that a folder, or one file of a family, stands for.
#ifndef PYMEMRUN_READERS_RUN_RUN_FILES_H_
#define PYMEMRUN_READERS_RUN_RUN_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace pymemrun {

// Replaces each folder of `paths` by its ".pb" files, sorted, except dumps of
// the object graph ("run.obj.pb"). Other paths stay. So does a folder without
// such files, which then fails to open.
std::vector<std::string> WithFolders(const std::vector<std::string>& paths);

// For "a/run.pb": the file, and all existing "a/run.*.pb", sorted. These are
// the files of processes that it started, and of processes of earlier runs.
std::vector<std::string> WithChildren(const std::string& path);

// Removes repeated paths.
std::vector<std::string> EachOnce(const std::vector<std::string>& paths);

// Where the file of the process that started this one may be: in the same
// folder, with the parent's pid in its name, or without one.
std::vector<std::string> ParentFiles(const std::string& path, uint32_t pid,
                                     uint32_t parent_pid);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_RUN_FILES_H_
