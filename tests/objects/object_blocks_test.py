#!/usr/bin/env python3
"""Where the bytes of objects lie: dumps beside the heap's blocks, and what
`heap --objects` and `pymemobj suspects` say of both."""
import json
import os
import subprocess
import unittest

import heap_decoder
import object_dump
import support

PYMEMOBJ = os.environ["PYMEMOBJ_BIN"]
MIB = 1 << 20

# None lies where an earlier object of another size was, and none is made before
# tracing.
OBJECTS = """
import array, pymemrun
try:
    import numpy
except ImportError:
    numpy = None
pymemrun.start()
class Plain:
    def __init__(self, i):
        self.number, self.text = i, "text %d" % i
class Many:
    def __init__(self, i):
        for k in range(i):
            setattr(self, "name_%d" % k, k)
class Slots:
    __slots__ = ("a", "b")
class List(list): pass
kept = []
for i in range(1, 300):
    kept += [Plain(i), Many(i % 29), Slots(), List(range(i)), list(range(i)),
             {k: k for k in range(i)}, {str(k): k for k in range(i)}, set(range(i)),
             frozenset(range(i)), bytearray(i), array.array("d", range(i)), "x" * i,
             b"y" * i, tuple(range(i))]
    for k in range(40):
        kept[-10].append(k)
    if i % 2: kept.append(vars(kept[-14]))
if numpy:
    kept += [numpy.ones(1000 + i) for i in range(100)]
pymemrun.dump_objects(wait=True)
"""

BUFFERS = """
kept = []
def take():
    kept.append(bytearray(b"z") * 256_000)
for i in range(150):
    take()
"""

# The dictionary that render() drops is the next one that handle() gets.
REUSED = """
kept = []
def render(i):
    return len({"page": i})
def handle(i):
    kept.append(%s)
for i in range(4000):
    render(i)
    handle(i)
"""

# In memory of its own, of a file, shared by name, and one that is closed.
MAPPED = """
import mmap, sys
from multiprocessing import shared_memory
class Store: pass
def take():
    store = Store()
    store.data = mmap.mmap(-1, 60 << 20)
    store.data[:40 << 20] = b"x" * (40 << 20)
    return store
store = take()
with open(sys.executable, "rb") as f:
    file = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
sum(file[::4096])
closed = mmap.mmap(-1, 1 << 20)
closed.close()
shared = shared_memory.SharedMemory(create=True, size=6 << 20)
shared.buf[:3 << 20] = b"z" * (3 << 20)
shared.unlink()
"""

VIEWS = """
import numpy
heads = [numpy.ones(1_000_000)[:10] for _ in range(30)]
words = numpy.array(["word %d" % i for i in range(100_000)], dtype=object)
"""


