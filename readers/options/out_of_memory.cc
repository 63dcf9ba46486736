#include "readers/options/out_of_memory.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <new>

#include "readers/run/console.h"

namespace pymemrun {
namespace {

const char* g_tool = "";

// Nothing here allocates. Output so far may be cut; the line says why.
[[noreturn]] void End() {
  static constexpr char kLine[] = ": out of memory\n";
  const iovec parts[] = {
      {const_cast<char*>(g_tool), strlen(g_tool)},
      {const_cast<char*>(kLine), sizeof(kLine) - 1},
  };
  if (writev(STDERR_FILENO, parts, 2) < 0) _exit(kExitFailed);
  _exit(kExitFailed);
}

}  // namespace

// operator new calls the handler before it would throw: no other code has to
// handle std::bad_alloc.
void EndPlainlyWithoutMemory(const char* tool) {
  g_tool = tool;
  std::set_new_handler(End);
}

}  // namespace pymemrun
