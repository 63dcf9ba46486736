#!/usr/bin/env python3
"""Each object of a dump has the type, the size and the references that gc and
sys say in the same process, in programs of many kinds."""
import collections
import json
import os
import subprocess
import unittest

import object_dump
import support

PROGRAMS = {
    "slots": """
class Slots:
    __slots__ = ("a", "b", "__weakref__")
class Both(Slots):
    __slots__ = ("c", "__dict__")
def make(i):
    s = Both()
    s.a, s.c, s.d = [i], (i, str(i)), {i: i}
    return s
kept = [make(i) for i in range(500)] + [Slots() for i in range(10)]
""",
    "instances": """
class Plain:
    def __init__(self, i):
        self.number, self.text, self.more = i, "text %d" % i, [i]
class Many:
    def __init__(self, i):
        for k in range(i):
            setattr(self, "name_%d" % k, [k])
class Derived(dict): pass
class List(list): pass
class Tuple(tuple): pass
class Int(int): pass
class Set(set): pass
kept = [Plain(i) for i in range(500)] + [Many(i) for i in range(60)]
seen = [vars(o) for o in kept[::7]]  # these have a dictionary
for kind in Derived, List, Tuple, Set:
    o = kind([("a", 1), ("b", 2)])
    o.extra = [kind]
    kept.append(o)
number = Int(1 << 100)
number.extra = [1]
kept += [number, Derived(), seen]
del kept[3].text
kept[5].late = kept[4]
""",
    "weak": """
import weakref
class Target: pass
targets = [Target() for i in range(100)]
gone = weakref.ref(Target())
kept = [targets, [weakref.ref(t) for t in targets], gone,
        weakref.WeakKeyDictionary({t: i for i, t in enumerate(targets)}),
        weakref.WeakValueDictionary(enumerate(targets)),
        [weakref.proxy(t) for t in targets], weakref.ref(targets[0], print)]
""",
    "closures": """
import functools
def outer(i):
    first, second = [i], {i: i}
    def inner(x=first, *, y=second):
        def deep(): return first, second, i
        return deep
    return inner
kept = [outer(i) for i in range(300)] + [outer(i)() for i in range(300)]
kept += [functools.partial(outer, 3, i=4), (lambda: kept)]
""",
    "generators": """
def count(n):
    here = [n]
    for i in range(n):
        yield here
    del here
async def wait(x):
    held = {"x": x}
    class Later:
        def __await__(self):
            yield held
    await Later()
async def agen():
    local = [1]
    yield local
kept = [count(5) for i in range(100)]
for g in kept[:50]: next(g)
for g in kept[:10]: list(g)
coros = [wait([i]) for i in range(50)]
for c in coros[:25]: c.send(None)
a = agen()
try: a.asend(None).send(None)
except StopIteration: pass
kept += [coros, a, agen()]
def close():
    for c in coros: c.close()
""",
    "c types": """
import array, collections, datetime, decimal, functools, io, itertools, re, struct, threading, queue
kept = [array.array("d", range(100)), collections.deque([[i] for i in range(200)]),
        collections.OrderedDict((str(i), [i]) for i in range(50)),
        collections.defaultdict(list, a=[1], b=[2]), collections.Counter("hello"),
        datetime.datetime.now(), decimal.Decimal("1.5"), io.BytesIO(b"x" * 1000),
        io.StringIO("y" * 1000), itertools.count(3), itertools.chain([1], [2]),
        iter([1, 2]), enumerate([1]), zip([1], [2]), map(str, [1]), re.compile("a+b"),
        re.match("a", "a"), struct.Struct("ii"), threading.Lock(), threading.local(),
        queue.Queue(), memoryview(b"abc"), range(10**10, 10**11), slice([1], 2, 3),
        bytearray(b"z" * 77), frozenset(map(str, range(100))), {(i, i) for i in range(500)},
        1.5, 1 << 400, -(1 << 70), complex(1, 2), "\\u00e9" * 50, "\\U0001F600" * 30, "ab" * 300,
        b"b" * 300, (), [], {}, set(), None, Ellipsis, NotImplemented, property(len),
        staticmethod(len), classmethod(len), [].append, "".join, str.join, object.__repr__]
kept += [dict.fromkeys(range(1000)), dict.fromkeys(map(str, range(1000))),
         {1: 2, "a": [3], (4, 5): {6}, 2.5: b"x"}, functools.lru_cache(len)]
d = dict.fromkeys("abcdefgh", [])
del d["c"]
kept += [d, d.keys(), d.items(), iter(d)]
""",
    "classes": """
import abc, enum, typing
class Meta(type):
    def __new__(meta, name, bases, space): return super().__new__(meta, name, bases, space)
base = object
kept = []
for i in range(300):
    base = Meta("C%d" % i, (base,), {"x": [i], "f": lambda self: self})
    kept.append(base)
    kept.append(base())
    kept[-1].own = [i]
class A(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
class E(enum.Enum):
    ONE = 1
    TWO = 2
kept += [A, E, E.ONE, typing.List[int], type("Diamond", (kept[0], dict), {})]
""",
    "modules": """
import types
kept = []
for i in range(100):
    module = types.ModuleType("made_%d" % i, "doc %d" % i)
    exec("import sys\\nvalue = [sys]\\ndef f(): return value\\nclass C:\\n    x = f", vars(module))
    kept.append(module.f)
    kept.append(module.C())
    kept.append(vars(module))
""",
    "exceptions": """
def fail(i):
    local = [i]
    try:
        {}[i]
    except KeyError as e:
        try:
            raise ValueError(local, i) from e
        except ValueError as v:
            return v
kept = [fail(i) for i in range(100)]
class Own(Exception):
    pass
o = Own("x", 1); o.more = [2]
kept += [o, StopIteration(3), UnicodeDecodeError("utf-8", b"x", 0, 1, "why"), OSError(2, "no", "file")]
""",
    "frozen": """
import gc
kept = [[i] for i in range(1000)] + [{i: {i}} for i in range(100)]
class Instance: pass
kept += [Instance() for i in range(100)]
gc.collect(); gc.freeze()
kept.append([5])
""",
    "cycles": """
class Node: pass
kept = []
for i in range(200):
    a, b = Node(), [Node()]
    a.b, b[0].a = b, a
    kept.append(a)
kept.append(kept)
d = {}; d["d"] = d; kept.append(d)
t = ([],); t[0].append(t); kept.append(t)
""",
}
if subprocess.run([support.PYTHON, "-c", "import numpy"],
                  stderr=subprocess.DEVNULL).returncode == 0:
    PROGRAMS["numpy"] = """
import numpy
base = numpy.zeros((100, 100))
kept = [base, base[3:7], base.T, numpy.array([[1], {}], dtype=object), numpy.float64(3),
        numpy.dtype([("a", "i4"), ("b", "f8")]), numpy.arange(5).view(numpy.recarray)]
"""

