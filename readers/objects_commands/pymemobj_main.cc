// pymemobj: what is in a dump of the object graph, and what keeps it alive.
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "format/stream/byte_io.h"
#include "readers/objects_commands/pymemobj.h"
#include "readers/options/out_of_memory.h"

int main(int argc, char** argv) {
  pymemrun::EndPlainlyWithoutMemory("pymemobj");
  signal(SIGPIPE, SIG_IGN);  // a reader that has gone is seen as EPIPE
  pymemrun::FdSink out(STDOUT_FILENO);
  const pymemrun::Console console = {"pymemobj", &out};
  return pymemrun::RunPymemobj(
      std::vector<std::string>(argv + (argc > 0), argv + argc), console);
}
