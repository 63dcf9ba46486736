#!/usr/bin/env python3
"""Resident memory by line, from page events: what each line has touched, beside
the kernel's own word on the very pages that the line's objects lie in."""
import csv
import io
import json
import subprocess
import sys
import unittest

import page_support
import support

TOLERANCE = 0.02, 64 * 1024

# Eight structures on eight lines, in four threads; the pages of each are known by
# the addresses of its objects. What pagemap says of them is printed when all are
# there and, after five are dropped, at the end. Small objects come from arenas
# that were not there before: each structure is much larger than what is free. The
# lists do not grow, so that nothing is left behind that the line touched, too.
STRUCTURES = r'''
import ctypes, gc, json, mmap, os, sys, threading
import numpy as np
gc.disable()
PAGE = 4096
pagemap = os.open("/proc/self/pagemap", os.O_RDONLY)

def resident(pages):
    return sum(PAGE for page in pages
               if os.pread(pagemap, 8, 8 * page)[7] & 0x80)

def pages_of(address, size):
    return set(range(address // PAGE, (address + size - 1) // PAGE + 1))

def pages_of_objects(objects):
    """Those of the objects, and of the list's own table of them."""
    table = ctypes.c_void_p.from_address(id(objects) + 24).value
    return ({id(x) // PAGE for x in objects} |
            pages_of(table, sys.getsizeof(objects) - sys.getsizeof([])))

def buffer(b):
    return ctypes.addressof(ctypes.c_char.from_buffer(b))

kept = {}
lock = threading.Lock()
turns = [threading.Semaphore(0) for n in range(4)]

def small_bytes():
    a = kept["small_bytes"] = [None] * 150_000
    for n in range(150_000): a[n] = b"%050d" % n

def floats():
    a = kept["floats"] = [None] * 400_000
    for n in range(400_000): a[n] = n + 0.5

def one_bytearray():
    kept["one_bytearray"] = bytearray(b"\1") * 20_000_000

def ones():
    kept["ones"] = np.arange(2_000_000)

def filled():
    a = np.empty(3_000_000)
    a.fill(1.5)
    kept["filled"] = a

def mapped():
    m = mmap.mmap(-1, 12_000_000, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.write(source)
    kept["mapped"] = m

def read_in():
    b = np.empty(16_000_000, dtype=np.uint8)
    with open("/dev/zero", "rb", buffering=0) as zero:
        zero.readinto(b)
    kept["read_in"] = b

def strings():
    a = kept["strings"] = [None] * 120_000
    for n in range(120_000): a[n] = "%060d" % n

source = b"\1" * 12_000_000
WORK = [(small_bytes, floats), (one_bytearray, ones), (filled, mapped),
        (read_in, strings)]

def work(n):
    for step in WORK[n]:
        turns[n].acquire()
        step()
        done.release()

done = threading.Semaphore(0)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads:
    t.start()
for round in range(2):
    for turn in turns:
        turn.release()
        done.acquire()

def known():
    found = {}
    for name, thing in kept.items():
        if isinstance(thing, list):
            found[name] = pages_of_objects(thing)
        elif isinstance(thing, np.ndarray):
            found[name] = pages_of(thing.ctypes.data, thing.nbytes)
        elif isinstance(thing, (bytearray, mmap.mmap)):
            found[name] = pages_of(buffer(thing), len(thing))
    return found
'''

MEASURED = STRUCTURES + r'''
import time
pages = known()
peak = {name: resident(p) for name, p in pages.items()}
import pymemrun
pymemrun.mark("peak")
time.sleep(0.6)  # the kernel is asked meanwhile what is resident
for name in ("floats", "one_bytearray", "ones", "read_in", "mapped"):
    del kept[name]
for t in threads:
    t.join()
pymemrun.mark("end")
time.sleep(0.6)
print(json.dumps([peak, {name: resident(p) for name, p in pages.items()},
                  {name: [f.__code__.co_firstlineno,
                          max(l for *_, l in f.__code__.co_lines() if l)]
                   for name, f in globals().items()
                   if name in peak and hasattr(f, "__code__")}]))
'''


def report(run, command, *options):
    """A table of pymemreport's as a list of dicts."""
    text = subprocess.run(
        [support.PYMEMREPORT, command, run.path, *options, "--csv"],
        check=True, stdout=subprocess.PIPE).stdout.decode()
    return list(csv.DictReader(io.StringIO(text)))


def resident(run, *options):
    return report(run, "resident", *options)


def code_of(run, at):
    """Bytes of libraries' files that each line of the script brought: code that
    ran there first, which no structure of it holds."""
    return {int(row["line"] or 0): int(row["bytes"]) for row in report(
        run, "query", "SELECT line, sum(bytes) AS bytes FROM pages"
        " WHERE mapping LIKE '/%' AND file LIKE '%script.py' GROUP BY line",
        "--at", at)}


# Of many figures of many runs, none is off by more standard errors than that.
MOST_ERRORS = 5