class ObjectBlocksTest(support.ProgramTest):
    def need_numpy(self):
        if subprocess.run([support.PYTHON, "-c", "import numpy"], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no numpy here")

    def ask(self, run, *arguments):
        return subprocess.run([PYMEMOBJ, run.path[:-3] + ".obj.pb", *arguments], check=True,
                              text=True, stdout=subprocess.PIPE).stdout

    def dumped(self, text, *options):
        return self.run_script(text, "--trace", "none", "--objects", "exit", *options)

    def blocks_at_dump(self, run, dump):
        blocks = {}
        for event in heap_decoder.HeapRun(run).events:
            if event.us > dump.begin.time_us or event.free_of != heap_decoder.BLOCK:
                continue
            if event.is_free:
                blocks.pop(event.address, None)
            else:
                blocks[event.address] = event.size
        return blocks

    def test_each_part_of_an_object_is_a_block_of_its_size(self):
        run = self.run_script(OBJECTS, "--trace", "none", "--heap", "all", "--native", "--paused")
        dump = object_dump.Dump(run.path[:-3] + ".obj.pb")
        blocks = self.blocks_at_dump(run, dump)
        heads = {d.name.decode(): d.head_bytes for d in dump.type_defs.values()}
        main = dump.target(dump.target(dump.group("modules"), "sys.modules"), "__main__")
        kept = dump.target(dump.target(main, "__dict__"), "kept")
        found, beside, unlike = {}, set(), {}
        for _, node in dump.targets(kept, "INDEX"):
            own = blocks.get(node.address - heads[node.type])
            # Sizes of an array's dimensions lie elsewhere.
            size = node.size - node.beside_bytes - 16 * (node.type == "ndarray")
            if own not in (size, None):
                unlike[node.type] = unlike.get(node.type, ()) + (own - size,)
            found[node.type] = found.get(node.type, 0) + (own is not None)
            # CPython may have kept a small table since before tracing.
            if node.beside_bytes and (node.type != "dict" or node.beside_bytes > 168 or
                                      node.beside in blocks):
                # How much room values of attributes got is known within a word's bytes.
                has_values = (node.type in ("Plain", "Many") or
                              node.type == "dict" and node.length == 2)
                most = node.beside_bytes + (56 if has_values else 0)
                self.assertIn(blocks.get(node.beside), range(node.beside_bytes, most + 1), node)
                beside.add(node.type)
        # 3.13 does not tell how much room the last instance had that took from the type's.
        at_most = {"Plain": (8,), "Many": (8,)} if support.VERSION >= (3, 13) else {}
        self.assertLessEqual(unlike.items(), at_most.items())
        for type_ in ("Plain", "Many", "Slots", "List", "set", "bytearray", "array", "str"):
            self.assertGreater(found[type_], 270, type_)
        expected = {"List", "list", "dict", "set", "frozenset", "bytearray", "array"}
        if (3, 11) <= support.VERSION < (3, 13):
            expected |= {"Plain", "Many"}
        self.assertEqual(beside - {"ndarray"}, expected)
        self.assertEqual("ndarray" in beside, "ndarray" in found)

    def test_a_sample_tells_of_no_more_objects_than_the_dump_has(self):
        run = self.dumped(BUFFERS)
        rows = json.loads(run.report("heap", "--objects", "--json"))
        row = max(rows, key=lambda row: row["live_bytes"])
        self.assertEqual((row["function"], row["type"]), ("take", "bytearray"))
        self.assertAlmostEqual(row["objects"], 150, delta=3)
        self.assertAlmostEqual(row["objects_bytes"] / (150 * 256_001), 1, delta=0.03)
        self.assertLess(row["rest_bytes"], 0.02 * row["live_bytes"])
        self.assertEqual(row["holder"], "sys.modules['__main__'].kept")
        counts = {}
        for row in rows:
            counts[row["type"]] = counts.get(row["type"], 0) + (row["objects"] or 0)
        types = {row["type"]: row["objects"]
                 for row in json.loads(self.ask(run, "summary", "--limit", "0", "--json"))}
        for type_ in counts.keys() - {None}:
            self.assertLessEqual(counts[type_], types[type_] + len(rows), type_)

    def test_a_line_that_first_had_a_block_is_not_blamed(self):
        run = self.dumped(REUSED % '{"user": i}', "--heap", "all")
        text = self.ask(run, "suspects", "--min-share", "5")
        self.assertIn("There are 4,000 objects of dict", text)
        self.assertRegex(text, r"The lines of [34],\d\d\d are not known: ")
        self.assertNotIn("render", text)
        self.assertIn(" dict *", run.report("heap", "--objects").replace("dict*", "dict *"))

    def test_the_line_that_filled_a_dictionary_is_known(self):
        run = self.dumped(REUSED % "{k: i for k in range(9)}", "--heap", "all")
        text = self.ask(run, "suspects", "--min-share", "5")
        self.assertRegex(text, r"(All|3,99\d) of them were allocated or last enlarged by \S*script.py:6 \S+\.")
        self.assertNotIn("render", text)

    def test_a_mapping_has_the_memory_that_is_its_own(self):
        run = self.dumped(MAPPED, "--heap", "all", "--trace", "pages", "--page-period", "1")
        rows = json.loads(self.ask(run, "list", "--where", "type=mmap.mmap", "--json"))
        sizes = sorted((row["bytes"] for row in rows), reverse=True)
        own, = {size % MIB for size in sizes}
        self.assertEqual([size - own for size in sizes], [40 * MIB, 3 * MIB, 0, 0])
        self.assertLess(own, 200)
        largest = max(rows, key=lambda row: row["bytes"])
        self.assertEqual(largest["length"], 60 * MIB)
        self.assertRegex(largest["allocated_line"], r"script\.py:7 take$")
        suspect = json.loads(self.ask(run, "suspects", "--json"))[0]
        self.assertEqual(suspect["path"], "sys.modules['__main__'].store")
        self.assertGreater(suspect["retained_bytes"], 40 * MIB)
        text = self.ask(run, "what-if", largest["address"])
        self.assertRegex(text, r"RSS\s+would\s+fall\s+by\s+40\.0 MiB\s+at\s+once")

    def test_views_of_numpy_keep_their_arrays(self):
        self.need_numpy()
        run = self.dumped(VIEWS)
        suspect = json.loads(self.ask(run, "suspects", "--json"))[0]
        self.assertEqual(suspect["path"], "sys.modules['__main__'].heads")
        self.assertAlmostEqual(suspect["retained_bytes"] / (30 * 8_000_000), 1, delta=0.01)
        (words,) = json.loads(self.ask(
            run, "query", "SELECT target.address FROM edges JOIN nodes AS target "
            "ON target.id = edges.target WHERE name = 'words'", "--json"))
        kept, = json.loads(self.ask(run, "show", words["address"], "--json"))
        self.assertGreater(kept["retained_bytes"], 100_000 * (8 + 50))


if __name__ == "__main__":
    unittest.main()
