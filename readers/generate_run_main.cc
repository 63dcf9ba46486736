// pymemrun-generate ROWS: writes a run file of that many rows to stdout, to
// measure the readers with. Not installed.
#include <stdlib.h>
#include <unistd.h>

#include "format/byte_io.h"
#include "readers/run_builder.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  pymemrun::FdSink out(STDOUT_FILENO);
  pymemrun::BuildLargeRun(strtoull(argv[1], nullptr, 10), &out);
  return 0;
}
