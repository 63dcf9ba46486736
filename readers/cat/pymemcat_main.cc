// pymemcat: prints run files.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "format/stream/byte_io.h"
#include "readers/cat/pymemcat.h"
#include "readers/options/out_of_memory.h"

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void OnInterrupt(int) {
  // The second one ends the program in the usual way.
  interrupted = true;
  signal(SIGINT, SIG_DFL);
}

}  // namespace

int main(int argc, char** argv) {
  pymemrun::EndPlainlyWithoutMemory("pymemcat");
  signal(SIGPIPE, SIG_IGN);  // a reader that has gone is seen as EPIPE
  signal(SIGXFSZ, SIG_IGN);  // and a limit on the size of files as EFBIG
  const std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
  for (const std::string& argument : arguments) {
    if (argument == "--follow") signal(SIGINT, OnInterrupt);
  }
  pymemrun::FdSink out(STDOUT_FILENO);
  const pymemrun::Console console = {"pymemcat", &out};
  return pymemrun::RunPymemcat(arguments, console, &interrupted);
}
