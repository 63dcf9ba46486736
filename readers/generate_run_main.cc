// pymemrun-generate ROWS: writes a run file of that many rows to stdout;
// pymemrun-generate --heap EVENTS: of that many heap events. To measure the
// readers with, and for tests. Not installed.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/byte_io.h"
#include "readers/heap_run_builder.h"
#include "readers/run_builder.h"

int main(int argc, char** argv) {
  pymemrun::FdSink out(STDOUT_FILENO);
  if (argc == 3 && strcmp(argv[1], "--heap") == 0) {
    pymemrun::BuildLargeHeapRun(strtoull(argv[2], nullptr, 10), &out);
    return 0;
  }
  if (argc != 2) return 2;
  pymemrun::BuildLargeRun(strtoull(argv[1], nullptr, 10), &out);
  return 0;
}
