// See Python/parking_lot.c and Python/lock.c of CPython 3.13: `struct
// wait_entry` begins with what the waker is to find, the address that is waited
// for, and the semaphore. A mutex always has something to find, and nothing
// else has.
#define Py_BUILD_CORE 1
#include "tracer/cpython/gil/lock_place.h"

#include <Python.h>

#ifdef Py_GIL_DISABLED

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>

#include "internal/pycore_interp.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_runtime.h"

// Largest distance of a wait_entry from its frame on the stack of the thread.
#define NEAR_BYTES 4096
#define LOCK_TYPES 2

static struct {
  uintptr_t text, text_end;               // of the interpreter's code
  const PyTypeObject* types[LOCK_TYPES];  // of threading's locks
} known;

static int FindText(struct dl_phdr_info* object, size_t size, void* function) {
  const uintptr_t address = (uintptr_t)function;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && address >= begin &&
        address - begin < part->p_memsz) {
      known.text = begin;
      known.text_end = begin + part->p_memsz;
      return 1;
    }
  }
  return 0;
}

void PymemrunKnowLocks(void) {
  static const char* const names[LOCK_TYPES] = {"LockType", "RLock"};
  if (known.text != 0) return;
  dl_iterate_phdr(FindText, (void*)&PyEval_AcquireThread);
  PyObject* raised = PyErr_GetRaisedException();
  // It is there already. An import could call the program's own __import__.
  PyObject* module = PyImport_AddModuleRef("_thread");
  for (int i = 0; i < LOCK_TYPES && module != NULL; ++i) {
    PyObject* type = PyObject_GetAttrString(module, names[i]);
    if (type != NULL && PyType_Check(type)) {
      known.types[i] = (const PyTypeObject*)type;
    }
    Py_XDECREF(type);  // the module keeps it
  }
  Py_XDECREF(module);
  PyErr_Clear();
  PyErr_SetRaisedException(raised);
}

// A lock that the program made has its mutex right behind the object's head. No
// other page than the mutex's is looked at.
static int IsPrograms(uintptr_t mutex) {
  const uintptr_t type = mutex - sizeof(PyObject) + offsetof(PyObject, ob_type);
  if (mutex % sizeof(void*) != 0 || (type ^ mutex) / 4096 != 0) return 0;
  for (int i = 0; i < LOCK_TYPES; ++i) {
    if (known.types[i] != NULL &&
        *(const PyTypeObject* const*)type == known.types[i]) {
      return 1;
    }
  }
  return 0;
}

PymemrunParked PymemrunParkedFor(const void* semaphore, const void* caller) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  const uintptr_t at = (uintptr_t)semaphore;
  if ((uintptr_t)caller < known.text || (uintptr_t)caller >= known.text_end) {
    return PYMEMRUN_NOT_PARKED;
  }
  if (semaphore == NULL) return PYMEMRUN_DOES_NOT_WAIT;
  if (at < here || at - here > NEAR_BYTES) return PYMEMRUN_NOT_PARKED;
  const uintptr_t* const entry = (const uintptr_t*)semaphore - 2;
  const uintptr_t address = entry[1];
  if (entry[0] != 0) {
    return IsPrograms(address) ? PYMEMRUN_NOT_PARKED : PYMEMRUN_FOR_LOCK;
  }
  const int saved_errno = errno;
  const PyThreadState* own = PyGILState_GetThisThreadState();
  errno = saved_errno;
  if (own == NULL) return PYMEMRUN_NOT_PARKED;
  if (address == (uintptr_t)&own->state) return PYMEMRUN_STANDS_STILL;
  return address == (uintptr_t)&own->interp->stoptheworld.stop_event ||
                 address == (uintptr_t)&_PyRuntime.stoptheworld.stop_event
             ? PYMEMRUN_STOPS_OTHERS
             : PYMEMRUN_NOT_PARKED;
}

#endif  // Py_GIL_DISABLED
