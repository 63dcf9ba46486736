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

#if PY_VERSION_HEX < 0x030C0000
#ifdef __x86_64__
#define REPLACES 1
static const uint8_t kJumpBehind[6] = {0xff, 0x25};  // jmp *0(%rip)
// Where indirect calls may arrive: endbr64, bti c.
static const uint8_t kLanding[4] = {0xf3, 0x0f, 0x1e, 0xfa};
#elif defined(__aarch64__)
#define REPLACES 1
static const uint8_t kJumpBehind[8] = {0x50, 0,    0,    0x58,   // ldr x16, 8
                                       0,    0x02, 0x1f, 0xd6};  // br x16
static const uint8_t kLanding[4] = {0x5f, 0x24, 0x03, 0xd5};
#endif
#endif  // versions

#ifdef REPLACES
struct __attribute__((packed)) Jump {
  uint8_t instructions[sizeof kJumpBehind];
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
  if (memcmp(function, kLanding, sizeof kLanding) == 0) {
    function += sizeof kLanding;
    room -= sizeof kLanding;
  }
  if (room < sizeof(struct Jump) || room > symbol->st_size) return 0;
  struct Jump jump = {{0}, ours};
  memcpy(jump.instructions, kJumpBehind, sizeof kJumpBehind);
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t begin = (uintptr_t)function & ~(page - 1);
  const uintptr_t end =
      ((uintptr_t)function + sizeof jump + page - 1) & ~(page - 1);
  if (mprotect((void*)begin, end - begin, PROT_READ | PROT_WRITE) != 0) {
    return 0;
  }
  memcpy(function, &jump, sizeof jump);
  __builtin___clear_cache(function, function + sizeof jump);
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
