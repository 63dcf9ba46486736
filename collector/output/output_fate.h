// What became of the run file's name while the file was written.
#ifndef PYMEMRUN_COLLECTOR_OUTPUT_OUTPUT_FATE_H_
#define PYMEMRUN_COLLECTOR_OUTPUT_OUTPUT_FATE_H_

#include <string>

#include "format/trace.pb.h"

namespace pymemrun {

struct OutputFate {
  Footer::OutputName name = Footer::OUTPUT_KEPT;
  std::string path;  // where the file is now, as far as that is known
};

// Of the regular file `fd`, which was made at `path`. Where that is no absolute
// path, or nothing can be seen there, the name is taken to be kept.
OutputFate FateOfOutput(int fd, const std::string& path);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OUTPUT_OUTPUT_FATE_H_
