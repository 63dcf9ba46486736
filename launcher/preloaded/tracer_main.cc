// The first of our code to run in an interpreter that this shared object is
// preloaded into: libc's function that calls main.
#include <dlfcn.h>

#include "launcher/preloaded/preloaded_run.h"

namespace {

using pymemrun::ProgramMain;
using Start = int(ProgramMain*, int, char**, void (*)(), void (*)(), void (*)(),
                  void*);

ProgramMain* g_program = nullptr;

int Main(int argc, char** argv, char** environment) {
  return pymemrun::RunPreloadedMain(g_program, argc, argv, environment);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int __libc_start_main(
    ProgramMain* program, int argc, char** argv, void (*init)(), void (*fini)(),
    void (*rtld_fini)(), void* stack_end) {
  auto* const start =
      reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "__libc_start_main"));
  g_program = program;
  return start(Main, argc, argv, init, fini, rtld_fini, stack_end);
}
