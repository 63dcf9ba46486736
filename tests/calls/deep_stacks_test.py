#!/usr/bin/env python3
"""Stacks of deep recursions are those that the program itself finds by its
frames, and a cut one says so."""
import json
import os
import unittest

import fault_support
import support

BLOCK = 2048  # a cut stack begins at a multiple of it

# `here(n)` allocates and looks at the frames.
PROGRAM = r'''
import json, os, sys, threading
sys.setrecursionlimit(100_000)
kept, found = [], []

def lines():
    # Of the caller and all frames below, the outermost first.
    frame, found = sys._getframe(1), []
    while frame is not None:
        found.append([frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    return found[::-1]

def here():
    size = 300_000 + 16 * len(kept)
    kept.append(b'x' * size); frames = lines()
    found.append([sys.getsizeof(kept[-1]), frames])

AT = {0, 1, 2_040, 2_047, 2_048, 4_094, 4_095, 4_096, 6_141, 6_142, 6_143, 6_144, 9_000}

def down(n, end):
    if n in AT: here()
    if n < end:
        down(n + 1, end)
    if n in AT:
        here()

# From 3.12 on C code may not call itself as often as the program says.
C_CALLS = 1_500 if sys.version_info < (3, 12) else 150

def through_sorted(n, end):
    if n % (C_CALLS // 3) == 0: here()
    if n < end: sorted([0], key=lambda x: through_sorted(n + 1, end))
    if n % (C_CALLS // 3) == 0: here()

def generator(n, end):
    if n % 500 == 0: here()
    if n < end: yield from generator(n + 1, end)
    yield n
    if n % 500 == 0: here()

def loop(n, end):
    if n % 100 == 0: here()
    if n < end:
        for x in loop(n + 1, end): yield x
    yield n
    if n % 100 == 0: here()

class Link:
    def __init__(self, n):
        if n % 50 == 0: here()
        self.next = Link(n - 1) if n else None
        if n % 50 == 0: here()

def fails(n):
    if n == 0: raise KeyError
    fails(n - 1)

def unwinds(n):
    if n: return unwinds(n - 1)
    for i in range(3):
        try:
            fails(1_000 + i)
        except KeyError:
            here()
        here()

def alternates(own, turns, n):
    if n: return alternates(own, turns, n - 1)
    for i in range(5):
        turns[own].acquire()
        here()
        turns[not own].release()

def on_thread(function, *arguments):
    threading.stack_size(1 << 28)
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    threading.stack_size(0)
    return thread

down(0, 9_000)
down(0, 100)
on_thread(through_sorted, 0, C_CALLS).join()
on_thread(lambda: list(generator(0, 1_500))).join()
unwinds(5_000)
turns = [threading.Lock(), threading.Lock()]
turns[1].acquire()
for thread in [on_thread(alternates, i, turns, 3_000 + i) for i in (0, 1)]:
    thread.join()
on_thread(lambda: list(loop(0, 300))).join()
Link(150)
with open(sys.argv[1], "w") as file:
    json.dump(found, file)
os._exit(0)
'''


def cut(frames):
    """What is kept of a stack: at least BLOCK frames where there are so many."""
    first = max(0, (len(frames) - 1) // BLOCK - 1) * BLOCK
    return ([[None, "<deeper frames>"]] if first else []) + frames[first:]


class DeepStacksTest(support.ProgramTest):
    def check(self, *options):
        path = self.write("found.json", "")
        run = self.run_script(PROGRAM, *options, "--heap", "all",
                              arguments=(path,))
        fault_support.wait_for_collector_to_end(run.path)
        with open(path) as file:
            found = json.load(file)
        self.assertEqual(len(found), 78)
        expected, stacks = {}, {}
        for size, frames in found:
            stack = json.dumps(cut(frames))
            expected[stack] = expected.get(stack, 0) + size
        for entry in json.loads(run.report("snapshot", "--json", "--at", "exit")):
            frames = [[frame["line"], frame["function"]]
                      for frame in entry["stack"]]
            if entry["allocator"] == "obj" and frames[-1] == found[0][1][-1]:
                self.assertNotIn(json.dumps(frames), stacks)
                stacks[json.dumps(frames)] = entry["live_bytes"]
        self.assertEqual(sorted(expected.values()), sorted(stacks.values()))
        self.assertTrue(expected == stacks)

    def test_without_calls(self):
        self.check("--trace", "none")

    def test_with_calls(self):
        self.check("--trace", "calls")

    def test_rows(self):
        run = self.run_script("""import sys
sys.setrecursionlimit(10_000)
def down(n):
    if n in (10, 4_094, 4_095, 6_200): len('x')
    if n < 6_200: down(n + 1)
down(0)
""", "--trace", "calls", "--stacks", "--min-drss", "0",
                              "--events", "c_call", "--function", "len",
                              "--heap", "off")
        found = [row["stack"].split(";")
                 for row in run.json_rows("--columns", "stack,what")
                 if row["what"] == "C_CALL" and row["stack"].endswith(":down")]
        script = os.path.join(self.folder, "script.py")
        expected = []
        for n in (10, 4_094, 4_095, 6_200):
            frames = [(6, "<module>")] + [(5, "down")] * n + [(4, "down")]
            expected.append([f"{script}:{line}:{name}" if line else name
                             for line, name in cut(frames)])
        self.assertEqual([len(stack) for stack in found],
                         [len(stack) for stack in expected])
        self.assertEqual([stack[1:] for stack in found],
                         [stack[1:] for stack in expected])
        self.assertIn("<deeper frames>", found[-1][0])


if __name__ == "__main__":
    unittest.main()
