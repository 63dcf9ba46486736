#!/usr/bin/env python3
"""Which thread took the memory: known sizes, on threads that hold the GIL or do
not, while others sleep, wait and run."""
import re
import unittest

import support
import thread_views

KIB, MIB = 1 << 10, 1 << 20

PROGRAM = r"""
import ctypes
import mmap
import threading
import time
try:
    import numpy
except ImportError:
    numpy = None

kept, lock, over = [], threading.Lock(), threading.Event()
MIB = 1 << 20


def blocks():
    for _ in range(320):
        kept.append(b"x" * (64 << 10))  # 20 MiB
        time.sleep(0)


def array():
    for _ in range(4):
        if numpy is None:
            kept.append(b"x" * (3 * MIB))  # 12 MiB
        else:
            kept.append(numpy.ones(3 * MIB, dtype="u1"))  # 12 MiB
        time.sleep(0.01)


def reader():  # the kernel writes, and no thread has the GIL meanwhile
    with open("/dev/zero", "rb", buffering=0) as zeros:
        for _ in range(8):
            part = mmap.mmap(-1, 4 * MIB, mmap.MAP_PRIVATE)
            kept.append(part)
            zeros.readinto(memoryview(part))  # 32 MiB


def filler():  # C code writes, and does not have the GIL either
    for _ in range(8):
        part = mmap.mmap(-1, 2 * MIB, mmap.MAP_PRIVATE)
        kept.append(part)
        at = ctypes.addressof(ctypes.c_char.from_buffer(part))
        ctypes.memset(at, 1, 2 * MIB)  # 16 MiB
        time.sleep(0.005)


def gives_back():
    for _ in range(5):
        part = mmap.mmap(-1, 2 * MIB, mmap.MAP_PRIVATE)
        part.write(b"x" * (2 * MIB))
        part.close()


def sleeper():
    over.wait()


def waiter():
    with lock:
        pass


def runner():
    while not over.is_set():
        sum(range(1000))


def never():
    return lock.acquire(timeout=0.01)


def napper():
    while not never() and not over.is_set():
        time.sleep(0.01)


ctypes.memset(ctypes.create_string_buffer(1), 1, 1)
lock.acquire()
others = [threading.Thread(target=f, name=f.__name__)
          for f in (sleeper, waiter, runner, napper)]
workers = [threading.Thread(target=f, name=f.__name__)
           for f in (blocks, array, reader, filler, gives_back)]
for thread in others + workers:
    thread.start()
for thread in workers:
    thread.join()
over.set()
others[-1].join()
lock.release()
for thread in others:
    thread.join()
"""
GROWTH = {"blocks": 20 * MIB, "array": 12 * MIB, "reader": 32 * MIB,
          "filler": 16 * MIB}
OTHERS = "sleeper", "waiter", "runner", "napper"

RENAMES = r"""
import threading
import time

kept = []


def work(n):
    kept.append(b"x" * (3 << 20))
    time.sleep(0.05)
    threading.current_thread().name = f"renamed-{n}"
    for _ in range(20):
        kept.append(b"x" * (100 << 10))
        time.sleep(0.002)
    threading.current_thread().name = f"again-{n}"
    for _ in range(20):
        kept.append(b"x" * (100 << 10))
        time.sleep(0.002)


threads = [threading.Thread(target=work, args=(n,), name=f"begun-{n}")
           for n in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


class ThreadGrowthTest(support.PageEventsTest):
    def assert_growth(self, run, within):
        found = thread_views.table(run)
        lines = PROGRAM.splitlines()
        for name, size in GROWTH.items():
            growth = int(found[name]["growth_bytes"])
            self.assertAlmostEqual(growth, size, msg=name,
                                   delta=max(64 * KIB, within * size))
            at = re.fullmatch(r".*/script\.py:(\d+) " + name,
                              found[name]["top_line"])
            self.assertIsNotNone(at, found[name]["top_line"])
            self.assertIn(f"# {size // MIB} MiB", lines[int(at[1]) - 1])
        given = found["gives_back"]
        self.assertGreaterEqual(int(given["growth_bytes"]), 10 * MIB)
        self.assertLess(int(given["net_bytes"]), 2.5 * MIB)
        for name in OTHERS:
            self.assertLess(int(found[name]["growth_bytes"]), 256 * KIB, name)

    def test_each_thread_has_what_it_brought(self):
        run = self.run_script(PROGRAM, "--trace", "calls,pages",
                              env=support.USUAL)
        self.assert_growth(run, 0.02)

    def test_an_ordinary_user_sees_it_too(self):
        run = self.run_script(PROGRAM, "--trace", "calls,pages",
                              env=support.USUAL, ordinary=True)
        if run.header.page_scan or not run.header.page_period:
            self.skipTest("an ordinary user has no page faults here")
        self.assert_growth(run, 0.05)

    def test_all_of_them_and_the_rest_are_what_rss_changed_by(self):
        run = self.run_script(PROGRAM, "--trace", "calls,pages",
                              env=support.USUAL)
        found = thread_views.table(run)
        total = sum(int(row["net_bytes"]) for row in found.values())
        last = run.records("process")[-1].rss_bytes
        self.assertAlmostEqual(total, last - run.header.first_rss_bytes,
                               delta=MIB)
        self.assertLess(abs(int(found["unattributed"]["net_bytes"])), 2 * MIB)

    def test_rows_tell_what_their_thread_did(self):
        run = self.run_script(PROGRAM, "--trace", "calls,pages", "--min-drss",
                              "0", env=support.USUAL)
        views = thread_views.views(run)
        print(f"\n{'thread':12}{'true':>10}" + "".join(
            f"{view:>17}" for view in views))
        worst = dict.fromkeys(views, 0)
        for name in (*GROWTH, *OTHERS):
            size = GROWTH.get(name, 0)
            found = {view: by_name.get(name, 0)
                     for view, by_name in views.items()}
            print(f"{name:12}{size / MIB:10.2f}" + "".join(
                f"{growth / MIB:17.2f}" for growth in found.values()))
            for view, growth in found.items():
                worst[view] = max(worst[view], abs(growth - size))
            for view in "rows", "caused":
                self.assertAlmostEqual(found[view], size, msg=(name, view),
                                       delta=max(64 * KIB, 0.02 * size))
        self.assertLess(worst["caused"], worst["observed"])
        self.assertLess(worst["caused"], worst["sleep-corrected"])

    def test_a_renamed_thread_is_one_by_its_last_name(self):
        for options in ((), ("--trace", "pages", "--heap", "off")):
            run = self.run_script(RENAMES, *options, env=support.USUAL)
            found = thread_views.table(run)
            self.assertEqual(set(found) - {"unattributed"},
                             {"MainThread", "again-0", "again-1"})
            for name in "again-0", "again-1":
                self.assertAlmostEqual(int(found[name]["growth_bytes"]) / MIB,
                                       7, delta=0.5)
            if not options:  # rows have the names of their time
                names = {thread_views.name_of(row["thread"])
                         for row in thread_views.rows(run)}
                self.assertLessEqual({"begun-0", "renamed-0", "again-0"}, names)


if __name__ == "__main__":
    unittest.main()
