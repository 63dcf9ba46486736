#!/usr/bin/env python3
"""`pymemobj what-if` beside the truth: programs dump, delete the thing, and measure what
the heap and RSS have lost."""
import csv
import io
import json
import os
import subprocess
import unittest

import support

PYMEMOBJ = os.environ["PYMEMOBJ_BIN"]
MIB = 1 << 20

# Measures without taking memory: what it needs is there before.
MEASURE = """
import gc, os, pymemrun

def rss():
    with open('/proc/self/statm', 'rb', buffering=0) as statm:
        return int(statm.read().split()[1]) * os.sysconf('SC_PAGESIZE')

def measure(delete):
    gc.collect()
    pymemrun.dump_objects(wait=True)
    gc.collect()
    before = rss()
    pymemrun.mark('before')
    delete()
    gc.collect()
    pymemrun.mark('after')
    print(before - rss())
"""

SMALL = MEASURE + """
class Node:
    def __init__(self, number):
        self.name = 'node %d' % number
        self.numbers = [number + 1000000, str(number) * 5]

def fill():
    return [Node(i) for i in range(60000)]

rss()
PLANTED = fill()
def delete():
    global PLANTED
    del PLANTED
measure(delete)
"""

# malloc maps each: nothing so large was freed before.
LARGE = MEASURE + """
def block():
    block = bytearray(1 << 20)
    block[::4096] = b'x' * 256
    return block

rss()
PLANTED = {i: block() for i in range(24)}
def delete():
    global PLANTED
    del PLANTED
measure(delete)
"""

# The first temporary one, which is freed, raises malloc's thresholds: the others lie in its
# heap.
LARGE_IN_HEAP = MEASURE + """
rss()
PLANTED = {i: bytearray(b'x' * (1 << 20)) for i in range(24)}
def delete():
    global PLANTED
    del PLANTED
measure(delete)
"""

# Every other object survives.
FRAGMENTED = MEASURE + """
class Kept:
    pass

def fill(cache, kept):
    for i in range(100000):
        cache.append('%064d' % i)
        kept.append('%064d' % -i)

rss()
PLANTED, KEPT = [], []
fill(PLANTED, KEPT)
def delete():
    global PLANTED
    del PLANTED
measure(delete)
"""

# Every other bytearray survives.
HALF = LARGE.replace("PLANTED = {i: block() for i in range(24)}", """
ALL = [block() for i in range(24)]
PLANTED, KEPT = ALL[::2], ALL[1::2]
del ALL
""")
HALF_IN_HEAP = HALF.replace("[block() for", "[bytearray(b'x' * (1 << 20)) for")

NUMPY = MEASURE + """
import numpy
rss()
PLANTED = [numpy.ones(300000) for i in range(10)]
def delete():
    global PLANTED
    del PLANTED
measure(delete)
"""


class WhatIfTest(support.PageEventsTest):
    def ask(self, run, *arguments):
        return subprocess.run([PYMEMOBJ, run.path[:-3] + ".obj.pb", *arguments], check=True,
                              text=True, stdout=subprocess.PIPE).stdout

    def heap_lost(self, run):
        """The live bytes between the marks, as heap events have them."""
        rows = csv.DictReader(io.StringIO(run.report(
            "heap", "--at", "mark:before", "--to", "mark:after", "--limit", "0", "--csv")))
        return sum(int(row["before_bytes"]) - int(row["after_bytes"]) for row in rows)

    def check(self, program, tolerance):
        """What is said equals what was measured; RSS within `tolerance` bytes. Returns the
        row."""
        run = self.run_script(program, "--trace", "pages", "--heap", "all", "--native",
                              env=support.USUAL)
        cache, = [row for row in json.loads(self.ask(
            run, "query", "SELECT target.address FROM edges JOIN nodes AS target "
            "ON target.id = edges.target WHERE name = 'PLANTED'", "--json"))]
        row, = json.loads(self.ask(run, "what-if", cache["address"], "--json"))
        lost, returned = self.heap_lost(run), int(run.stdout)
        self.assertAlmostEqual(1, row["heap_bytes"] / lost, delta=0.02)
        self.assertAlmostEqual(returned, row["rss_at_once_bytes"], delta=tolerance)
        return run, row

    def test_small_objects_return_arenas(self):
        run, row = self.check(SMALL, 2 * MIB)
        self.assertGreater(row["rss_arena_bytes"], 10 * MIB)
        self.assertRegex(self.ask(run, "what-if", "Node"),
                         r"\AWithout the 60,000 objects of Node, [\d.]+ MiB of the heap would be freed;\s")

    def test_large_objects_return_their_mappings(self):
        _, row = self.check(LARGE, MIB // 2)
        self.assertGreater(row["rss_mapped_bytes"], 23 * MIB)

    def test_of_every_other_little_returns(self):
        _, row = self.check(FRAGMENTED, MIB // 2)
        self.assertGreater(row["heap_bytes"], 10 * MIB)
        self.assertGreater(row["rss_shared_bytes"], 15 * MIB)
        self.assertLess(row["rss_at_once_bytes"], MIB)

    def test_of_every_other_large_one_half_returns(self):
        _, row = self.check(HALF, MIB // 2)
        self.assertAlmostEqual(12 * MIB, row["rss_mapped_bytes"], delta=MIB // 2)

    def test_the_end_of_mallocs_heap_returns(self):
        _, row = self.check(LARGE_IN_HEAP, MIB // 2)
        self.assertGreater(row["rss_trimmed_bytes"], 20 * MIB)

    def test_malloc_keeps_what_lies_between_others(self):
        _, row = self.check(HALF_IN_HEAP, MIB // 2)
        self.assertGreater(row["rss_malloc_bytes"], 10 * MIB)
        self.assertLess(row["rss_at_once_bytes"], 2 * MIB)

    def test_arrays_of_numpy(self):
        if subprocess.run([support.PYTHON, "-c", "import numpy"], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no numpy here")
        _, row = self.check(NUMPY, MIB // 2)
        self.assertGreater(row["rss_mapped_bytes"], 20 * MIB)


if __name__ == "__main__":
    unittest.main()
