#!/usr/bin/env python3
"""Resident memory where nobody sees pages come: the collector scans which are
there, and sampled blocks say whose they are."""
import glob
import json
import subprocess
import unittest

import fault_support
import perf_support
import resident_lines_test as lines
import support
from page_events_test import SHORT_FILE
from page_support import resident, resident_bytes

MIB = 1 << 20

DISCARDED_FILE = r"""
import ctypes, mmap
untouched = ctypes.CDLL(None).malloc(ctypes.c_size_t(256 << 20))
with open("data", "wb") as f:
    for _ in range(64):
        f.write(bytes(1 << 20))
with open("data", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
m[::4096]
m.madvise(mmap.MADV_DONTNEED)
"""


# Twice, in a forked child and in its parent.
FREED = r"""
import os
def work():
    blocks = [bytearray(1 << 20) for _ in range(64)]
child = os.fork()
if child: os.waitpid(child, 0)
work()
"""


def of_file(table, column, name):
    return sum(int(row["resident_bytes"]) for row in table if row[column].endswith(name))


class PageScanTest(support.ProgramTest):
    def scanned(self, script, *options, **kwargs):
        run = self.run_script(script, "--page-source", "scan", *options,
                              env=support.USUAL, **kwargs)
        # After an exec nobody waits for it.
        fault_support.wait_for_collector_to_end(run.path)
        self.assertTrue(run.header.page_scan)
        self.assertEqual(run.header.page_period, 0)
        return run

    def test_each_line_has_what_it_allocated(self):
        """Beside what pagemap says of the eight lines' objects."""
        run = self.scanned(lines.MEASURED, "--light")
        peak, _, spans = json.loads(run.stdout)
        table = resident(run, "--at", "peak", "--limit", "0")
        for name, expected in peak.items():
            first, last = spans[name]
            rows = [row for row in table if row["file"].endswith("script.py") and
                    first <= int(row["line"] or 0) <= last]
            found = sum(int(row["resident_bytes"]) for row in rows)
            error = sum(int(row["error_bytes"]) ** 2 for row in rows) ** 0.5
            # The pages of small blocks hold a little of the allocator's own.
            self.assertLessEqual(abs(found - expected),
                                 5 * error + 0.02 * expected,
                                 f"{name}: {found} +- {error}, the kernel says "
                                 f"{expected}")
            self.assertLessEqual(error, 0.1 * expected + 8 * 64 * 1024, name)
        rss = sum(int(row["resident_bytes"]) for row in table)
        rest = resident_bytes(table, file="unattributed")
        self.assertLessEqual(abs(rest), 0.02 * rss)

    def test_no_more_than_what_was_touched_of_a_large_block(self):
        table = resident(self.scanned(r"""
import mmap
m = mmap.mmap(-1, 256 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
m[:32 << 20] = bytes(32 << 20)
"""), "--at", "peak", "--limit", "0")
        self.assertAlmostEqual(resident_bytes(table, line="3"), 32 * MIB,
                               delta=2 * MIB)

    def test_files_are_of_the_line_whose_call_read_them(self):
        """Else they stand by their names: what reads in own code, without a call, may be
        this line or an earlier one, and without calls nobody knows."""
        for reads, options in (("m.find(b'x')", ()), ("sum(m[::4096])", ()),
                               ("m.find(b'x')", ("--light",))):
            run = self.scanned(r"""
import mmap
with open("large.bin", "wb") as f:
    f.write(bytes(20 << 20))
with open("large.bin", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
""" + reads, *options)
            table = resident(run, "--by", "mapping", "--limit", "0")
            self.assertAlmostEqual(of_file(table, "mapping", "/large.bin"), 20 * MIB,
                                   delta=64 << 10)
            table = resident(run, "--limit", "0")
            is_sure = "find" in reads and not options
            by_name = of_file(table, "file", "/large.bin")
            self.assertAlmostEqual(by_name, 0 if is_sure else 20 * MIB, delta=64 << 10)
            # With what of libc and the interpreter came meanwhile.
            self.assertAlmostEqual(resident_bytes(table, line="7"), 20 * MIB if is_sure else 0,
                                   delta=MIB)

    def test_a_file_that_is_mapped_for_some_milliseconds(self):
        """Between two scans, at the highest RSS."""
        for options in ("--light",), ():
            run = self.scanned(SHORT_FILE, *options)
            table = resident(run, "--at", "peak", "--limit", "0")
            rest = resident_bytes(table, file="unattributed")
            self.assertLessEqual(abs(rest), 2 * MIB)
            self.assertAlmostEqual(of_file(table, "file", "/data"), 64 * MIB, delta=64 << 10)

    def test_a_file_whose_pages_are_discarded(self):
        """Between two scans, beside a block that was never touched."""
        run = self.scanned(DISCARDED_FILE, "--light")
        table = resident(run, "--at", "peak", "--limit", "0")
        self.assertAlmostEqual(of_file(table, "file", "/data"), 64 * MIB, delta=64 << 10)
        self.assertLessEqual(resident_bytes(table, line="3"), 2 * MIB)

    def test_the_end_is_that_of_the_programs_own_code(self):
        """However short it ran: the program waits for the answer."""
        run = self.scanned("kept = [bytes(100) for _ in range(200_000)]")
        footer = run.footer
        answers = [r for r in run.records("residency")
                   if r.time_us == footer.finalize_us]
        self.assertEqual(len(answers), 1)
        table = resident(run, "--at", str(footer.finalize_us / 1e6), "--limit",
                         "0")
        self.assertAlmostEqual(resident_bytes(table, line="1"),
                               200_000 * (144 + 8), delta=6 * MIB)

    def parts_of_ends(self, run):
        """For the program and its child: when its end is known, how long it ran, MiB of its
        peak, and of the parts of its end."""
        for path in glob.glob(run.path.replace(".pb", "*.pb")):
            fault_support.wait_for_collector_to_end(path)
            answer = json.loads(subprocess.run(
                [support.PYMEMREPORT, "report", "--json", path], check=True,
                stdout=subprocess.PIPE).stdout)
            end = answer["end"]
            yield end["time_s"], answer["duration_s"], answer["peak_rss_bytes"] / MIB, {
                name: size / MIB for name, size in end["parts"].items()}

    def test_what_goes_right_before_os_exit_is_gone(self):
        """As of children of multiprocessing."""
        for options in (), ("--light",), ("--trace", "none"):
            run = self.run_script(FREED + "os._exit(3)", *options, env=support.USUAL, status=3)
            ends = list(self.parts_of_ends(run))
            self.assertEqual(len(ends), 2)
            self.assertEqual((run.footer.end, run.footer.exit_status),
                             (support.trace_pb2().Footer.EXIT, 3))
            for known_s, duration_s, peak, parts in ends:
                self.assertEqual(known_s, duration_s)
                self.assertGreaterEqual(peak, 64)
                self.assertLess(parts["free"] + parts["python_heap"], 16, (options, parts))

    def test_before_a_kill_blocks_and_rss_are_of_one_moment(self):
        for options in ("--light",), ("--trace", "none"):
            run = self.run_script(FREED + "os.kill(os.getpid(), 9)", *options,
                                  env=support.USUAL, status=-9)
            ends = list(self.parts_of_ends(run))
            self.assertEqual(len(ends), 2)
            for known_s, duration_s, _, parts in ends:
                self.assertLessEqual(known_s, duration_s)
                self.assertLess(parts["free"], 16, (options, parts))

    def test_a_peak_that_is_soon_over_has_its_line(self):
        """Freeing takes longer than building, and RSS does not fall."""
        for options in ("--light",), ():
            run = self.scanned("""
many = [str(i) * 8 for i in range(400_000)]
few = many[::1500]
del many
""", *options)
            self.assertRegex(run.report("report"), r"script\.py:2\sholds")

    def test_who_asks_for_who_touched_is_told(self):
        run = self.scanned("x = bytes(100)")
        done = subprocess.run([support.PYMEMREPORT, "resident", run.path,
                               "--owner", "touch"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("who touched them is unknown", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_without_the_heap_what_pages_are_part_of_is_told(self):
        run = self.scanned("x = b'x' * (30 << 20)", "--heap", "off")
        text = subprocess.run([support.PYMEMREPORT, "resident", run.path],
                              check=True, capture_output=True, text=True).stdout
        self.assertIn("pages by scan: charged by allocation, not by first touch", text)
        self.assertIn("<anonymous>", text)

    def test_where_perf_is_refused_it_is_taken_unasked(self):
        run = self.run_script("print(1)", env=support.USUAL,
                              preexec=perf_support.refuse_perf)
        self.assertEqual(run.stdout, "1\n")
        # Without a GIL one line says that calls are not recorded.
        self.assertEqual(len(run.stderr.splitlines()), support.FREE_THREADED, run.stderr)
        self.assertTrue(run.header.page_scan)

    def test_children_and_other_programs_do_not_disturb(self):
        run = self.scanned(r"""
import os, sys
pid = os.fork()
if pid == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
os.execv("/bin/echo", ["echo", "another"])
""")
        self.assertEqual(run.stdout, "7\nanother\n")


if __name__ == "__main__":
    unittest.main()
