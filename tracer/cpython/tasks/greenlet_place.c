#define _GNU_SOURCE 1
#include "tracer/cpython/tasks/greenlet_place.h"

#ifdef PYMEMRUN_TASKS
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

// Entries of the table that the module gives to other C code.
enum { kType = 0, kGetCurrent = 4, kThrow = 5, kSwitch = 6 };
typedef PyObject* (*CurrentFunction)(void);
typedef PyObject* (*ThrowFunction)(PyObject*, PyObject*, PyObject*, PyObject*);

static PymemrunGreenletHooks g_hooks;
static CurrentFunction g_current;
static getter g_dead, g_run;
static PyCFunctionWithKeywords g_switch, g_api_switch;
static PyCFunction g_throw;
static ThrowFunction g_api_throw;

static PyObject* ItemOf(PyObject* dict, const char* name) {
  Py_ssize_t at = 0;
  PyObject *key, *value;
  while (PyDict_Next(dict, &at, &key, &value)) {
    if (PyUnicode_Check(key) &&
        PyUnicode_CompareWithASCIIString(key, name) == 0) {
      return value;
    }
  }
  return NULL;
}

// The greenlet that runs, which is alive as long as it does; borrowed. NULL: it
// cannot be had.
static PyObject* Current(void) {
  PyObject* const current = g_current();
  if (current == NULL) {
    PyErr_Clear();
  } else {
    Py_DECREF(current);
  }
  return current;
}

static int HasEnded(PyObject* greenlet) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* const dead = g_dead(greenlet, NULL);
  const int has_ended = dead == Py_True;
  Py_XDECREF(dead);
  PyErr_Restore(type, value, traceback);
  return has_ended;
}

static PyObject* Leave(PyObject* to) {
  PyObject* const from = Current();
  if (from != NULL) g_hooks.leaves(from, to);
  return from;
}

static void Return(PyObject* from, PyObject* to) {
  if (from != NULL) g_hooks.returns(from, to, HasEnded(to));
}

static PyObject* Switch(PyObject* to, PyObject* arguments, PyObject* names) {
  PyObject* const from = Leave(to);
  PyObject* const result = g_switch(to, arguments, names);
  Return(from, to);
  return result;
}

static PyObject* ApiSwitch(PyObject* to, PyObject* arguments, PyObject* names) {
  PyObject* const from = Leave(to);
  PyObject* const result = g_api_switch(to, arguments, names);
  Return(from, to);
  return result;
}

static PyObject* Throw(PyObject* to, PyObject* arguments) {
  PyObject* const from = Leave(to);
  PyObject* const result = g_throw(to, arguments);
  Return(from, to);
  return result;
}

static PyObject* ApiThrow(PyObject* to, PyObject* type, PyObject* value,
                          PyObject* traceback) {
  PyObject* const from = Leave(to);
  PyObject* const result = g_api_throw(to, type, value, traceback);
  Return(from, to);
  return result;
}

// Returns 0 where the table cannot be written to.
static int Put(void* place, void* address) {
  const struct iovec from = {&address, sizeof address};
  const struct iovec to = {place, sizeof address};
  return process_vm_writev(getpid(), &from, 1, &to, 1, 0) ==
         (ssize_t)sizeof address;
}

// The entry of a method's table, if it takes arguments as `flags` say.
static PyMethodDef* MethodOf(PyTypeObject* type, const char* name, int flags) {
  PyMethodDef* method = type->tp_methods;
  for (; method != NULL && method->ml_name != NULL; ++method) {
    if (strcmp(method->ml_name, name) == 0) {
      return method->ml_flags == flags ? method : NULL;
    }
  }
  return NULL;
}

static getter GetterOf(PyTypeObject* type, const char* name) {
  const PyGetSetDef* member = type->tp_getset;
  for (; member != NULL && member->name != NULL; ++member) {
    if (strcmp(member->name, name) == 0) return member->get;
  }
  return NULL;
}

static void LookAt(PyObject* module) {
  if (g_current != NULL || module == NULL || !PyModule_Check(module)) return;
  PyObject* const capsule = ItemOf(PyModule_GetDict(module), "_C_API");
  if (capsule == NULL || !PyCapsule_IsValid(capsule, "greenlet._C_API")) {
    return;
  }
  void** const table = PyCapsule_GetPointer(capsule, "greenlet._C_API");
  PyTypeObject* const type = (PyTypeObject*)table[kType];
  PyMethodDef* const switches =
      MethodOf(type, "switch", METH_VARARGS | METH_KEYWORDS);
  PyMethodDef* const throws = MethodOf(type, "throw", METH_VARARGS);
  g_dead = GetterOf(type, "dead");
  g_run = GetterOf(type, "run");
  if (switches == NULL || throws == NULL || g_dead == NULL || g_run == NULL) {
    return;
  }
  g_switch = (PyCFunctionWithKeywords)(void*)switches->ml_meth;
  g_throw = throws->ml_meth;
  g_api_switch = (PyCFunctionWithKeywords)table[kSwitch];
  g_api_throw = (ThrowFunction)table[kThrow];
  g_current = (CurrentFunction)table[kGetCurrent];
  if (!Put(&switches->ml_meth, (void*)Switch)) return;
  Put(&throws->ml_meth, (void*)Throw);
  Put(&table[kSwitch], (void*)ApiSwitch);
  Put(&table[kThrow], (void*)ApiThrow);
}

typedef PyObject* (*FastFunction)(PyObject*, PyObject* const*, Py_ssize_t);
static FastFunction g_create;
static PyCFunction g_exec;

static PyObject* CreateDynamic(PyObject* self, PyObject* const* arguments,
                               Py_ssize_t count) {
  PyObject* const module = g_create(self, arguments, count);
  LookAt(module);
  return module;
}

static PyObject* ExecDynamic(PyObject* self, PyObject* module) {
  PyObject* const result = g_exec(self, module);
  if (result != NULL) LookAt(module);
  return result;
}

static PyMethodDef* FunctionOf(PyObject* dict, const char* name, int flags) {
  PyObject* const function = ItemOf(dict, name);
  if (function == NULL || !PyCFunction_CheckExact(function)) return NULL;
  PyMethodDef* const method = ((PyCFunctionObject*)function)->m_ml;
  return method->ml_flags == flags ? method : NULL;
}

void PymemrunWatchGreenlets(const PymemrunGreenletHooks* hooks) {
  PyObject* const modules = PyImport_GetModuleDict();
  PyObject* const imp = ItemOf(modules, "_imp");
  if (g_create != NULL || imp == NULL || !PyModule_Check(imp)) return;
  PyObject* const dict = PyModule_GetDict(imp);
  PyMethodDef* const create = FunctionOf(dict, "create_dynamic", METH_FASTCALL);
  PyMethodDef* const exec = FunctionOf(dict, "exec_dynamic", METH_O);
  if (create == NULL || exec == NULL) return;
  g_hooks = *hooks;
  g_create = (FastFunction)(void*)create->ml_meth;
  g_exec = exec->ml_meth;
  create->ml_meth = (PyCFunction)(void*)CreateDynamic;
  exec->ml_meth = ExecDynamic;
  LookAt(ItemOf(modules, "greenlet._greenlet"));
}

PyCodeObject* PymemrunGreenletCode(PyObject* greenlet) {
  PyObject* const run = g_run(greenlet, NULL);
  if (run == NULL) {
    PyErr_Clear();
    return NULL;
  }
  Py_DECREF(run);  // the greenlet has it
  return PyFunction_Check(run) ? (PyCodeObject*)PyFunction_GET_CODE(run) : NULL;
}
#endif  // PYMEMRUN_TASKS
