# Definitions of C functions that are made at run time, dropped, and made again
# at the same addresses: alone, and in types that come and go.
import ctypes
import gc

api = ctypes.pythonapi


class MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("method", ctypes.c_void_p),
                ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


class Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class Spec(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("basicsize", ctypes.c_int),
                ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
                ("slots", ctypes.POINTER(Slot))]


METH_NOARGS, Py_tp_methods = 4, 64
make = api.PyCFunction_NewEx
make.restype = ctypes.py_object
make.argtypes = [ctypes.POINTER(MethodDef), ctypes.c_void_p, ctypes.c_void_p]
from_spec = api.PyType_FromSpec
from_spec.restype = ctypes.py_object
from_spec.argtypes = [ctypes.POINTER(Spec)]


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


# What they do with (self, NULL): an empty list where self is NULL, self's type.
new_list, type_of = address(api.PyList_New), address(api.PyObject_Type)

# One place for the definition and one for its name.
name = ctypes.create_string_buffer(32)
definition = MethodDef(ctypes.addressof(name), new_list, METH_NOARGS, None)
self = "an object"
for n in range(2000):
    name.value = b"made%d" % n
    made = make(definition, None, None)
    made()
    made()
    del made
definition.method = type_of
for n in range(2000):
    name.value = b"bound%d" % n
    made = make(definition, id(self), None)
    made()
    del made


# Types with two methods each, at addresses that come back.
def use(n):
    methods = (MethodDef * 3)()
    for at in range(2):
        names[at].value = b"method%d_%d" % (at, n)
        methods[at] = MethodDef(ctypes.addressof(names[at]), type_of,
                                METH_NOARGS, None)
    slots = (Slot * 2)()
    slots[0] = Slot(Py_tp_methods, ctypes.addressof(methods))
    made = from_spec(Spec(b"package.Type%d" % n, 16, 0, 0, slots))
    instance = made()
    for at in range(2):
        getattr(instance, "method%d_%d" % (at, n))()
        getattr(made, "method%d_%d" % (at, n))(instance)
    return id(made)


names = [ctypes.create_string_buffer(32) for at in range(2)]
addresses = set()
for n in range(600):
    addresses.add(use(n))
    if n % 4 == 3:  # a type is part of a cycle
        gc.collect()
assert len(addresses) < 300, len(addresses)
