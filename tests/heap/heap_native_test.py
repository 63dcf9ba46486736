#!/usr/bin/env python3
"""With `--native` what C code asks of malloc, calloc and so on is there too:
its exact size, the Python line that led to it, and the file that asked."""
import importlib.util
import json
import subprocess
import unittest

import heap_decoder
import heap_support
import support
from heap_support import MALLOC, MEM, MMAP, MREMAP, OBJ, RAW

LIBC = r'''
import ctypes, sys, pymemrun
libc = ctypes.CDLL(None)
for name in ("malloc", "calloc", "realloc", "aligned_alloc", "memalign",
             "valloc"):
    getattr(libc, name).restype = ctypes.c_void_p
def p(address): return ctypes.c_void_p(address)
def s(n): return ctypes.c_size_t(n)
aligned = p(None)
pymemrun.mark("begin")
a = libc.malloc(s(12345))  # malloc 12345
b = libc.calloc(s(10), s(1000))  # gone
c = libc.malloc(s(500))  # gone
c = libc.realloc(p(c), s(700000))  # realloc 700000
d = libc.realloc(p(None), s(333))  # realloc of none 333
libc.posix_memalign(ctypes.byref(aligned), s(64), s(7777))  # aligned 7777
e = libc.aligned_alloc(s(64), s(6400))  # aligned 6400
f = libc.memalign(s(128), s(999))  # aligned 999
g = libc.valloc(s(5000))  # aligned 5000
h = [libc.calloc(s(3), s(n)) for n in range(1, 5)]  # four 30
none = libc.malloc(s(1 << 62))  # too large
libc.free(p(b)); libc.free(p(None))
assert libc.realloc(p(a), s(1 << 62)) is None
pymemrun.mark("all")
for block in (a, c, d, aligned.value, e, f, g, *h): libc.free(p(block))
pymemrun.mark("freed")
'''

MAPPINGS = r'''
import mmap, pymemrun
pymemrun.mark("begin")
kept = mmap.mmap(-1, 1 << 20)  # kept
gone = mmap.mmap(-1, 3 << 20)  # gone
gone.close()
pymemrun.mark("all")
kept.close()
pymemrun.mark("freed")
'''

# Each comment tells how many pages of what its line mapped are left.
RANGES = r'''
import ctypes, mmap, os, pymemrun, tempfile
libc = ctypes.CDLL(None, use_errno=True)
size = ctypes.c_size_t
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, size, ctypes.c_int, ctypes.c_int,
                      ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, size]
libc.madvise.argtypes = [ctypes.c_void_p, size, ctypes.c_int]
libc.mremap.argtypes = [ctypes.c_void_p, size, size, ctypes.c_int,
                        ctypes.c_void_p]
P = 4096
PRIVATE, FIXED, MAYMOVE, MOVE_FIXED, DONTUNMAP = 0x22, 0x10, 1, 2, 4
m = libc.mmap
pymemrun.mark("begin")
def unmap(at, pages):
    assert libc.munmap(at, pages * P) == 0
def work():
    a = m(None, 8 * P, 3, PRIVATE, -1, 0)  # head 5
    unmap(a, 3)
    b = m(None, 8 * P, 3, PRIVATE, -1, 0)  # tail 6
    unmap(b + 6 * P, 2)
    c = m(None, 5 * P, 3, PRIVATE, -1, 0)  # holes 3
    unmap(c + P, 1); unmap(c + 3 * P, 1)
    room = m(None, 8 * P, 0, PRIVATE, -1, 0)  # two at once 0
    d = m(room, 4 * P, 3, PRIVATE | FIXED, -1, 0)  # first of two 0
    e = m(room + 4 * P, 4 * P, 3, PRIVATE | FIXED, -1, 0)  # second of two 0
    unmap(room, 8)
    f = m(None, 2048 * P, 3, PRIVATE, -1, 0)  # munmap fails 2048
    assert libc.munmap(f, 0) == -1 and libc.munmap(f + 1, P) == -1
    g = m(None, 8 * P, 3, PRIVATE, -1, 0)  # replaced in its middle 4
    h = m(g + 2 * P, 4 * P, 3, PRIVATE | FIXED, -1, 0)  # fixed 4
    i = m(None, 8 * P, 3, PRIVATE, -1, 0)  # a file over it 6
    name = tempfile.TemporaryFile(); name.truncate(9 * P)
    m(i + P, 2 * P, 1, 2 | FIXED, name.fileno(), 0)  # a file 0
    j = m(None, 8 * P, 3, PRIVATE, -1, 0)  # grows 0
    j = libc.mremap(j, 8 * P, 900 * P, MAYMOVE, None)  # grown 900
    k = m(None, 8 * P, 3, PRIVATE, -1, 0)  # shrinks 0
    k = libc.mremap(k, 8 * P, 2 * P, 0, None)  # shrunk 2
    l = m(None, 8 * P, 3, PRIVATE, -1, 0)  # a part leaves 6
    w = m(None, 8 * P, 3, PRIVATE, -1, 0)  # is moved over 6
    l2 = libc.mremap(l + P, 2 * P, 2 * P, MAYMOVE | MOVE_FIXED, w + P)  # moved there 2
    n = m(None, 8 * P, 3, PRIVATE, -1, 0)  # does not move 8
    assert libc.mremap(n, 8 * P, 1 << 62, MAYMOVE, None) == (1 << 64) - 1
    o = m(None, 8 * P, 3, PRIVATE, -1, 0)  # stays mapped 8
    o2 = libc.mremap(o, 8 * P, 8 * P, MAYMOVE | DONTUNMAP, None)  # its pages 8
    q = m(None, 4 * P, 3, 1, name.fileno(), 0)  # a file 0
    q = libc.mremap(q, 4 * P, 8 * P, MAYMOVE, None)  # a larger file 0
    r = m(None, 8 * P, 3, PRIVATE, -1, 0)  # is discarded 8
    assert libc.madvise(r, 8 * P, 4) == 0
    s = m(None, 3 * P - 5, 3, PRIVATE, -1, 0)  # not whole pages 2
    unmap(s + 2 * P, 1)
work()
pymemrun.mark("all")
'''

