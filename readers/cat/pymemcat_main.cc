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
  // The second signal ends the program as usual.
  interrupted = true;
  signal(SIGINT, SIG_DFL);
}

}  // namespace

int main(int argc, char** argv) {
  pymemrun::EndPlainlyWithoutMemory("pymemcat");
  // Writing then fails with EPIPE when the receiver has gone.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // and with EFBIG at a limit of file sizes
  const std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
  for (const std::string& argument : arguments) {
    if (argument == "--follow") signal(SIGINT, OnInterrupt);
  }
  pymemrun::FdSink out(STDOUT_FILENO);
  const pymemrun::Console console = {"pymemcat", &out};
  return pymemrun::RunPymemcat(arguments, console, &interrupted);
}
