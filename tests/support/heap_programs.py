"""Programs that allocate in many ways, for heap_exact_test."""
from heap_support import at

ALLOCATES = r'''
import json
class Node:
    def __init__(self, n):
        self.n = n
        self.next = {"n": n, "s": str(n) * 3}
def numbers(n):
    for i in range(n):
        yield [i, i * 1.5, str(i)]
def deep(n, kept):
    kept.append((n, bytes(n)))
    if n:
        deep(n - 1, kept)
        kept.append([None] * n)
def fails(n):
    try:
        if n == 0:
            raise ValueError("x" * 600)
        fails(n - 1)
    except ValueError as error:
        errors.append(error)
        if n < 8: raise
errors, keep = [], []
for n in range(400):
    keep.append(Node(n))
del keep[::3]
''' + at("nodes") + r'''
table = {str(n): [n] * (n % 7) for n in range(3000)}
for n in range(0, 3000, 2): del table[str(n)]
text = json.dumps(table)
again = json.loads(text)
halves = [part for part in text.split(",")][::2]
''' + at("json") + r'''
waiting = numbers(50)
some = [next(waiting) for _ in range(20)]
rest = sorted(numbers(300), key=lambda x: x[2])
deep(300, keep)
fails(10)
big = bytearray()
for n in range(3000): big += b"x" * n
del big[5000:]
sets = [set(range(n)) for n in range(60)]
''' + at("grown") + r'''
for n in range(40):
    space = {}
    exec(f"def f{n}(x):\n  y = [x] * {n}\n  return y, lambda: (x, y)\n"
         f"kept = f{n}({n})\n", space)
    if n % 4: keep.append(space["kept"])
classes = [type(f"C{n}", (Node,), {"__slots__": ("a", "b"), "x": [n]})
           for n in range(30)]
keep += [c(1) for c in classes]
del classes[::2], errors
''' + at("dead code") + r'''
del again, halves, waiting
import gc, decimal, datetime, dataclasses, re
@dataclasses.dataclass
class Point:
    x: int
    y: list
points = [Point(n, [n]) for n in range(100)]
words = re.findall(r"\w+", text)[:500]
sums = [decimal.Decimal(n) / 7 for n in range(100)]
gc.collect()
''' + at("last")

THREADS = r'''
import threading
start = threading.Barrier(8)
kept = [[] for _ in range(8)]
def work(k):
    start.wait()
    for n in range(40):
        heap_oracle.churn(40, 17 if n % 8 == 0 else 0)
        block = bytes(600 + 300 * (n % 5))
        if n % 5 == 0: kept[k].append(block)
        kept[(k + 1) % 8].append([n, str(n)])
        if n % 3 == 0: heap_oracle.make(5, 700 + 16 * k)
        if n % 4 == 0: heap_oracle.drop()
        del block
        if len(kept[k]) > 30: del kept[k][:10]
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for t in threads: t.start()
for t in threads: t.join()
''' + at("joined") + r'''
del threads[:], kept[::2]
heap_oracle.make(100, 5000)
''' + at("made") + r'''
heap_oracle.drop()
''' + at("dropped")

FINALISES = r'''
import atexit, sys, threading, types, weakref
class Ends:
    def __init__(self, n):
        self.n, self.me, self.more = n, self, [n] * 20
    def __del__(self):
        ended.append((self.n, str(self.n) * 50))
ended, alive = [], []
for n in range(200): Ends(n)
import gc
gc.collect()
''' + at("collected") + r'''
alive = [Ends(n) for n in range(50)]
module = types.ModuleType("made_up")
module.__dict__.update(ends=Ends(1), table={n: [n] for n in range(100)},
                       me=module)
sys.modules["made_up"] = module
refs = [weakref.ref(one, lambda r: ended.append("gone" * 20)) for one in alive]
local = threading.local()
local.value = [Ends(3)]
def last():
    ended.append([Ends(n) for n in range(20)])
    del alive[:10]
atexit.register(last)
def waits():
    event.wait()
event = threading.Event()
threading.Thread(target=waits, daemon=True).start()
''' + at("before the end")

SIMPLE = r'''
a = [str(n) for n in range(1000)]
b = {n: [n] for n in range(500)}
c = bytes(10000)
del a[::2]
d = [object() for _ in range(100)]
''' + at("simple")

CALLS = r'''
import bisect, functools, operator
class Thing:
    made = []
    def __init__(self, n):
        self.n = n
        self.made.append([n])
    def __repr__(self): return str(self.n).upper().lower()
    def __lt__(self, other): return self.n.__lt__(other.n)
def key(thing):
    return str(thing).zfill(5).strip().split(":")
def numbers(n):
    for i in range(n):
        yield str(i).join(("a", "b"))
def deep(n):
    kept.append(str(n).center(9))
    return [] if n == 0 else sorted([str(n)] + deep(n - 1), key=str.upper)
kept = []
''' + at("defined") + r'''
for n in range(50):
    things = [Thing(n - i) for i in range(20)]
    kept.append(sorted(things, key=key))
    kept.append(list(map(repr, sorted(things))))
kept.append(list(numbers(100)))
bound = [getattr(x, "append") for x in kept if type(x) is list]
bound += map(operator.attrgetter("index"), kept)
more = list(map(str.upper, kept[-1]))
joined = str.join(*["-", more])
sums = functools.reduce(lambda a, b: a.__add__([b]), range(100), [])
kept.append(deep(200))
waiting = [numbers(9) for _ in range(20)]
for one in waiting: next(one)
''' + at("worked") + r'''
del kept[::3], bound[::2], waiting[::2]
''' + at("deleted")

# The interpreter's cache of attributes holds the only reference to each of
# these names, and looking up the thread's own name makes it forget one. So does
# the first look for an attribute of a module: the last lines of the program
# make none be forgotten between a mark and its snapshot.
NAMES = r'''
import threading, time
kinds = [type(f"Kind{n}", (), {})() for n in range(8)]
for turn in range(3):
    for n in range(10000):
        hasattr(kinds[n % 8], f"attribute {turn} {n}")
    kept = [f"attribute {turn} {n}" for n in range(1000)]
until = time.monotonic() + 0.05
while time.monotonic() < until:
    kept[0] = str(until)
pymemrun.mark, heap_oracle.snapshot
''' + at("looked")