# Half of each of the mappings goes.
SAMPLED = r'''
import ctypes, mmap, pymemrun
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
for n in range(2000):
    at = libc.mmap(None, 16 * 4096, 0, 0x22, -1, 0)
    assert libc.munmap(at + n % 9 * 4096, 8 * 4096) == 0
pymemrun.mark("all")
'''

ARRAYS = r'''
import numpy as np, pymemrun
pymemrun.mark("begin")
zeros = np.zeros(1000003)  # 8000024
ones = np.empty(100003, np.uint8)  # 100003
gone = np.zeros(3000000)  # gone
del gone
table = np.arange(50000)
table = table.reshape(500, 100).T.copy()  # 400000
pymemrun.mark("all")
del zeros, ones, table
pymemrun.mark("freed")
'''

MIXED = r'''
import ctypes, decimal, json, pymemrun, zlib
pymemrun.mark("begin")
keep = [str(n) * 40 for n in range(3000)]
keep.append(json.loads(json.dumps({str(n): [n] for n in range(2000)})))
keep.append([bytes(n) for n in range(500, 1500)])
keep.append(zlib.compressobj())
keep.append([decimal.Decimal(n) ** 20 for n in range(500)])
for n in range(2000): keep.append(bytearray(n)); keep[-1].extend(b"x" * n)
del keep[1::2]
pymemrun.mark("all")
'''


def comments(text):
    """{line: what its comment says}."""
    return {number: line.partition("  # ")[2]
            for number, line in enumerate(text.splitlines(), 1)
            if "  # " in line}


