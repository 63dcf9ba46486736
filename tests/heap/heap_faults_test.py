#!/usr/bin/env python3
"""Heap events where memory runs out, and where programs end badly: the program
sees what it would see, the run file is whole as far as it goes, and what it
says is right."""
import os
import signal
import subprocess
import time
import unittest

import fault_support
import heap_decoder
import heap_support
import support
from heap_support import at
from waiting import PATIENCE_S

WORK = r'''
import os, sys
kept = [[str(n), bytes(n)] for n in range(2000)]
del kept[::3]
'''

NO_MEMORY = WORK + r'''
def work():
    items = [n for n in range(100)]
    table = {str(n): [n] for n in items}
    grown = bytearray()
    for n in range(200): grown += b"x" * n
    return [items, table, grown, "".join(table), sorted(table)]
kept.append(work())
failed, passed = 0, 0
''' + at("before") + r'''
for n in range(1, 2001, 9):
    heap_oracle.fail(n)
    try:
        kept.append(work())
        passed += 1
    except MemoryError as error:
        failed += 1
    finally:
        heap_oracle.fail(0)
''' + at("after") + r'''
print(passed > 0, failed > 60)
del kept
''' + at("deleted")

LITTLE_SPACE = WORK + r'''
import resource
try: from pymemrun import mark
except ImportError: mark = str
mark("begin")
def size():
    with open("/proc/self/statm") as file: return int(file.read().split()[0])
limit = size() * resource.getpagesize() + (40 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
failed = []
for n in (1 << 28, 1 << 40, 1 << 62):
    try: kept.append(bytes(n))
    except MemoryError: failed.append(n)
block = bytearray(b"kept" * 1000)  # 4001
for n in (1 << 28, 1 << 40):
    try: block.extend(bytes(n))
    except MemoryError: failed.append(n)
    try: block *= n // 1000
    except MemoryError: failed.append(n)
print(len(failed), bytes(block[:8]), len(block))
mark("kept")
for n in (100000, 400):
    many = []
    try:
        while True:
            many.append(b"x" * n + b"%d" % len(many))  # 0
    except MemoryError:
        failed.append(n)
    del many
last = [bytes(100000 + n) for n in range(10)]  # 1000375
print(len(failed))
mark("emptied")
'''

FORKS = WORK + r'''
for n in range(5):
    child = os.fork()
    if child == 0:
        kept.clear()
        more = [bytes(n) for n in range(3000)]
        os._exit(len(more) % 7)
    kept.append(os.waitpid(child, 0)[1])
    kept.append([str(n)] * n)
print(kept[-10:-1:2])
''' + at("forked")

NO_DESCRIPTORS = WORK + r'''
os.closerange(3, 1000)
kept.append([bytes(n) for n in range(1000)])
print(len(kept))
''' + at("closed")

ENDS = {
    "os._exit": ("os._exit(7)", 7),
    "kill -9": ("sys.stdout.flush(); os.kill(os.getpid(), 9)", -9),
    "abort": ("sys.stdout.flush(); os.abort()", -6),
    "exec": ("os.execv('/bin/sh', ['sh', '-c', 'exit 5'])", 5),
    "exception": ("1 / 0", 1),
    "sys.exit": ("sys.exit(3)", 3),
}


class WithOracleTest(heap_support.HeapTest):
    def check(self, text, *options, **kwargs):
        run, heap, oracle = self.run_above_oracle(
            text, "--heap", "all", "--trace", "none", *options, **kwargs)
        self.assertEqual(heap.lost, 0)
        found, live = heap_support.live_at_marks(heap)
        left_out = self.own_lines(text)
        for name in oracle:
            with self.subTest(moment=name):
                self.compare(found[name], oracle[name], left_out)
        self.assertGreaterEqual(len(oracle), text.count("mark("))
        self.assertGreater(live.allocations, 5000)
        return run

    def test_requests_that_fail(self):
        run = self.check(NO_MEMORY)
        self.assertEqual((run.stdout, run.stderr), ("True True\n", ""))

    def test_children_do_not_disturb(self):
        run = self.check(FORKS)
        status = 3000 % 7 << 8
        self.assertEqual(run.stdout, f"{[status] * 5}\n")

    def test_descriptors_closed(self):
        run = self.check(NO_DESCRIPTORS)
        self.assertEqual((run.stdout, run.stderr), ("1334\n", ""))

    def test_ends(self):
        for name, (statement, status) in ENDS.items():
            with self.subTest(name):
                self.check(WORK + at("last") + statement + "\n", status=status)


