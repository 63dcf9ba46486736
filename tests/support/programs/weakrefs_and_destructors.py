import weakref, gc
class Node:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        self.name.upper()
def gone(ref):
    len("gone")
n = Node("a")
r = weakref.ref(n, gone)
r()
del n
r()
a, b = Node("b"), Node("c")
a.other, b.other = b, a
weakref.finalize(a, abs, -1)
del a, b
gc.collect()
d = weakref.WeakValueDictionary()
n = Node("d")
d["k"] = n
d.get("k")
n = None
len(d)
def inner():
    local = Node("e")
    return abs(-1)
inner()
class Fails:
    def __del__(self):
        gc.isenabled()
Fails()
