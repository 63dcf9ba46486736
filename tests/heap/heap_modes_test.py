#!/usr/bin/env python3
"""Heap events are as exact with CPython's other allocators, beside tracemalloc
and with some of the domains only; and the lines are tracemalloc's."""
import collections
import json
import unittest

import heap_decoder
import heap_programs
import heap_support
import support

# Of blocks above 1000 bytes: how many are alive at the end, and their bytes.
TRACEMALLOC = r'''
import tracemalloc
import pymemrun
before = [str(n) for n in range(100)]
tracemalloc.start(5)
during = [b"x" * (n + 1000) for n in range(3000)]  # 1500 3799500
del before
for n in range(100): grown = bytearray(n); grown.extend(bytes(5 * n))
del during[::2]
tracemalloc.stop()
after = {bytes(n + 100) for n in range(3, 1000)}  # 133 173546
pymemrun.mark("after")
'''

# With an argument it also prints what tracemalloc says. No lists, dicts, floats
# or blocks of KEPT: where CPython keeps dead ones for later, tracemalloc has
# the line that got them last.
LINES = r'''
import json, sys, tracemalloc
from pymemrun import mark
class Node:
    __slots__ = ("n", "more", "third", "fourth", "fifth")
    def __init__(self, n):
        self.n = n + 1000
        self.more = "n" * n
def numbers(n):
    for i in range(n):
        yield str(i) * 3
if len(sys.argv) > 1: tracemalloc.start()
mark("begin")
nodes = {Node(n) for n in range(300)}
texts = {str(n) + "text" for n in range(1000)}
names = set(numbers(500))
blocks = {bytes(n) for n in range(2000)}
kept = {n * 1000003 for n in range(700)}
code = compile("def f(x):\n    return {x + str(i) for i in range(100)}\n"
               "kept = f('kept')", "<string>", "exec")
exec(code)
while len(texts) > 300: texts.pop()
big = bytearray(100000) * 3
mark("here")
if tracemalloc.is_tracing():
    print(json.dumps([[t.traceback[0].filename, t.traceback[0].lineno, t.size]
                      for t in tracemalloc.take_snapshot().traces]))
'''

TOOLS = '''
import tracemalloc
from pymemrun import mark
first = [bytes(6000) for _ in range(100)]
print(tracemalloc.get_traced_memory()[0] > 600000)
tracemalloc.stop()
second = [bytes(6000) for _ in range(100)]
tracemalloc.start()
third = [bytes(7000) for _ in range(100)]
print(tracemalloc.get_traced_memory()[0] > 700000)
del first
tracemalloc.stop()
fourth = [bytes(8000) for _ in range(100)]
mark("here")
'''

# The compiler, and a class of its subclasses, keep addresses as int objects,
# which are the larger the higher the heap lies; and that is left to chance.
ADDRESSES = {1 + LINES[:LINES.index(text)].count("\n")
             for text in ("compile(", "class ")}


def live_at(heap, mark):
    live = heap_support.Live()
    for event in heap.events:
        if event.us > heap.marks[mark]:
            break
        live.take(event)
    return live.blocks.values()


OBJ, RAW = 0, 2
# An object's head has 16 bytes more without a GIL.
HEAD = 16 * support.FREE_THREADED
# Of tuples with one element and with two; from 3.14 on of small ints.
KEPT = (48, 56) if support.VERSION < (3, 14) else (48, 56, 32)


