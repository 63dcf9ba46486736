// pymemrun-generate ROWS: writes a run file of that many rows to stdout;
// pymemrun-generate --heap EVENTS: of that many heap events; --objects NODES:
// an object dump of that many nodes; pymemrun-generate
// --hostile NAME COUNT: one of hostile_run_builder.h; --hostile: their names;
// --growing NAME COUNT and --growing: likewise of growing_run_builder.h;
// --graph: an object dump of the graph that stdin describes.
// To measure the readers with, and for tests. Not installed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <iostream>

#include "format/stream/byte_io.h"
#include "readers/testing/growing_run_builder.h"
#include "readers/testing/heap_run_builder.h"
#include "readers/testing/hostile_run_builder.h"
#include "readers/testing/large_object_run_builder.h"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/run_builder.h"

int main(int argc, char** argv) {
  pymemrun::FdSink out(STDOUT_FILENO);
  if (argc == 3 && strcmp(argv[1], "--heap") == 0) {
    pymemrun::BuildLargeHeapRun(strtoull(argv[2], nullptr, 10), &out);
    return 0;
  }
  if (argc == 3 && strcmp(argv[1], "--objects") == 0) {
    pymemrun::BuildLargeObjectRun(strtoull(argv[2], nullptr, 10), &out);
    return 0;
  }
  if (argc == 4 && strcmp(argv[1], "--hostile") == 0) {
    const uint64_t count = strtoull(argv[3], nullptr, 10);
    return pymemrun::BuildHostileRun(argv[2], count, &out) ? 0 : 2;
  }
  if (argc == 4 && strcmp(argv[1], "--growing") == 0) {
    const uint64_t count = strtoull(argv[3], nullptr, 10);
    return pymemrun::BuildGrowingRun(argv[2], count, &out) ? 0 : 2;
  }
  if (argc != 2) return 2;
  if (strcmp(argv[1], "--graph") == 0) {
    return pymemrun::BuildDescribedGraph(&std::cin, &out).ok() ? 0 : 1;
  }
  if (strcmp(argv[1], "--growing") == 0) {
    for (const auto& name : pymemrun::GrowingRunNames()) puts(name.c_str());
    return 0;
  }
  if (strcmp(argv[1], "--hostile") == 0) {
    for (const auto& name : pymemrun::HostileRunNames()) puts(name.c_str());
    return 0;
  }
  pymemrun::BuildLargeRun(strtoull(argv[1], nullptr, 10), &out);
  return 0;
}
