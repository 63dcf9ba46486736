#!/usr/bin/env python3
"""Page events: every page is accounted for, whoever touches it and however, by
the code that did."""
import os
import re
import subprocess
import unittest

import fault_support
import perf_support
import support
from page_support import resident, resident_bytes, timeline

MIB = 1 << 20

# One system call that fills fresh memory: a signal for all of its pages.
READ_IN = r'''
import mmap, pymemrun, time
m = mmap.mmap(-1, %d, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
def fill():
    with open("/dev/zero", "rb", buffering=0) as zero:
        while zero.readinto(m) != len(m):
            pass
fill()
time.sleep(0.5)
'''

# A worker that wants no signal at all, and never again.
BLOCKED = r'''
import mmap, signal, threading, time
def worker():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
    touch()
def touch():
    global m
    m = mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, len(m), 4096):
        m[at] = 1
t = threading.Thread(target=worker)
t.start()
t.join()
time.sleep(0.5)
'''

# No handler runs at its end, and RSS was read when it was half of what it is.
ENDS = r'''
import os, time
def fill():
    return bytearray(b"\1") * (30 << 20)
a = fill()
time.sleep(0.4)
b = fill()
%s
'''

# The second build takes what the first one left: a few objects keep the memory
# from going back to the kernel.
REUSED = r'''
import time
def build(n):
    return [b"%050d" % i for i in range(n)]
def A():
    global few
    few = build(180_000)[::500]
def B():
    global kept
    kept = build(180_000)
A()
B()
import sys, pymemrun
print(sum(map(sys.getsizeof, kept)) + sys.getsizeof(kept))
pymemrun.mark("there")
time.sleep(0.5)
'''

# Code objects that die as soon as they have run, so that the next one is at the
# same address; each frees a mapping of its own while it dies.
DYING = r'''
import mmap, pymemrun, time, types
kept = []
def touch():
    m = mmap.mmap(-1, 64 << 10, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.write(source)
    kept.append(m)
source = b"\1" * (64 << 10)
def code(n):
    return touch.__code__.replace(
        co_name=f"touch_{n}",
        # Each larger than all before, so that malloc maps it for itself.
        co_consts=touch.__code__.co_consts + (bytes([n]) * (n + 16 << 16),))
for n in range(50):
    types.FunctionType(code(n), globals())()
time.sleep(0.3)
pymemrun.mark("all")
'''

COMES_AND_GOES = r'''
import ctypes, mmap, time, pymemrun
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mremap.restype = ctypes.c_void_p
size = 32 << 20
def touched():
    m = libc.mmap(None, ctypes.c_size_t(size), 3, 0x22, -1, ctypes.c_long(0))
    ctypes.memset(m, 1, size)
    return m
def populated():
    return libc.mmap(None, ctypes.c_size_t(size), 3, 0x22 | 0x8000, -1,
                     ctypes.c_long(0))
def mark(label):
    time.sleep(0.02)
    pymemrun.mark(label)
    time.sleep(0.02)
a = touched()
b = populated()
mark("there")
c = libc.mremap(ctypes.c_void_p(a), ctypes.c_size_t(size),
                ctypes.c_size_t(2 * size), 1)
assert libc.munmap(ctypes.c_void_p(b), ctypes.c_size_t(size)) == 0
mark("moved")
assert libc.madvise(ctypes.c_void_p(c), ctypes.c_size_t(size // 2), 4) == 0
mark("discarded")
libc.malloc.restype = libc.realloc.restype = ctypes.c_void_p
def allocated():
    block = libc.malloc(ctypes.c_size_t(size))
    ctypes.memset(block, 1, size)
    return block
d = allocated()
mark("allocated")
d = libc.realloc(ctypes.c_void_p(d), ctypes.c_size_t(64 * size))
mark("moved_on")
d = libc.realloc(ctypes.c_void_p(d), ctypes.c_size_t(size // 4))
mark("shrunk")
libc.free(ctypes.c_void_p(d))
mark("freed")
'''

# glibc gives memory back by calls of its own: it lowers the break, and discards
# the end of a thread's heap.
TRIMMED = r'''
import threading
def churn():
    for _ in range(4):
        blocks = [bytes(1000) for _ in range(40_000)]
        del blocks
churn()
thread = threading.Thread(target=churn)
thread.start()
thread.join()
'''

# Memory of huge pages, where there are any, that does not stay for long.
HUGE = r'''
import mmap, time
SIZE = 48 << 20
def fill():
    m = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.madvise(mmap.MADV_HUGEPAGE)
    for at in range(0, SIZE, 4096):
        m[at] = 1
    return m
for pause in (0, 0.004, 0.03, 0, 0.01):
    m = fill()
    time.sleep(pause)
    m.close()
'''

# Seven pages each time: two by one line, five by the other.
IN_STEP = r'''
import mmap, time
P = 4096
A, B = [mmap.mmap(-1, n * 1500 * P, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for n in (2, 5)]
def run():
    for r in range(1500):
        for i in range(2):
            A[(r * 2 + i) * P] = 1
        for i in range(5):
            B[(r * 5 + i) * P] = 1
run()
time.sleep(0.3)
'''

