#!/usr/bin/env python3
"""What a library's own threads allocate is charged to the line that waits in its
call, and marked."""
import json
import os
import subprocess
import unittest

import support

MIB = 1 << 20

# In a folder of installed packages. `read` lets Python threads work, `fill` one of
# C code's.
LIBRARY = """
import ctypes
from concurrent.futures import ThreadPoolExecutor

libc = ctypes.CDLL(None)


def part(n):
    return [str(i) * 4 for i in range(n)]


def read(n):
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(part, [n, n]), [])


def fill(size):
    thread, block = ctypes.c_ulong(), ctypes.c_void_p()
    libc.pthread_create(ctypes.byref(thread), None, libc.malloc, ctypes.c_size_t(size))
    libc.pthread_join(thread, ctypes.byref(block))
    ctypes.memset(block, 1, size)
    return block
"""

PROGRAM = """
import sys
import time

sys.path.insert(0, sys.argv[1])
import fakelib


def load():
    return fakelib.read(300_000)  # waits


def fill():
    return fakelib.fill(40 << 20)  # fills


rows = load()
between = [str(i) for i in range(50_000)]
block = fill()
time.sleep(0.1)
"""


def line_of(comment):
    return next(number for number, line in enumerate(PROGRAM.split("\n"), 1)
                if line.endswith("# " + comment))


class LibraryThreadsTest(support.PageEventsTest):
    def report(self, run, *options):
        return subprocess.run([support.PYMEMREPORT, "report", *options, run.path],
                              check=True, capture_output=True, text=True).stdout

    def check(self, *options, knows_native=True):
        self.write("site-packages/fakelib.py", LIBRARY)
        script = self.write("job.py", PROGRAM)
        run = self.pymemrun(*options, script, os.path.join(self.folder, "site-packages"),
                            env=support.USUAL)
        end = json.loads(self.report(run, "--json"))["end"]
        lines = {place["line"]: place for place in end["places"] if place["own"]}
        waits = lines[line_of("waits")]
        self.assertGreater(waits["bytes"], 20 * MIB)
        self.assertGreater(waits["waits_bytes"], 0.8 * waits["bytes"])
        self.assertEqual(waits["called"], "fakelib read")
        self.assertIn("[its threads] return fakelib.", self.report(run))
        if not knows_native:
            return
        self.assertAlmostEqual(lines[line_of("fills")]["bytes"], 40 * MIB, delta=6 * MIB)
        libraries = sum(place["bytes"] - place["file_bytes"]
                        for place in end["places"] if not place["own"])
        self.assertLess(libraries, 0.2 * waits["bytes"])

    def test_with_page_events(self):
        self.check("--page-source", "faults")

    def test_with_scanned_pages(self):
        self.check("--page-source", "scan")

    def test_without_calls(self):
        """Nothing tells then that the program was in `fill`."""
        self.check("--light", knows_native=False)


if __name__ == "__main__":
    unittest.main()
