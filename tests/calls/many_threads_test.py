#!/usr/bin/env python3
"""10,000 threads, 64 at a time: nothing is lost, each has its own events and
growth, and neither the program nor the collector holds more for those that have
ended."""
import collections
import csv
import io
import os
import re
import subprocess
import unittest

import support
from fault_support import collectors

AT_ONCE = 64
THREADS = 10_000
BLOCK = 256 << 10
SLACK = 64 << 10
MIB = 1 << 20

# Each thread of a round waits for the others, so that all are there at once.
# One of each round keeps a block; which, is known by its name.
PROGRAM = f"""
import mmap, sys, threading
kept = []
def keep():
    block = mmap.mmap(-1, {BLOCK})
    for at in range(0, len(block), 4096): block[at] = 1
    kept.append(block)
def work(keeps, together):
    together.wait()
    if keeps: keep()
def begin(number, keeps, together):
    thread = threading.Thread(target=work, args=(keeps, together),
                              name=f"worker {{number}}")
    thread.start()
    return thread
def a_round(first, count):
    together = threading.Barrier(count)
    threads = [begin(first + i, i == 0, together) for i in range(count)]
    for thread in threads: thread.join()
for first in range(0, {THREADS}, {AT_ONCE}):
    a_round(first, min({AT_ONCE}, {THREADS} - first))
    if first in (20 * {AT_ONCE}, {THREADS} // {AT_ONCE} * {AT_ONCE}):
        print(first, flush=True)
        sys.stdin.readline()
"""


def memory_of(pid):
    """Its resident bytes."""
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"^VmRSS:\s+(\d+) kB", file.read(),
                             re.MULTILINE)[1]) << 10


class ManyThreadsTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = os.path.join(cls.folder, "run.pb")
        script = cls.write(cls, "threads.py", PROGRAM)
        variables = os.environ | support.CALLS_ALONE
        cls.memory = []
        with subprocess.Popen(
                [support.PYMEMRUN, "--quiet", "-o", path, "--min-drss", "0",
                 "--trace", "calls,pages", script], env=variables, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            for _ in program.stdout:
                cls.memory.append([memory_of(pid) for pid in
                                   (program.pid, *collectors(path))])
                program.stdin.write("\n")
                program.stdin.flush()
        cls.status = program.returncode
        result = subprocess.CompletedProcess([], cls.status, "", "")
        cls.run_ = support.Run(path, result)

    def test_nothing_is_lost(self):
        self.assertEqual(self.status, 0)
        rows = self.run_.rows()
        self.assert_nothing_lost(self.run_, rows)
        calls = collections.Counter(
            (row["what"], row["thread"]) for row in rows
            if row["function"] == "work" and row["what"][:2] != "C_")
        self.assertEqual(set(calls.values()), {1})
        self.assertEqual(len(calls), 2 * THREADS)
        # Native ids may come again; names do not.
        names = {thread.rpartition("#")[0] for _, thread in calls}
        self.assertEqual(names, {f"worker {n}" for n in range(THREADS)})

    def test_the_growth_of_each(self):
        self.need_counters()
        threads = list(csv.DictReader(io.StringIO(self.run_.report(
            "threads", "--csv", "--limit", "0"))))
        workers = {row["thread"].rpartition("#")[0]: row for row in threads
                   if row["thread"].startswith("worker")}
        named = 0
        for n in range(THREADS):
            row = workers[f"worker {n}"]
            keeps = n % AT_ONCE == 0
            self.assertLess(BLOCK * keeps - SLACK, int(row["growth_bytes"]))
            # The function alone that keeps a block is told to grow by one.
            grew_there = row["top_line"].endswith(" keep")
            self.assertLessEqual(grew_there, keeps, row)
            named += grew_there
        # Where faults are many, one in several alone tells its line.
        self.assertGreater(named, 0.9 * THREADS / AT_ONCE)

    def test_memory_is_bounded(self):
        self.assertEqual([len(moment) for moment in self.memory], [2, 2])
        early, late = self.memory
        kept = THREADS // AT_ONCE * BLOCK
        self.assertLess(late[0] - early[0], kept + 4 * MIB)
        # What the collector remembers of the last 16,384 threads' pages.
        self.assertLess(late[1] - early[1], 28 * MIB)


if __name__ == "__main__":
    unittest.main()