# No page is read twice, and RSS is highest while the file is mapped.
SHORT_FILE = r'''
import mmap, os
def read():
    with open("data", "rb") as f:
        with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
            return m[::4096]
with open("data", "wb") as f:
    for _ in range(64):
        f.write(bytes(1 << 20))
read()
'''


class PageEventsTest(support.PageEventsTest):
    def of_functions(self, run, *names, options=()):
        """What is resident by stacks with each of the functions in them."""
        stacks = subprocess.run(
            [support.PYMEMREPORT, "resident", run.path, "--collapsed", *options],
            check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()
        amounts = dict.fromkeys(names, 0)
        for line in stacks:
            frames, _, amount = line.rpartition(" ")
            for name in amounts:
                if re.search(rf"(^|;|\s){name}( |;|$)", frames):
                    amounts[name] += int(amount)
        return amounts

    def accounted(self, run, *options):
        """The table, where next to nothing is unattributed and nothing lost."""
        table = resident(run, *options)
        rss = resident_bytes(table)
        missing = resident_bytes(table, file="unattributed")
        self.assertLessEqual(abs(missing), 0.02 * rss, table)
        self.assertEqual(run.footer.page_samples_lost, 0)
        return table

    def test_a_frame_that_is_given_back_while_it_is_current(self):
        """From 3.12 on, by a call that makes a generator, with the memory that
        it was the last frame in: at one of so many depths."""
        run = self.run_script("def make(): yield 1\n"
                              "def deep(n): deep(n - 1) if n else make()\n"
                              "for n in range(400): deep(n)\n"
                              "print('well')\n", env=support.USUAL)
        self.assertEqual(run.stdout, "well\n")

    def test_one_call_that_brings_a_quarter_of_a_million_pages(self):
        run = self.run_script(READ_IN % (1 << 30), "--trace", "pages")
        table = self.accounted(run, "--by", "function")
        self.assertEqual(resident_bytes(table, function="fill") // MIB, 1024)

    def test_a_loop_in_step_with_the_signals(self):
        run = self.run_script(IN_STEP, "--trace", "calls,pages")
        table = resident(run)
        for line, pages in (9, 3000), (11, 7500):
            self.assertAlmostEqual(resident_bytes(table, line=str(line)),
                                   pages * 4096, delta=1200 * 4096)

    def test_a_file_that_is_mapped_for_some_milliseconds(self):
        """Its faults are heard of when it has gone, and most pages had none."""
        run = self.run_script(SHORT_FILE, "--trace", "calls,pages",
                              "--page-period", "1")
        table = self.accounted(run, "--at", "peak")
        self.assertAlmostEqual(resident_bytes(table, line="6"), 64 * MIB,
                               delta=4 * MIB)
        table = resident(run, "--at", "peak", "--by", "mapping")
        name = os.path.join(os.path.realpath(os.path.dirname(run.path)), "data")
        self.assertAlmostEqual(resident_bytes(table, mapping=name), 64 * MIB,
                               delta=MIB)

    def test_a_worker_with_every_signal_blocked(self):
        run = self.run_script(BLOCKED, "--trace", "pages", "--page-period", "1")
        table = self.accounted(run, "--by", "function")
        self.assertAlmostEqual(resident_bytes(table, function="touch") / MIB, 64,
                               delta=1)
        # Blocked for the program, not for us: every stack is of its moment.
        self.assertLess(run.footer.pages_inferred,
                        0.05 * run.footer.page_events)

    def test_memory_that_is_used_again_is_its_first_users(self):
        run = self.run_script(REUSED, "--trace", "pages",
                              "--page-period", "1")
        amounts = self.of_functions(run, "A", "B")
        self.assertGreater(amounts["A"], 8 * amounts["B"])

    def test_by_owner_heap_memory_that_is_used_again_is_its_users(self):
        for options in ((), ("--page-period", "10")):
            run = self.run_script(REUSED, "--trace", "pages", *options, "--heap",
                                  "all")
            at = ("--at", str(run.records("mark")[0].time_us / 1e6 + 0.4))
            first = self.of_functions(run, "A", "B", options=at)
            # mimalloc, which is there without a GIL, takes new memory sooner. It
            # leaves some of B's without blocks, which is the toucher's then.
            times, more = (5, first["B"]) if support.FREE_THREADED else (8, 0)
            self.assertGreater(first["A"], times * first["B"])
            owned = self.of_functions(run, "A", "B",
                                      options=("--owner", "heap", *at))
            there = int(run.stdout)
            self.assertGreater(there, 15_000_000)
            self.assertGreater(owned["B"], 0.95 * there)
            self.assertLess(owned["B"], 1.05 * there + more)
            self.assertLess(owned["A"], 0.05 * there)

    def test_where_call_events_see_growth_page_events_see_it_too(self):
        run = self.run_script(READ_IN % (64 * MIB), "--trace", "calls,pages",
                              "--page-period", "1")
        grown = sum(row["drss_bytes"] for row in run.rows()
                    if row["function"] in ("FileIO.readinto", "fill") and
                    row["context"] != "PREV")
        table = self.accounted(run, "--by", "function")
        self.assertAlmostEqual(resident_bytes(table, function="fill") / MIB,
                               grown / MIB, delta=1)

    def test_code_objects_at_one_address_are_told_apart(self):
        run = self.run_script(DYING, "--trace", "pages", "--page-period", "1")
        at = run.records("mark")[0].time_us / 1e6
        table = resident(run, "--by", "function", "--limit", "0",
                         "--at", str(at))
        for n in range(50):
            # And at most a page or two for what it allocates.
            self.assertAlmostEqual(
                resident_bytes(table, function=f"touch_{n}") >> 12, 17, delta=1,
                msg=str(n))
        self.assertEqual(resident_bytes(table, function="<unknown>"), 0)

    def test_pages_that_leave_or_move_by_calls(self):
        run = self.run_script(COMES_AND_GOES, "--trace", "pages",
                              "--page-period", "1")
        marks = {mark.label.decode(): mark.time_us / 1e6
                 for mark in run.records("mark")}
        found = {}
        for label, at in marks.items():
            table = resident(run, "--by", "function", "--at", str(at))
            found[label] = [round(resident_bytes(table, function=name) / MIB)
                            for name in ("touched", "populated", "allocated")]
        self.assertEqual(found, {
            "there": [32, 32, 0], "moved": [32, 0, 0], "discarded": [16, 0, 0],
            "allocated": [16, 0, 32], "moved_on": [16, 0, 32],
            "shrunk": [16, 0, 8], "freed": [16, 0, 0]})

    def test_rss_is_known_at_any_moment_while_malloc_gives_memory_back(self):
        run = self.run_script(TRIMMED, "--trace", "pages", "--heap", "off")
        moments = timeline(run)
        self.assertGreater(max(rss for rss, _ in moments), 50 * MIB)
        wrong = [rest for _, rest in moments if abs(rest) > MIB]
        self.assertEqual(wrong, [])

    def test_huge_pages_count_whole_however_soon_they_leave(self):
        run = self.run_script(HUGE, "--trace", "pages", "--heap", "off")
        table = resident(run, "--by", "function")
        self.assertAlmostEqual(
            resident_bytes(table, function="fill") / MIB, 48, delta=1)
        # RSS may have been read while one of them was being filled.
        wrong = [rest for _, rest in timeline(run) if abs(rest) > 2.5 * MIB]
        self.assertEqual(wrong, [])

    @unittest.skipIf(perf_support.paranoid() > 2, "perf is for root alone here")
    def test_what_malloc_gave_back_is_not_there_at_the_end(self):
        """Nobody hears of that: the kernel is asked, and the program waits."""
        run = self.run_script(r"""
import os, threading, time
def work():
    global kept
    kept = [bytearray(60_000) for _ in range(1000)]
    del kept[:]
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
while len(os.listdir("/proc/self/task")) > 1:
    time.sleep(0.001)
""", "--trace", "pages", "--page-source", "faults")
        end_us = run.footer.finalize_us
        answer = min((r for r in run.records("residency")
                      if r.time_us >= end_us), key=lambda r: r.time_us)
        self.assertEqual(answer.begin_us, answer.time_us)  # as of one moment
        table = resident(run, "--at", "end", "--limit", "0")
        rest = resident_bytes(table, file="unattributed")
        self.assertLessEqual(abs(rest), MIB)

    def test_an_ordinary_user_misses_little(self):
        # Not while the kernel is asked what was there before.
        script = "import time\ntime.sleep(0.1)\n" + READ_IN % (64 * MIB)
        run = self.run_script(script, "--trace", "pages", ordinary=True)
        self.assertTrue(run.header.pages_user_only)
        table = resident(run, "--by", "function")
        missing = resident_bytes(table, file="unattributed")
        self.assertLessEqual(abs(missing), 0.05 * resident_bytes(table))
        self.assertAlmostEqual(resident_bytes(table, function="fill") / MIB, 64,
                               delta=1)

    def test_a_program_that_is_killed_or_becomes_another(self):
        for end, status in (("os.kill(os.getpid(), 9)", -9), ("os._exit(3)", 3),
                            ("os.execv('/bin/true', ['true'])", 0)):
            run = self.run_script(ENDS % end, "--trace", "pages", status=status)
            fault_support.wait_for_collector_to_end(run.path)
            for at in ("peak", "end"):
                table = self.accounted(run, "--by", "function", "--at", at)
                self.assertAlmostEqual(
                    resident_bytes(table, function="fill") / MIB, 60, delta=1,
                    msg=f"{end} {at}")


if __name__ == "__main__":
    unittest.main()