MAIN = """
import sys
sys.path.insert(0, {support!r})
import object_oracle
{program}
object_oracle.dump(kept, sys.argv[1])
if "close" in globals(): close()
print("done", len(kept))
"""


class ObjectsOracleTest(support.ProgramTest):
    def dump_of(self, program):
        """The dump, and what the oracle says."""
        facts = os.path.join(self.folder, "facts.json")
        text = MAIN.format(support=os.path.dirname(object_dump.__file__),
                           program=program)
        run = self.run_script(text, "--trace", "none", "--heap", "off",
                              arguments=[facts])
        self.assertIn("done", run.stdout)
        self.assertEqual(run.stderr, "")
        with open(facts) as file:
            said = json.load(file)
        dump = object_dump.Dump(said["file"])
        os.unlink(said["file"])
        return run, dump, said

    def test_types_sizes_and_references_are_those_of_gc_and_sys(self):
        for name, program in PROGRAMS.items():
            with self.subTest(name):
                run, dump, said = self.dump_of(program)
                self.check_end(run, dump)
                self.check_objects(dump, said)

    def test_a_linked_list_of_a_million_is_no_recursion(self):
        run = self.run_script("""
import pymemrun
head = None
for i in range(1_000_000):
    head = (head, i)
print(pymemrun.dump_objects(wait=True))
""", "--trace", "none", "--heap", "off")
        dump = object_dump.Dump(run.stdout.strip())
        self.check_end(run, dump)
        node = dump.target(self.main_dict(dump), "head")
        for i in reversed(range(1_000_000)):
            (kind, _, back), (_, _, number) = node.edges
            self.assertEqual(dump.nodes[number].text, str(i).encode())
            node = dump.nodes[back]
        self.assertEqual(node.type, "NoneType")

    def main_dict(self, dump):
        modules = dump.target(dump.group("modules"), "sys.modules")
        return dump.target(dump.target(modules, "__main__"), "__dict__")

    def check_end(self, run, dump):
        end = dump.end
        self.assertEqual(end.outcome, end.COMPLETE)
        objects = [node for node in dump.nodes if node.address]
        self.assertEqual(end.objects, len(objects))
        self.assertEqual(end.references, sum(len(node.edges) for node in dump.nodes))
        self.assertEqual(end.size_bytes, sum(node.size for node in objects))
        self.assertEqual(dump.header.pid, run.header.pid)
        self.assertEqual(dump.header.process_start_ticks, run.header.process_start_ticks)
        fact, = run.records("objects_dumped")
        self.assertEqual((fact.objects, fact.references, fact.time_us, fact.problem),
                         (end.objects, end.references, dump.begin.time_us, b""))
        self.assertEqual(fact.pause_us, dump.begin.pause_us)

    def check_objects(self, dump, said):
        same = {row[0]: row[1:] for row in said["same"]}
        # Little is different in the end: frames, and what the oracle made.
        self.assertGreater(len(same), 0.98 * said["before"])
        missing = [known for i, known in same.items() if i not in dump.at]
        self.assertEqual(missing, [])
        wrong = [(dump.at[i], known[:2]) for i, known in same.items()
                 if not self.fits(dump.at[i], known)]
        self.assertEqual(wrong[:10], [])
        wrong = [(dump.at[i], known[0], self.differences(dump, dump.at[i], known[2]))
                 for i, known in same.items()
                 if any(self.differences(dump, dump.at[i], known[2]))]
        self.assertEqual(wrong[:10], [])
        own = sum(i in same for i in said["kept"])
        self.assertGreater(own, 0.98 * len(said["kept"]))

    def fits(self, node, known):
        type_, size, _, tracked = known
        is_estimate = node.flags & 4
        return (node.type == type_ and
                (is_estimate or size is not None and size[0] <= node.size <= size[1]) and
                bool(node.flags & 1) == tracked)

    def differences(self, dump, node, referents):
        """What is missing, and what is too much."""
        kinds = dump.kinds
        edges = [(kind, name, dump.nodes[target].address) for kind, name, target in node.edges
                 if kind != kinds.Value("EDGE_WEAK")]
        missing = collections.Counter(referents)
        missing.subtract(collections.Counter(address for *_, address in edges))
        more = {address: -n for address, n in missing.items() if n < 0}
        # Keys that are strings, what types, arrays and objects unknown to gc hold.
        for kind, name, address in edges:
            if more.get(address, 0) > 0 and (
                    kind == kinds.Value("EDGE_KEY") or not referents or
                    kind in (kinds.Value("EDGE_ATTRIBUTE"), kinds.Value("EDGE_DICT"),
                             kinds.Value("EDGE_BASE")) and node.text or
                    kind == kinds.Value("EDGE_ATTRIBUTE") and name in ("base", "dtype") or
                    # gc leaves it out where 3.13 has the attributes in the instance.
                    kind == kinds.Value("EDGE_DICT") and support.VERSION >= (3, 13)):
                more[address] -= 1
        return ([a for a, n in missing.items() if n > 0],
                [a for a, n in more.items() if n > 0])


if __name__ == "__main__":
    unittest.main()