class LittleSpaceTest(support.ProgramTest):
    def test_what_cannot_be_had_is_not_counted(self):
        run = self.run_script(LITTLE_SPACE, "--heap", "all", "--trace", "none")
        self.assertEqual(run.stdout, self.run_python(self.write(
            "script.py", LITTLE_SPACE)))
        self.assertEqual(run.stderr, "")
        heap = heap_decoder.HeapRun(run)
        found, live = heap_support.live_at_marks(heap)
        self.assertGreater(live.allocations, 10000)
        for moment, least in (("kept", 4001), ("emptied", 1000375)):
            sizes = {line: size for (file, line), (_, size)
                     in found[moment].items() if file.endswith("script.py")}
            for number, line in enumerate(LITTLE_SPACE.splitlines(), 1):
                expected = line.partition("  # ")[2]
                if expected and int(expected) <= least:
                    with self.subTest(line, moment=moment):
                        # Allocators' own books, a list that has grown.
                        self.assertLess(sizes.get(number, 0) - int(expected),
                                        8192)
                        self.assertGreaterEqual(sizes.get(number, 0),
                                                int(expected))


# Waits for a line twice, and allocates between.
WAITS = r'''
import sys
print("ready", flush=True)
sys.stdin.readline()
for _ in range(20):
    kept = [[str(n), bytes(n)] for n in range(10000)]
    del kept[::3]
print(sum(len(pair[0]) for pair in kept), flush=True)
sys.stdin.readline()
sys.exit(4)
'''


class CollectorTest(support.ProgramTest):
    def start(self, *options):
        type(self)._runs += 1
        self.path = os.path.join(self.folder, f"run{self._runs}.pb")
        self.program = subprocess.Popen(
            [support.PYMEMRUN, "--quiet", "-o", self.path, "--trace", "none",
             *options, self.write("waits.py", WAITS)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(self.program.communicate)
        self.addCleanup(self.program.kill)
        self.assertEqual(self.program.stdout.readline(), "ready\n")
        self.collector, = fault_support.collectors(self.path)

    def go_on(self):
        self.program.stdin.write("\n")
        self.program.stdin.flush()
        return self.program.stdout.readline()

    def file_is_readable(self):
        read = subprocess.run([support.PYMEMCAT, self.path, "--csv",
                               "--records", "heap"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertEqual(read.returncode, 0, read.stderr)

    def plain(self):
        return subprocess.run(
            [support.PYTHON, self.write("waits.py", WAITS)], input="\n\n",
            text=True, stdout=subprocess.PIPE).stdout.splitlines(True)[1]

    def test_collector_killed(self):
        for mode in ("sampled", "all"):
            with self.subTest(mode):
                self.start("--heap", mode)
                self.assertTrue(fault_support.wait_until(
                    lambda: os.path.getsize(self.path) > 0))
                os.kill(self.collector, signal.SIGKILL)
                self.assertEqual(self.go_on(), self.plain())
                self.program.communicate("\n", timeout=PATIENCE_S)
                self.assertEqual(self.program.returncode, 4)
                self.file_is_readable()

    def test_what_finds_no_room_is_counted(self):
        self.start("--heap", "all", "--on-full", "drop")
        os.kill(self.collector, signal.SIGSTOP)
        start = time.monotonic()
        try:
            self.assertEqual(self.go_on(), self.plain())
        finally:
            os.kill(self.collector, signal.SIGCONT)
        self.assertLess(time.monotonic() - start, 30)
        time.sleep(0.3)  # what has been in the ring is taken
        self.program.communicate("\n", timeout=PATIENCE_S)
        self.assertEqual(self.program.returncode, 4)
        fault_support.wait_for_collector_to_end(self.path)
        self.file_is_readable()
        records = list(support.file_records(self.path))
        footer = records[-1].footer
        lost = sum(record.heap_loss.events for record in records)
        self.assertGreater(lost, 100000)
        self.assertEqual(footer.heap_events_lost, lost)
        # Each round: lists, strings and bytes, and most of their frees.
        self.assertGreater(
            lost + footer.heap_allocations + footer.heap_frees,
            20 * 2 * 29000)
        events = sum(len(record.heap.op) for record in records)
        self.assertEqual(events, footer.heap_allocations + footer.heap_frees)


if __name__ == "__main__":
    unittest.main()
