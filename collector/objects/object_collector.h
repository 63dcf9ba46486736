// The process that writes a dump: from the child's pipe to the file.
#ifndef PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_COLLECTOR_H_
#define PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_COLLECTOR_H_

namespace pymemrun {

struct ObjectFds {
  int pipe;
  int output;
  int status;
};

// Where a dump takes the place of an earlier one.
struct DumpPlace {
  const char* file;      // its own path; null: it takes none
  const char* replaces;  // the earlier one's
};

// Reads until the pipe ends, writes the file and tells the traced process.
// `walker`: a pidfd of the child, or -1; it is killed where it goes on without
// a word, or where its words make no sense. A dump that is complete takes its
// place. Returns the process's exit status.
int CollectObjects(const ObjectFds& fds, const DumpPlace& place, int walker,
                   int silent_ms);

// The whole of `pymemrun-collector --objects [FILE REPLACES]`.
int RunObjectCollector(const DumpPlace& place);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OBJECTS_OBJECT_COLLECTOR_H_