class HeapNativeTest(support.ProgramTest):
    def live(self, text, *options):
        """{mark: [event...]} of what is alive, and the run's heap events."""
        run = self.run_script(text, "--trace", "none", "--heap", "all",
                              *options)
        heap = heap_decoder.HeapRun(run)
        heap.path = run.path
        self.assertEqual(heap.lost, 0)
        begin = heap.marks["begin"]
        live, found, moments = heap_support.Live(strict=False), {}, sorted(
            (us, name) for name, us in heap.marks.items())
        for event in heap.events:
            while moments and event.us > moments[0][0]:
                found[moments.pop(0)[1]] = live.events()
            live.take(event)
        found.update((name, live.events()) for _, name in moments)
        return heap, {name: [event for event in events if event.us > begin]
                      for name, events in found.items()}

    def report(self, *arguments):
        """The rows of a pymemreport command."""
        return json.loads(subprocess.run(
            [support.PYMEMREPORT, *arguments, "--json", "--limit", "0"],
            check=True, stdout=subprocess.PIPE).stdout)

    def of_script(self, heap, events, *allocators):
        """{line: [event...]} of those allocators."""
        found = {}
        for event in events:
            file, line = heap.place(event.stack)
            if file.endswith("script.py") and event.allocator in allocators:
                found.setdefault(line, []).append(event)
        return found

    def check(self, text, allocator, least, asked_by):
        heap, live = self.live(text, "--native")
        found = self.of_script(heap, live["all"], allocator)
        for line, words in comments(text).items():
            blocks = [event for event in found.get(line, ())
                      if event.size >= least]
            last = words.rpartition(" ")[2]
            expected = int(last) if last.isdigit() else 0
            with self.subTest(words, line=line):
                self.assertEqual(sum(event.size for event in blocks), expected)
                for event in blocks:
                    self.assertIn(asked_by, heap.mappings[event.code])
        left = self.of_script(heap, live["freed"], allocator)
        self.assertEqual([event for line in comments(text)
                          for event in left.get(line, ())
                          if event.size >= least], [])
        return found

    def test_malloc_and_its_kin(self):
        found = self.check(LIBC, MALLOC, 1, "libffi")
        self.assertEqual(sorted(len(blocks) for blocks in found.values())[-1], 4)

    def test_anonymous_mappings(self):
        heap, live = self.live(MAPPINGS, "--native")
        found = self.of_script(heap, live["all"], MMAP)
        line, = (line for line, words in comments(MAPPINGS).items()
                 if words == "kept")
        self.assertEqual({at: [event.size for event in events]
                          for at, events in found.items()}, {line: [1 << 20]})
        self.assertIn("mmap", heap.mappings[found[line][0].code])
        self.assertEqual(self.of_script(heap, live["freed"], MMAP), {})

    def test_what_is_left_of_mappings(self):
        heap, live = self.live(RANGES, "--native")
        found = {line: sum(event.size for event in events) / 4096
                 for line, events in
                 self.of_script(heap, live["all"], MMAP, MREMAP).items()}
        for line, words in comments(RANGES).items():
            with self.subTest(words, line=line):
                self.assertEqual(found.pop(line, 0), int(words.split()[-1]))
        self.assertEqual(found, {})
        # The readers' own account is the same.
        report = self.report("heap", heap.path, "--reserved", "--at", "exit")
        for row in report:
            pages = comments(RANGES).get(row["line"])
            if row["file"].endswith("script.py"):
                self.assertEqual(row["reserved_bytes"],
                                 4096 * int(pages.split()[-1]), row)

    def test_reserved_is_not_live(self):
        heap, _ = self.live(RANGES, "--native")
        rows = self.report("heap", heap.path, "--at", "exit")
        reserved = [row for row in rows if row["file"].startswith("<reserved")]
        self.assertEqual(len(reserved), 1)
        self.assertIsNone(reserved[0]["live_bytes"])
        self.assertGreaterEqual(reserved[0]["mapped_bytes"], 3000 * 4096)
        live = sum(row["live_bytes"] or 0 for row in rows)
        self.assertLess(live, 2048 * 4096)

    def test_sampled_mappings_are_estimated_without_bias(self):
        """Within 5 standard errors, of what is left: 1 in 1,700,000 runs not."""
        run = self.run_script(SAMPLED, "--trace", "none", "--native",
                              "--heap-rates", "{1000000000: 0.25}")
        rows = self.report("heap", run.path, "--reserved", "--at", "exit")
        row, = (row for row in rows if row["file"].endswith("script.py"))
        truth = 2000 * 8 * 4096
        error = (2000 * 3) ** 0.5 * 8 * 4096
        self.assertAlmostEqual(row["reserved_bytes"], truth, delta=5 * error)
        self.assertAlmostEqual(row["reserved_count"], 2000,
                               delta=5 * (2000 * 3) ** 0.5)
        self.assertLess(abs(row["error_bytes"] / error - 1), 0.2)

    def test_what_a_tool_below_allocates_and_frees(self):
        """tracemalloc's own books, within requests of the program's."""
        heap, live = self.live(
            "import pymemrun, tracemalloc\n"
            "pymemrun.mark('begin')\n"
            "tracemalloc.start()\n"
            "for i in range(20000): bytearray(100)\n"
            "pymemrun.mark('all')\n", "--native")
        # Live.take() has seen no block at the address of another; and few stay.
        found = self.of_script(heap, live["all"], MALLOC)
        self.assertLess(sum(map(len, found.values())), 1000)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no numpy")
    def test_arrays(self):
        self.check(ARRAYS, MALLOC, 10000, "numpy")

    def test_pythons_own_blocks_are_counted_once(self):
        sums = []
        for options in ((), ("--native",)):
            heap, live = self.live(MIXED, *options)
            sums.append({
                line: (len(events), sum(event.size for event in events))
                for line, events in
                self.of_script(heap, live["all"], OBJ, MEM, RAW).items()})
            addresses = [event.address for event in live["all"]]
            self.assertEqual(len(addresses), len(set(addresses)))
        self.assertEqual(*sums)
        self.assertGreater(sum(size for _, size in sums[0].values()), 1e6)

    def test_the_program_runs_as_without(self):
        script = self.write("script.py", LIBC.replace(
            "pymemrun.mark", "str").replace(", pymemrun", "") +
            "print(none, sys.getsizeof(h))\n")
        run = self.pymemrun("--quiet", "--heap", "all", "--native", script)
        self.assertEqual(run.stdout, self.run_python(script))
        self.assertEqual(run.stderr, "")


if __name__ == "__main__":
    unittest.main()
