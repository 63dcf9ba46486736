#!/usr/bin/env python3
"""Resident memory is what the kernel says, at exactly the events where it
changes."""
import json
import os
import re
import unittest

import support
from page_support import ALL_CODE_IS_THERE

# 20 known growths: each a call of mmap.write, each taken back by mmap.close.
# The loops have run once before it counts, so that the interpreter's own memory
# is there. A script's page faults are its own affair as long as they are only
# these.
MAPPINGS = ALL_CODE_IS_THERE + r'''
import mmap, sys
SIZES = [n * 4096 for n in (1, 1, 2, 3, 1, 5, 8, 16, 1, 64, 100, 256, 1, 512,
                            1000, 1024, 4096, 2, 8192, 16384)]
FLAGS = int(sys.argv[1])
source = memoryview(b"\1" * max(SIZES))

def one(size):
    data = source[:size]
    m = mmap.mmap(-1, size, FLAGS)
    m.write(data)
    m.close()

def all_of_them(sizes):
    for size in sizes:
        one(size)

for n in range(30):
    all_of_them([4096] * 20)

def counted():
    all_of_them(SIZES)

counted()
'''

# The same, touched by assignment: no event of its own, so the call after it.
ASSIGNED = MAPPINGS.replace("    m.write(data)\n", "    m[:] = data\n"
                            "    touched(m)\n") + r'''
'''
ASSIGNED = ASSIGNED.replace("def one(", "def touched(m):\n    pass\n\ndef one(")

# Growth, then traced running for much longer than 50 us, then the way back.
HINTED = MAPPINGS.replace("    m.write(data)\n    m.close()\n", r'''
    m.write(data)
    run_on()
    m.close()
    run_on()
''').replace("def one(", r'''
def run_on():
    for n in range(300):
        abs(n)

def one(''').replace("range(30)", "range(3)")

SIZES = [n * 4096 for n in (1, 1, 2, 3, 1, 5, 8, 16, 1, 64, 100, 256, 1, 512,
                            1000, 1024, 4096, 2, 8192, 16384)]
SHARED, PRIVATE = 0x01, 0x02
STALENESS_S = 50e-6

READINGS = r'''
import os, pymemrun
fd = os.open("/proc/self/statm", os.O_RDONLY)
# Neither reading touches fresh memory after it has read: the buffers are there,
# and so is room for as many numbers.
buffers = [bytearray(b"\1" * 200) for n in range(50)]
numbers = [n + 1_000_000 for n in range(20_000)]
del numbers[::2]
keep = [b""] * 50
values = [0] * 50
for n in range(50):
    keep[n] = b"\1" * (n % 5 * 100_000)
    os.preadv(fd, [buffers[n]], 0)
    values[n] = pymemrun.rss()
for n in range(50):
    print(int(buffers[n].split()[1]) * 4096, values[n])
'''

# The kernel keeps RSS in a counter of each CPU. VmHWM may lack what these hold.
CPUS = os.cpu_count()
RSS_BATCH_BYTES = max(32, 2 * CPUS) * CPUS * 4096

PEAK = r'''
import numpy
def statistic(a):
    return (a*2+a*3-a).sum()
def warm_up():
    return statistic(numpy.ones(10))
warm_up()
a = numpy.ones(4_000_000)
statistic(a)
'''


def counted(rows):
    """The rows between CALL and RETURN of the function `counted`."""
    at = [n for n, row in enumerate(rows) if row["function"] == "counted"]
    return rows[at[0]:at[1] + 1]


