#!/usr/bin/env python3
"""Memory that C code keeps in a pool is charged to the lines that use it."""
import json
import subprocess
import unittest

import support

MIB = 1 << 20

# Reserves a pool as a C library's allocator does, and uses a part of it later.
POOL = r"""
import ctypes
import mmap
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]


def reserve(size):
    return libc.mmap(None, size, 3, 0x22, -1, 0)  # reserves


def use(address, size):
    ctypes.memset(address, 1, size)  # uses


def own(size):
    return mmap.mmap(-1, size, flags=0x22)  # owns


def fill(area):
    area.write(bytes(len(area)))  # fills


pool = reserve(256 << 20)
area = own(24 << 20)
fill(area)
time.sleep(0.6)  # a scan tells of one line only
use(pool, 60 << 20)
time.sleep(0.6)
"""


def line_of(comment):
    return next(number for number, line in enumerate(POOL.split("\n"), 1)
                if line.endswith("# " + comment))


class PoolsTest(support.PageEventsTest):
    def check(self, *options):
        run = self.run_script(POOL, *options, env=support.USUAL)
        done = subprocess.run([support.PYMEMREPORT, "report", "--json", run.path],
                              check=True, capture_output=True, text=True)
        end = json.loads(done.stdout)["end"]
        lines = {place["line"]: place for place in end["places"] if place["own"]}
        self.assertAlmostEqual(end["parts"]["pools"], 60 * MIB, delta=2 * MIB)
        self.assertAlmostEqual(end["parts"]["native_heap"], 24 * MIB, delta=2 * MIB)
        uses = lines[line_of("uses")]
        self.assertAlmostEqual(uses["pool_bytes"], 60 * MIB, delta=2 * MIB)
        self.assertEqual(uses["kept_by"], "libffi")
        self.assertAlmostEqual(lines[line_of("owns")]["bytes"], 24 * MIB, delta=MIB)
        for other in "reserves", "fills":
            self.assertLess(lines.get(line_of(other), {"bytes": 0})["bytes"], 2 * MIB)

    def test_page_events_tell_who_uses_them(self):
        self.check("--page-source", "faults")

    def test_scans_tell_what_ran_when_they_grew(self):
        self.check("--page-source", "scan")

    def test_without_calls_the_line_that_reserves_them_has_none(self):
        run = self.run_script(POOL, "--light", "--page-source", "scan",
                              env=support.USUAL)
        done = subprocess.run([support.PYMEMREPORT, "report", "--json", run.path],
                              check=True, capture_output=True, text=True)
        end = json.loads(done.stdout)["end"]
        self.assertAlmostEqual(end["parts"]["pools"], 60 * MIB, delta=2 * MIB)
        lines = {place["line"]: place for place in end["places"] if place["own"]}
        for other in "reserves", "owns", "fills":
            place = lines.get(line_of(other), {"pool_bytes": 0})
            self.assertLess(place.get("pool_bytes", 0), 2 * MIB, other)


if __name__ == "__main__":
    unittest.main()
