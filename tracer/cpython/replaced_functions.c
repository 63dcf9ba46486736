#define _GNU_SOURCE
#include "tracer/cpython/replaced_functions.h"

#ifdef PYMEMRUN_PRELOADED
#include <Python.h>
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if PY_VERSION_HEX < 0x030C0000 && defined(__x86_64__)
#define REPLACES 1

// jmp *0(%rip), and the address.
struct __attribute__((packed)) Jump {
  uint8_t instruction[6];
  const void* to;
};

// Returns 0 where the system does not let us write there.
static int Replace(const char* name, const void* ours) {
  char* function = (char*)dlsym(RTLD_DEFAULT, name);
  Dl_info info;
  ElfW(Sym)* symbol = NULL;
  if (function == NULL ||
      dladdr1(function, &info, (void**)&symbol, RTLD_DL_SYMENT) == 0 ||
      symbol == NULL) {
    return 0;
  }
  size_t room = symbol->st_size;
  static const uint8_t kEndbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (memcmp(function, kEndbr64, sizeof kEndbr64) == 0) {
    function += sizeof kEndbr64;  // where indirect calls may arrive
    room -= sizeof kEndbr64;
  }
  if (room < sizeof(struct Jump) || room > symbol->st_size) return 0;
  const struct Jump jump = {{0xff, 0x25, 0, 0, 0, 0}, ours};
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t begin = (uintptr_t)function & ~(page - 1);
  const uintptr_t end =
      ((uintptr_t)function + sizeof jump + page - 1) & ~(page - 1);
  if (mprotect((void*)begin, end - begin, PROT_READ | PROT_WRITE) != 0) {
    return 0;
  }
  memcpy(function, &jump, sizeof jump);
  return mprotect((void*)begin, end - begin, PROT_READ | PROT_EXEC) == 0;
}

int _PyEval_SetProfile(PyThreadState* tstate, Py_tracefunc func, PyObject* arg);
#if PY_VERSION_HEX >= 0x030B0000
void _PyEval_SignalReceived(PyInterpreterState* interp);
void _PyEval_SignalAsyncExc(PyInterpreterState* interp);
#endif
#endif  // versions and machines

void PymemrunReplaceFunctions(void) {
#ifdef REPLACES
  Replace("_PyEval_SetProfile", (const void*)_PyEval_SetProfile);
#if PY_VERSION_HEX >= 0x030B0000
  Replace("_PyEval_SignalReceived", (const void*)_PyEval_SignalReceived);
  Replace("_PyEval_SignalAsyncExc", (const void*)_PyEval_SignalAsyncExc);
#endif
#endif
}
#endif  // PYMEMRUN_PRELOADED
