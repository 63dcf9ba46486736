// pymemreport: answers from run files.
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "format/stream/byte_io.h"
#include "readers/report/pymemreport.h"
#include "readers/options/out_of_memory.h"

int main(int argc, char** argv) {
  pymemrun::EndPlainlyWithoutMemory("pymemreport");
  signal(SIGPIPE, SIG_IGN);  // a reader that has gone is seen as EPIPE
  pymemrun::FdSink out(STDOUT_FILENO);
  const pymemrun::Console console = {"pymemreport", &out};
  return pymemrun::RunPymemreport(
      std::vector<std::string>(argv + (argc > 0), argv + argc), console);
}
