// pymemobj: what is in a dump of the object graph, and what keeps it alive.
#include "readers/commands/objects/pymemobj.h"

int main(int argc, char** argv) {
  return pymemrun::ProgramMain("pymemobj", argc, argv, &pymemrun::RunPymemobj);
}