class RssExactTest(support.ProgramTest):
    def changes(self, script, source, flags):
        run = self.run_script(script, "--min-drss", "0", "--rss-source", source,
                              arguments=[str(flags)])
        self.assertEqual(run.header.rss_source,
                         support.trace_pb2().RssSource.Value(source.upper()))
        rows = run.rows()
        self.assert_nothing_lost(run, rows)
        rss = rows[0]["rss_bytes"]
        self.assertEqual(rows[0]["drss_bytes"], rss)
        for row in rows[1:]:
            rss += row["drss_bytes"]
            self.assertEqual(row["rss_bytes"], rss)
            self.assertEqual(row["rss_exact"], "true")
        return [(row["what"], row["function"].rpartition(".")[2],
                 row["drss_bytes"])
                for row in counted(rows) if row["drss_bytes"] != 0]

    def test_growth_and_shrinkage_at_exactly_the_events(self):
        expected = []
        for size in SIZES:
            expected += [("C_RETURN", "write", size),
                         ("C_RETURN", "close", -size)]
        for source in self.exact_sources():
            for flags in (SHARED, PRIVATE):
                with self.subTest(source=source, flags=flags):
                    self.assertEqual(self.changes(MAPPINGS, source, flags),
                                     expected)

    def test_growth_without_an_event_is_at_the_next_one(self):
        expected = []
        for size in SIZES:
            expected += [("CALL", "touched", size),
                         ("C_RETURN", "close", -size)]
        for source in self.exact_sources():
            with self.subTest(source=source):
                self.assertEqual(self.changes(ASSIGNED, source, PRIVATE),
                                 expected)

    def test_hints_are_late_by_50_us_at_most(self):
        run = self.run_script(HINTED, "--min-drss", "0", "--rss-source",
                              "hints", arguments=[str(PRIVATE)])
        rows = counted(run.rows())
        base = rows[0]["rss_bytes"]
        left = list(SIZES)
        pending = None  # (from when on RSS must be right, what it must be)
        for row in rows:
            now = float(row["clock_s"])
            name = row["function"].rpartition(".")[2]
            if row["what"] == "C_RETURN" and name == "write":
                pending = now + STALENESS_S, base + left.pop(0)
            elif row["what"] == "C_RETURN" and name == "close":
                # An unmapping call is a sign, so nothing is late.
                pending = now, base
            # A microsecond: times are printed as whole ones.
            if pending and now >= pending[0] + (0 if name == "close" else 2e-6):
                self.assertEqual(row["rss_bytes"], pending[1], row)
        self.assertEqual(left, [])

    def test_rss_is_the_value_of_statm(self):
        exact = self.exact_sources()
        auto = ["auto"] if "faults" in exact else []
        for source in [*auto, "hints", *exact]:
            with self.subTest(source=source):
                run = self.run_script(READINGS, "--min-drss", "0",
                                      "--rss-source", source)
                readings = [tuple(map(int, line.split()))
                            for line in run.stdout.splitlines()]
                self.assertEqual(len(readings), 50)
                if source == "hints":
                    continue  # at the event itself it may be late
                rows = run.rows()
                seen = [row["rss_bytes"] for row in rows
                        if (row["what"], row["function"]) ==
                        ("C_RETURN", "rss")][-50:]
                self.assertEqual(seen, [rss for _, rss in readings])
                seen = [row["rss_bytes"] for row in rows
                        if (row["what"], row["function"]) ==
                        ("C_RETURN", "preadv")]
                self.assertEqual(seen, [statm for statm, _ in readings])

    def test_a_peak_inside_one_call_is_found(self):
        try:
            self.run_python("-c", "import numpy")
        except Exception:
            self.skipTest("no numpy")
        script = self.write("peak.py", PEAK)
        # Everything is logged, so that the two rows can be looked up.
        # On one CPU: each has a batch for files, and one for other memory.
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        run = self.pymemrun("--min-drss", "0", script)
        # Two temporaries of 32 MB at once. One is gone at the next event.
        footer = run.footer
        self.assertGreater(footer.hwm_bytes,
                           footer.max_rss_bytes + 31_000_000)
        peak = footer.peak
        self.assertAlmostEqual(peak.hwm_bytes, footer.hwm_bytes,
                               delta=1 << 20)
        rows = run.rows()
        before = rows[peak.before_number]
        self.assertEqual(peak.after_number, peak.before_number - 1)
        self.assertEqual((before["what"], before["file"], before["line"]),
                         ("C_CALL", script, 4))
        self.assertTrue(before["function"].endswith(".sum"), before)
        after = rows[peak.after_number]
        self.assertEqual((after["what"], after["file"], after["function"]),
                         ("CALL", script, "statistic"))
        # Page faults tell the peak exactly; VmHWM may be behind by what the
        # kernel keeps in each CPU's counter.
        summary = json.loads(run.report("summary", "--json"))[0]
        peak_bytes = summary["peak_rss_bytes"]
        highest = max(footer.hwm_bytes, footer.seen_max_rss_bytes)
        self.assertGreaterEqual(peak_bytes, highest)
        self.assertLessEqual(peak_bytes, highest + RSS_BATCH_BYTES)
        told = int(re.search(r"Peak (\d+) MiB", run.stderr)[1])
        self.assertAlmostEqual(told, peak_bytes / 2**20, delta=0.5)
        text = run.cat("--summary").decode()
        self.assertIn("VmHWM", text)
        self.assertIn(str(peak.after_number), text.replace(",", ""))


if __name__ == "__main__":
    unittest.main()
