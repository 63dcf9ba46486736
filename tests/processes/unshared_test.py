"""`pymemreport unshared`: which line, or which garbage collection, un-shared how
much of the parent's memory, beside what the kernel says of the child."""
import csv
import io
import json
import subprocess

import perf_support
import process_support
import support
from support import FREE_THREADED

KIB = 1 << 10
WRITTEN = 16 << 20

# Some 60 MiB of objects that have little beside them, and bytes. What a child
# says of itself is read before and after; nothing else of weight happens there.
PROGRAM = r"""
import gc
gc.disable()

def own():
    # Of a page that two have each has a half. (Private_Dirty at times counts
    # pages that both have.)
    with open("/proc/self/smaps_rollup") as file:
        sizes = {line.split()[0]: line.split()[1] for line in file}
    shared = int(sizes["Anonymous:"]) - int(sizes["Pss_Anon:"])
    return -2 * shared << 10

held = [[number] for number in range(400_000)]
block = bytearray(b"x" * WRITTEN)
FREEZE

def collect():
    gc.collect()

def write():
    for at in range(0, WRITTEN, 4096):
        block[at] = 1

def nothing():
    pass

for work in (collect, write, nothing):
    if os.fork() == 0:
        own()
        before = own()
        work()
        grown = own() - before
        os.write(1, f"{work.__name__} {os.getpid()} {grown}\n".encode())
        os._exit(0)
    os.wait()
"""


class UnsharedTest(process_support.ProcessesTest):
    def run_program(self, *options, freeze=False, **kwargs):
        """What each child was, and what it grew by; its rows."""
        text = PROGRAM.replace("WRITTEN", str(WRITTEN)).replace(
            "FREEZE", "gc.freeze()" if freeze else "")
        first, _ = self.run_family(text, *options, files=3, **kwargs)
        self.first = first
        children = {}
        for line in self.result.stdout.splitlines():
            name, pid, grown = line.split()
            children[name] = (pid, int(grown))
        rows = list(csv.DictReader(io.StringIO(self.report("--csv"))))
        same = json.loads(self.report("--json"))
        self.assertEqual([row["unshared_bytes"] for row in same],
                         [int(row["unshared_bytes"]) for row in rows])
        return children, rows

    def report(self, *options):
        return subprocess.run([support.PYMEMREPORT, "unshared", self.first.path,
                               "--limit", "0", *options], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def unshared(self, rows, pid, **where):
        return sum(int(row["unshared_bytes"]) for row in rows
                   if row["pid"] == pid and
                   all(row[key] == value for key, value in where.items()))

    def check(self, *options, inexact=0.02, **kwargs):
        children, rows = self.run_program(*options, **kwargs)
        pid, grown = children["collect"]
        self.assertGreater(grown, 20 << 20)
        collected = self.unshared(rows, pid, cause="gc")
        self.assertAlmostEqual(collected, grown,
                               delta=grown * inexact + 128 * KIB)
        # It is the call's, and hardly anything else is.
        self.assertEqual(
            self.unshared(rows, pid, cause="gc", function="collect"), collected)
        pid, grown = children["write"]
        self.assertGreaterEqual(grown, WRITTEN)
        self.assertEqual(self.unshared(rows, pid, cause="gc"), 0)
        self.assertAlmostEqual(
            self.unshared(rows, pid, cause="write", function="write"), grown,
            delta=grown * inexact + 128 * KIB)
        # What the parent had: the objects, the bytes, and an interpreter.
        pid, _ = children["nothing"]
        self.assertLess(self.unshared(rows, pid), 3 << 20)
        for row in rows:
            self.assertGreater(int(row["parent_bytes"]), WRITTEN + (20 << 20))
            self.assertLess(int(row["parent_bytes"]), 160 << 20)
        text = self.report()
        self.assertRegex(text, r"<garbage collection> in collect\n")
        self.assertIn("gc.freeze() before the fork would have saved at most",
                      text)

    def test_lines_and_gc_beside_the_kernel(self):
        if FREE_THREADED:
            self.skipTest("nobody knows when it collects")
        self.check("--trace", "calls,pages", "--page-source", "faults")

    def test_with_a_stack_for_each_page(self):
        if FREE_THREADED:
            self.skipTest("nobody knows when it collects")
        self.check("--trace", "pages", "--page-source", "faults",
                   "--page-period", "1", inexact=0.01)

    def test_an_ordinary_user(self):
        if FREE_THREADED or perf_support.paranoid() > 2:
            self.skipTest("faults are refused, or nobody knows when it collects")
        self.check("--trace", "pages", "--page-source", "faults", ordinary=True)

    def test_frozen_objects_stay_shared(self):
        children, rows = self.run_program(
            "--trace", "calls,pages", "--page-source", "faults", freeze=True)
        pid, grown = children["collect"]
        self.assertLess(grown, 2 << 20)
        self.assertLess(self.unshared(rows, pid, cause="gc"), 1 << 20)

    def test_sampled_pages_stand_for_others(self):
        children, rows = self.run_program(
            "--trace", "pages", "--page-source", "faults", "--page-period", "16")
        pid, grown = children["write"]
        (row,) = [row for row in rows
                  if row["pid"] == pid and row["function"] == "write" and
                  int(row["unshared_bytes"]) > WRITTEN / 2]
        # Whole groups leave nothing to chance but their ends.
        self.assertAlmostEqual(int(row["unshared_bytes"]), grown,
                               delta=grown * 0.05)
        self.assertLess(int(row["error_bytes"]), grown * 0.05)

    def test_lines_in_turn_have_an_error(self):
        """Most pages of bursts are charged by the nearest known stack."""
        self.first, _ = self.run_family(f"""
import gc
gc.disable()
block = bytearray(b"x" * {WRITTEN})

def often(page):
    block[4096 * page] = 1

def seldom(page):
    block[4096 * page] = 1

if os.fork() == 0:
    for page in range({WRITTEN // 4096}):
        (seldom if page % 4 == 3 else often)(page)
    os._exit(0)
os.wait()
""", "--trace", "pages", "--page-source", "faults", files=1)
        rows = {row["function"]: row for row in json.loads(self.report("--json"))}
        if not any(rows[name]["inferred_bytes"] for name in ("often", "seldom")):
            self.skipTest("each fault was signalled: they came too slowly")
        for name, share in (("often", 0.75), ("seldom", 0.25)):
            error = rows[name]["error_bytes"]
            self.assertGreater(error, 4096)
            # Its odds are one in millions.
            self.assertAlmostEqual(rows[name]["unshared_bytes"], share * WRITTEN,
                                   delta=5 * error + 64 * KIB)
        self.assertIn("std error", self.report())

    def test_scanned_pages_do_not_tell(self):
        first, _ = self.run_family("""
if os.fork() == 0:
    in_child()
    os._exit(0)
os.wait()
""", "--trace", "pages", "--page-source", "scan", files=1)
        found = subprocess.run([support.PYMEMREPORT, "unshared", first.path],
                               text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, check=False)
        self.assertEqual(found.returncode, 2, found.stderr)
        self.assertIn("pages were scanned", found.stderr)


if __name__ == "__main__":
    process_support.main()
