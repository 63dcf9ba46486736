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
// Where an interpreter was optimised as a whole, who calls such a small
// function knows which registers it leaves alone, and that it needs no aligned
// stack. So ours are called with all registers kept.
#ifdef __x86_64__
#define KEEPING_REGISTERS(keeping, function)                             \
  void keeping(void);                                                    \
  __asm__(".pushsection .text\n" #keeping                                \
          ": .cfi_startproc\n"                                           \
          "endbr64\n"                                                    \
          "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n" \
          "mov %rsp, %rbp\n .cfi_def_cfa_register %rbp\n"                \
          "pushfq\n"                                                     \
          ".irp r, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11\n"          \
          "push %\\r\n .endr\n"                                          \
          "sub $512, %rsp\n and $-16, %rsp\n fxsave64 (%rsp)\n"          \
          "call " #function                                              \
          "\n fxrstor64 (%rsp)\n lea -80(%rbp), %rsp\n"                  \
          ".irp r, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax\n"          \
          "pop %\\r\n .endr\n"                                           \
          "popfq\n pop %rbp\n .cfi_def_cfa %rsp, 8\n ret\n"              \
          ".cfi_endproc\n .popsection");
#else
#define EACH_OF_16 "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15"
#define EACH_OF_32 \
  EACH_OF_16       \
  ", 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31"
#define KEEPING_REGISTERS(keeping, function)                         \
  void keeping(void);                                                \
  __asm__(".pushsection .text\n .p2align 2\n" #keeping               \
          ": .cfi_startproc\n"                                       \
          "hint #34\n" /* bti c */                                   \
          "stp x29, x30, [sp, #-16]!\n .cfi_def_cfa_offset 16\n"     \
          ".cfi_offset x29, -16\n .cfi_offset x30, -8\n"             \
          "mov x29, sp\n .cfi_def_cfa_register x29\n"                \
          "sub sp, sp, #672\n"                                       \
          ".irp n, " EACH_OF_32                                      \
          "\n str q\\n, [sp, #16 * \\n]\n .endr\n"                   \
          ".irp n, " EACH_OF_16                                      \
          ", 16, 17, 18\n"                                           \
          "str x\\n, [sp, #512 + 8 * \\n]\n .endr\n"                 \
          "mrs x0, nzcv\n str x0, [sp, #664]\n ldr x0, [sp, #512]\n" \
          "bl " #function                                            \
          "\n ldr x0, [sp, #664]\n msr nzcv, x0\n"                   \
          ".irp n, " EACH_OF_32                                      \
          "\n ldr q\\n, [sp, #16 * \\n]\n .endr\n"                   \
          ".irp n, " EACH_OF_16                                      \
          ", 16, 17, 18\n"                                           \
          "ldr x\\n, [sp, #512 + 8 * \\n]\n .endr\n"                 \
          "mov sp, x29\n ldp x29, x30, [sp], #16\n"                  \
          ".cfi_def_cfa sp, 0\n ret\n"                               \
          ".cfi_endproc\n .popsection");
#endif
KEEPING_REGISTERS(PymemrunSignalReceived, _PyEval_SignalReceived)
KEEPING_REGISTERS(PymemrunSignalAsyncExc, _PyEval_SignalAsyncExc)
#endif
#endif  // versions and machines

void PymemrunReplaceFunctions(void) {
#ifdef REPLACES
  Replace("_PyEval_SetProfile", (const void*)_PyEval_SetProfile);
#if PY_VERSION_HEX < 0x030A0000
  Replace("_Py_PyAtExit", (const void*)PymemrunPyAtExit);
#endif
#if PY_VERSION_HEX >= 0x030B0000
  Replace("_PyEval_SignalReceived", (const void*)PymemrunSignalReceived);
  Replace("_PyEval_SignalAsyncExc", (const void*)PymemrunSignalAsyncExc);
#endif
#endif
}
#endif  // PYMEMRUN_PRELOADED