class ResidentLinesTest(support.PageEventsTest):
    def check(self, run, at, truth, spans, of=None):
        """`of`: the tolerance is a share of these instead."""
        table, code = resident(run, "--at", at), code_of(run, at)
        for name, expected in truth.items():
            first, last = spans[name]
            rows = [row for row in table if row["file"].endswith("script.py") and
                    first <= int(row["line"] or 0) <= last]
            found = sum(int(row["resident_bytes"]) for row in rows) - sum(
                code.get(line, 0) for line in range(first, last + 1))
            error = sum(int(row.get("error_bytes") or 0) ** 2
                        for row in rows) ** 0.5
            share, least = TOLERANCE
            self.assertLessEqual(abs(found - expected),
                                 max(share * (of or truth)[name], least) +
                                 MOST_ERRORS * error,
                                 f"{name}: {found}, the kernel says {expected}")
            self.assertLessEqual(
                error, max(0.1 * (of or truth)[name], 4 * least), name)

    def unattributed(self, table):
        rows = [row for row in table if row["function"] == "unattributed" or
                row["file"] == "unattributed"]
        self.assertEqual(len(rows), 1, table[:3])
        total = sum(int(row["resident_bytes"]) for row in table)
        return int(rows[0]["resident_bytes"]), total

    def check_run(self, run, allowed, some_inferred=False,
                  least_events=10_000):
        peak, end, spans = json.loads(run.stdout)
        self.check(run, "peak", peak, spans)
        # The interpreter's own end drops the rest.
        marks = {mark.label: mark.time_us / 1e6 for mark in run.records("mark")}
        # A line's last pages may be inferred to be its neighbour's.
        self.check(run, str(marks[b"end"] + 0.5), end, spans,
                   peak if some_inferred else None)
        missing, total = self.unattributed(resident(run, "--at", "peak"))
        self.assertLessEqual(abs(missing), allowed * total)
        footer = run.footer
        self.assertEqual(footer.page_samples_lost, 0)
        self.assertGreater(footer.page_events, least_events)

    def test_each_line_has_what_it_touched(self):
        self.check_run(self.run_script(MEASURED, "--trace", "pages",
                                       "--page-period", "1"), 0.02)

    def test_with_the_default_period(self):
        self.check_run(self.run_script(MEASURED, "--trace", "pages"), 0.02,
                       some_inferred=True)

    def run_asked_early(self, *options):
        """A run, its rows of pages, and when the kernel first said what is
        resident. Until then each page is recorded: on a busy machine that may
        be most, and then little is left to choose from, or to count."""
        for _ in range(10):
            run = self.run_script(MEASURED, "--trace", "pages", *options)
            rows = list(csv.DictReader(io.StringIO(subprocess.run(
                [support.PYMEMCAT, run.path, "--csv", "--records", "pages"],
                check=True, stdout=subprocess.PIPE).stdout.decode())))
            asked_s = run.records("residency")[0].time_us / 1e6
            pages = sum(json.loads(run.stdout)[0].values()) // 4096
            before = [row for row in rows if row["action"] == "came" and
                      float(row["clock_s"]) <= asked_s]
            if len(before) < pages / 4:
                return run, rows, asked_s
        raise AssertionError("the kernel was always asked late")

    def test_one_page_in_ten_stands_for_ten(self):
        run, rows, asked_s = self.run_asked_early("--page-period", "10")
        self.check_run(run, 0.05, some_inferred=True, least_events=3_000)
        self.assertEqual(run.header.page_weight, 10)
        # Each chosen page is one of ten side by side.
        chosen = {int(row["page_address"], 16) >> 12 for row in rows
                  if row["weight"] and float(row["weight"]) == 10}
        self.assertGreater(len(chosen), 2_000)
        self.assertEqual(len({page // 10 for page in chosen}), len(chosen))
        # They are most of what there is: what is certain is a page of each two
        # megabytes, and those of files; and what came before the kernel had
        # said what is resident, which the scheduler decides.
        came = [row for row in rows if row["action"] == "came" and
                float(row["clock_s"]) > asked_s]
        self.assertLess(len(came) - len(chosen), 0.6 * len(chosen))
        whole, _, _ = self.run_asked_early()
        entries, size_bytes = self.since_asked(run)
        all_entries, all_size_bytes = self.since_asked(whole)
        self.assertLess(entries, 0.25 * all_entries)
        self.assertLess(size_bytes, 0.4 * all_size_bytes)

    def since_asked(self, run):
        """Page events since the kernel first said what is resident, and what
        they take of the file before it is compressed."""
        kinds = [record.WhichOneof("kind") for record in run.records()]
        batches = [record.pages for record in
                   run.records()[kinds.index("residency"):]
                   if record.WhichOneof("kind") == "pages"]
        return (sum(len(batch.page_step) for batch in batches),
                sum(batch.ByteSize() for batch in batches))

    def test_beside_call_events(self):
        self.check_run(self.run_script(MEASURED, "--trace", "calls,pages"), 0.02,
                       some_inferred=True)

    def test_the_peak_is_where_memory_was_not_where_the_run_ends(self):
        text = "x = [bytearray(5000) for n in range(12000)]\n"
        for trace in ("pages", *5 * ("calls,pages",)):
            run = self.run_script(text, "--trace", trace)
            table = page_support.resident(run)
            total = page_support.resident_bytes(table)
            self.assertGreater(total, 50 << 20)
            unknown = page_support.resident_bytes(table, function="unattributed")
            self.assertLess(abs(unknown), total / 20, trace)


if __name__ == "__main__":
    unittest.main()