class HeapModesTest(heap_support.HeapTest):
    def check(self, text, *options, env=None, but=()):
        run, heap, oracle = self.run_above_oracle(
            text, "--heap", "all", "--trace", "none", *options, env=env)
        self.assert_complete(run, heap)
        found, live = heap_support.live_at_marks(heap)
        self.assertEqual(found.keys(), oracle.keys())
        for name in found.keys() - but:
            with self.subTest(moment=name):
                self.compare(found[name], oracle[name], self.own_lines(text))
        self.assertGreater(live.allocations, 3000)

    def test_other_allocators(self):
        for name in ("malloc", "debug", "malloc_debug", "pymalloc_debug"):
            with self.subTest(name):
                self.check(heap_programs.ALLOCATES, env={"PYTHONMALLOC": name})
        self.check(heap_programs.FINALISES, "-X", "dev")

    def test_tracemalloc_before(self):
        # Where it ends, before the end, it takes the oracle out with itself.
        self.check(heap_programs.SIMPLE, "-X", "tracemalloc=3", but={"end"})

    def test_tools_come_and_go_below(self):
        run = self.run_script(TOOLS, "--heap", "all", "--trace", "none",
                              "-X", "tracemalloc=2")
        self.assertEqual(run.stdout.split(), ["True"] * 2, run.stderr)
        heap = heap_decoder.HeapRun(run)
        found = collections.Counter()
        for event in live_at(heap, "here"):
            file, line = heap.place(event.stack)
            if file.endswith("script.py") and event.size > 5000:
                found[line] += event.size
        self.assertEqual(found, {7: 603300, 9: 703300, 13: 803300})

    def test_some_domains(self):
        """What the others ask for is as it is in a run with all of them."""
        def sums(*options):
            run = self.run_script(LINES, "--heap", "all", "--trace", "none",
                                  *options, env={"PYTHONHASHSEED": "0"})
            heap = heap_decoder.HeapRun(run)
            found = collections.Counter()
            for event in live_at(heap, "here"):
                file, line = heap.place(event.stack)
                if file.endswith("script.py") and line not in ADDRESSES:
                    found[event.allocator] += event.size
            return found
        everything = sums()
        objects = sums("--heap-domains", "obj")
        self.assertEqual(objects, {0: everything[0]})
        self.assertGreater(objects[0], 100000)
        # The raw domain then has what the others ask of it, too.
        others = sums("--heap-domains", "mem,raw")
        self.assertEqual(others.keys() | {2}, {1, 2})
        self.assertEqual(others[1], everything[1])
        raw = sums("--heap-domains", "raw")
        self.assertEqual(raw.keys(), {2})
        self.assertGreater(raw[2], 300000)


class LinesTest(support.ProgramTest):
    def test_tracemalloc_beside(self):
        """Its own blocks come and go too, within requests of the program's."""
        run = self.run_script(TRACEMALLOC, "--heap", "all", "--trace", "none")
        heap = heap_decoder.HeapRun(run)
        found = collections.defaultdict(list)
        for event in live_at(heap, "after"):
            size = event.size - HEAD * (event.allocator == OBJ)
            if size > 1000 and event.allocator != RAW:
                found[heap.place(event.stack)[1]].append(size)
        for line, words in enumerate(TRACEMALLOC.splitlines(), 1):
            if "  # " in words:
                blocks, size = map(int, words.rpartition("  # ")[2].split())
                with self.subTest(words):
                    self.assertEqual((len(found[line]), sum(found[line])),
                                     (blocks, size))

    def test_lines_are_those_of_tracemalloc(self):
        script = self.write("script.py", LINES)
        run = self.pymemrun("--quiet", "--heap", "all", "--trace", "none",
                            "--heap-domains", "obj,mem", script, "too")
        expected, found = (collections.defaultdict(list) for _ in range(2))
        for file, line, size in json.loads(run.stdout):
            expected[file, line].append(size)
        heap = heap_decoder.HeapRun(run)
        for event in live_at(heap, "here"):
            if event.us > heap.marks["begin"]:
                found[heap.place(event.stack)].append(event.size)
        begin = LINES[:LINES.index("mark(\"begin\")")].count("\n") + 1
        end = LINES[:LINES.index("mark(\"here\")")].count("\n") + 1
        lines = {(script, line) for line in range(begin + 1, end)}
        lines |= {("<string>", 1), ("<string>", 2), ("<string>", 3)}
        # Functions that are called from there.
        lines |= {(script, line) for line in range(7, 12)}
        for place in sorted(lines):
            with self.subTest(place):
                ours, theirs = (sorted(size for size in sizes[place]
                                       if size not in KEPT)
                                for sizes in (found, expected))
                self.assertEqual(ours, theirs)
        self.assertGreater(len(lines & found.keys()), 8)



if __name__ == "__main__":
    unittest.main()
