#!/usr/bin/env python3
"""What happens to the program, and to the file, where page events end early or
cannot be had at all."""
import csv
import io
import os
import signal
import subprocess
import time
import unittest

import fault_support
import perf_support
import support
from page_support import resident_bytes
from waiting import PATIENCE_S, wait_until

MIB = 1 << 20

# Touches memory, waits for us, and touches more.
TWICE = r'''
import mmap, sys
def fresh(mib):
    return mmap.mmap(-1, mib << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
def before(m):
    for at in range(0, len(m), 4096):
        m[at] = 1
    return m
def after(m):
    for at in range(0, len(m), 4096):
        m[at] = 1
    return sum(m[::4096])
kept = before(fresh(16))
print("ready", flush=True)
sys.stdin.readline()
print("goes on", flush=True)
print(sum(after(fresh(8)) for i in range(64)), flush=True)
sys.exit(3)
'''

OF_A_THREAD = r'''
import threading
def work():
    for _ in range(10):
        blocks = [bytes(600 + i % 3000) for i in range(20_000)]
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("ok")
'''


class CollectorIsKilledTest(support.PageEventsTest):
    """The program goes on as if nothing was, also where signals of its faults
    are under way, and what was written by then can be read."""

    def start(self, *options):
        script = self.write("twice.py", TWICE)
        self.path = os.path.join(self.folder, self.id() + ".pb")
        self.program = subprocess.Popen(
            [support.PYMEMRUN, "--quiet", "--force", "-o", self.path,
             "--trace", "pages", *options, script], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(self.program.kill)
        self.expect("ready")
        self.assertTrue(wait_until(  # what came by now is in the file
            lambda: self.resident_mib(self.report()) > 15))
        self.collector, = fault_support.collectors(os.path.realpath(self.path))

    def expect(self, line):
        self.assertEqual(self.program.stdout.readline(), line + "\n")

    def go_on(self):
        self.program.stdin.write("\n")
        self.program.stdin.flush()
        self.expect("goes on")

    def ends_as_under_python(self):
        plain = subprocess.run([support.PYTHON, self.program.args[-1]],
                               input="\n", text=True, stdout=subprocess.PIPE)
        out, err = self.program.communicate(timeout=PATIENCE_S)
        self.assertEqual(self.program.returncode, plain.returncode)
        self.assertEqual("ready\ngoes on\n" + out, plain.stdout)
        # Ours alone; the last says how far the file goes.
        lines = err.splitlines()
        self.assertIn("may be incomplete", lines[-1])
        for line in lines:
            self.assertTrue(line.startswith("pymemrun: "), line)

    def report(self):
        return subprocess.run(
            [support.PYMEMREPORT, "resident", self.path, "--csv", "--by",
             "function"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)

    def resident_mib(self, report):
        """Of the function `before`."""
        table = list(csv.DictReader(io.StringIO(report.stdout)))
        return resident_bytes(table, function="before") / MIB

    def file_is_readable(self):
        report = self.report()
        self.assertEqual(report.returncode, 0)
        self.assertEqual(report.stderr.count("\n"), 1)
        self.assertIn("no footer", report.stderr)
        self.assertAlmostEqual(self.resident_mib(report), 16, delta=1)

    def test_while_the_program_waits(self):
        self.start()
        os.kill(self.collector, signal.SIGKILL)
        self.go_on()
        self.ends_as_under_python()
        self.file_is_readable()

    def test_while_pages_come(self):
        for options in ((), ("--page-period", "1")):
            with self.subTest(options):
                self.start(*options)
                self.go_on()
                time.sleep(0.1)
                os.kill(self.collector, signal.SIGKILL)
                self.ends_as_under_python()
                self.file_is_readable()


class HeapsOfAnotherSizeTest(support.PageEventsTest):
    """What is known of glibc's heaps holds for its usual settings alone."""

    def test_the_program_runs_as_ever(self):
        for value in ("0", "1", "2", "2097152"):
            tunables = f"glibc.malloc.hugetlb={value}:glibc.malloc.mxfast=0"
            run = self.run_script(OF_A_THREAD, "--trace", "pages",
                                  env={"GLIBC_TUNABLES": tunables})
            self.assertEqual(run.stdout, "ok\n", value)
            self.assertGreater(run.footer.page_events, 1000)


class PerfIsRefusedTest(support.ProgramTest):
    def refused(self, options, *words, heap="off", source="faults"):
        run = self.run_script("print(6 * 7)", "--trace", options,
                              "--heap", heap, "--page-source", source,
                              preexec=perf_support.refuse_perf)
        self.assertEqual(run.stdout, "42\n")
        self.assertEqual(run.stderr.count("\n"), 1)
        for word in words:
            self.assertIn(word, run.stderr)
        return run

    def test_where_perf_is_refused_pages_are_scanned(self):
        for options in "pages", "calls,pages":
            run = self.refused(options, "perf_event_open", "perf_event_paranoid",
                               "charged to the code that allocated them",
                               source="auto")
            self.assertTrue(run.header.page_scan)
            self.assertGreater(len(list(run.records("residency"))), 1)

    def test_where_perf_is_refused_one_line_says_what_would_help(self):
        run = self.refused("pages", "perf_event_open", "perf_event_paranoid",
                           "--trace calls", "runs untraced")
        with self.assertRaises(FileNotFoundError):
            open(run.path)

    def test_where_perf_is_refused_the_heap_is_traced_all_the_same(self):
        run = self.refused("pages", "perf_event_paranoid",
                           "the heap is traced", heap="sampled")
        self.assertGreater(len(run.records()), 1)

    def test_where_perf_is_refused_calls_are_traced_all_the_same(self):
        run = self.refused("calls,pages", "perf_event_paranoid",
                           "calls are traced")
        self.assertGreater(run.footer.events, 1)
        self.assertEqual(run.footer.page_events, 0)


if __name__ == "__main__":
    unittest.main()
