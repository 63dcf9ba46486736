#!/usr/bin/env python3
"""Which thread took the memory: known sizes, on threads that hold the GIL or do
not, while others sleep, wait and run."""
import csv
import io
import re
import subprocess
import unittest

import support

KIB, MIB = 1 << 10, 1 << 20

PROGRAM = r"""
import mmap
import threading
import time

kept, lock, over = [], threading.Lock(), threading.Event()
MIB = 1 << 20


def blocks():
    for _ in range(320):
        kept.append(b"x" * (64 << 10))  # 20 MiB
        time.sleep(0)


def array():
    for _ in range(4):
        kept.append(b"x" * (3 * MIB))  # 12 MiB
        time.sleep(0.01)


def reader():  # the kernel writes, and no thread has the GIL meanwhile
    with open("/dev/zero", "rb", buffering=0) as zeros:
        for _ in range(8):
            part = mmap.mmap(-1, 4 * MIB, mmap.MAP_PRIVATE)
            kept.append(part)
            zeros.readinto(memoryview(part))  # 32 MiB


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
    total = 0
    while not over.is_set():
        total += len("x")


lock.acquire()
others = [threading.Thread(target=f, name=f.__name__)
          for f in (sleeper, waiter, runner)]
workers = [threading.Thread(target=f, name=f.__name__)
           for f in (blocks, array, reader, gives_back)]
for thread in others + workers:
    thread.start()
for thread in workers:
    thread.join()
lock.release()
over.set()
for thread in others:
    thread.join()
"""
GROWTH = {"blocks": 20 * MIB, "array": 12 * MIB, "reader": 32 * MIB}
OTHERS = "sleeper", "waiter", "runner"


class ThreadGrowthTest(support.PageEventsTest):
    def threads(self, run):
        done = subprocess.run([support.PYMEMREPORT, "threads", "--csv", run.path],
                              check=True, capture_output=True, text=True)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        names = [re.sub(r"#\d+$", "", row["thread"]) for row in rows]
        self.assertEqual(len(set(names)), len(names), names)
        return dict(zip(names, rows))

    def test_each_thread_has_what_it_brought(self):
        run = self.run_script(PROGRAM, "--trace", "calls,pages",
                              env=support.USUAL)
        found = self.threads(run)
        lines = PROGRAM.splitlines()
        for name, size in GROWTH.items():
            growth = int(found[name]["growth_bytes"])
            self.assertAlmostEqual(growth, size, msg=name,
                                   delta=max(64 * KIB, 0.02 * size))
            at = re.fullmatch(r".*/script\.py:(\d+) " + name,
                              found[name]["top_line"])
            self.assertIsNotNone(at, found[name]["top_line"])
            self.assertIn(f"# {size // MIB} MiB" if name != "reader" else "readinto",
                          lines[int(at[1]) - 1])
        given = found["gives_back"]
        self.assertGreaterEqual(int(given["growth_bytes"]), 10 * MIB)
        self.assertLess(int(given["net_bytes"]), 2.5 * MIB)
        for name in OTHERS:
            self.assertLess(int(found[name]["growth_bytes"]), 256 * KIB, name)

    def test_all_of_them_and_the_rest_are_what_rss_changed_by(self):
        run = self.run_script(PROGRAM, "--trace", "calls,pages",
                              env=support.USUAL)
        found = self.threads(run)
        total = sum(int(row["net_bytes"]) for row in found.values())
        last = run.records("process")[-1].rss_bytes
        self.assertAlmostEqual(total, last - run.header.first_rss_bytes,
                               delta=MIB)
        self.assertLess(abs(int(found["unattributed"]["net_bytes"])), 2 * MIB)


if __name__ == "__main__":
    unittest.main()
