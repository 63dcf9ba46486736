#define _GNU_SOURCE
#include <Python.h>
#include <dlfcn.h>

#include "tracer/cpython/lifetime.h"

void PymemrunFindInterpreter(const void** start, const void** end) {
#if __GLIBC_PREREQ(2, 35)
  struct dl_find_object object;
  // A static function of CPython. For an exported function in a shared library
  // the launcher has a stub, whose address it would be.
  if (_dl_find_object((void*)PyLong_Type.tp_repr, &object) == 0) {
    *start = object.dlfo_map_start;
    *end = object.dlfo_map_end;
  }
#else
  extern const char __executable_start, _end;
  *start = &__executable_start;
  *end = &_end;
#endif
}

void PymemrunFindArenaFunctions(const void** map, const void** unmap) {
#ifndef Py_GIL_DISABLED
  PyObjectArenaAllocator arenas;
  PyObject_GetArenaAllocator(&arenas);
  *map = (const void*)arenas.alloc;
  *unmap = (const void*)arenas.free;
#endif
}
