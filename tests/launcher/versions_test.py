#!/usr/bin/env python3
"""What holds with each Python that is here, by the wheel in a clean environment:
the table in docs/versions.md. The cells come from our whole-program tests, run
with the tools that are installed, and from programs here. The table that was
found is written to versions.md in the current folder.

PYMEMRUN_WHEEL and PYMEMRUN_TEST_PYTHONS: see wheel_support.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import support
import wheel_support
from stdlib_results import compare, run_module

EVENTS = [("calls/events_exact_test.py",)]
PAGES = [("pages/page_events_test.py", *("PageEventsTest.test_" + name for name in (
    "one_call_that_brings_a_quarter_of_a_million_pages",
    "a_worker_with_every_signal_blocked",
    "by_owner_heap_memory_that_is_used_again_is_its_users",
    "code_objects_at_one_address_are_told_apart",
    "pages_that_leave_or_move_by_calls",
    "rss_is_known_at_any_moment_while_malloc_gives_memory_back"))),
    ("pages/page_scan_test.py", *("PageScanTest.test_" + name for name in (
        "no_more_than_what_was_touched_of_a_large_block",
        "a_peak_that_is_soon_over_has_its_line",
        "where_perf_is_refused_it_is_taken_unasked")))]
HEAP = [("heap/heap_modes_test.py", "LinesTest"),
        ("heap/heap_exact_test.py",
         "HeapExactTest.test_what_makes_a_frame_ready_is_the_callers")]
KILLED_CALLS = [("faults/nothing_lost_test.py", "KillTest")]
KILLED_PAGES = [("pages/page_events_test.py",
                 "PageEventsTest.test_a_program_that_is_killed_or_becomes_another")]
CHILDREN = [("processes/follow_fork_test.py",), ("processes/forked_heap_test.py",),
            ("processes/follow_all_test.py", "PreloadedTest")]
CHILDREN_WITHOUT_CALLS = [("processes/follow_fork_test.py",
                           "WaysToForkTest.test_what_calls_are_traced_does_not_matter")]
STANDARD_LIBRARY = ("test_threading", "test_subprocess", "test_signal", "test_gc",
                    "test_asyncio", "test_sys_setprofile")
# This one recurses until an interrupt meets it in one place, for seconds or hours.
LEFT_OUT = ("test_print_exception_gh_102056",)
# What differs by chance does not differ each time.
TRIES = 3

ARRAYS = """\
import numpy, pandas, pymemrun
array = numpy.ones(8 << 20)
frame = pandas.DataFrame({name: numpy.arange(4 << 20) for name in "abc"})
pymemrun.mark("built")
"""
ARRAY_BYTES = {2: 64 << 20, 3: 96 << 20}  # by line
RESIDENT_ERROR = 0.02

HEAD = """\
| CPython | link | events | pages | heap | children | numpy, pandas | `kill -9` | standard library |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def documented_rows():
    """{(version, link): row} of the page."""
    with open(os.path.join(support.SOURCE, "docs", "versions.md"), encoding="utf-8") as file:
        table = re.search(r"<!-- BEGIN matrix.*?-->\n(.*)<!-- END matrix", file.read(), re.S)[1]
    rows = table.splitlines()
    assert "\n".join(rows[:2]) + "\n" == HEAD, rows[:2]
    return {tuple(cell.strip() for cell in row.split("|")[1:3]): row for row in rows[2:]}


def by_line(text, column):
    found = dict.fromkeys(ARRAY_BYTES, 0)
    for row in json.loads(text):
        if row["file"] and row["file"].endswith("arrays.py") and row["line"] in found:
            found[row["line"]] += row[column]
    return found


class VersionsTest(wheel_support.WheelTest):
    def test_the_page_has_the_rows_of_the_pythons_here(self):
        documented = documented_rows()
        table = HEAD
        for python in wheel_support.pythons():
            if python.series not in self.traced:
                print(f"{python.path}: the wheel does not trace {python.series}",
                      file=sys.stderr)
                continue
            with self.subTest(python):
                row = self.row(python)
                table += row + "\n"
                with open("versions.md", "w", encoding="utf-8") as file:
                    file.write(table)
                self.assert_same(documented.get(python[:2], ""), row)

    def assert_same(self, documented, row):
        """A dash on the page means that it was not tried, and promises nothing."""
        there, found = (text.split("|") for text in (documented, row))
        self.assertTrue(
            len(there) == len(found) and
            all(cell == got or cell.startswith(" –") for cell, got in zip(there, found)),
            "to put there: " + row)

    def row(self, python):
        self.home, self.pip, _ = self.environment(python)
        calls = not python.free_threaded
        cells = [
            self.cell_of(EVENTS) if calls else self.refused(),
            self.cell_of(PAGES),
            self.cell_of(HEAP),
            self.cell_of(CHILDREN if calls else CHILDREN_WITHOUT_CALLS),
            self.arrays(),
            self.cell_of(KILLED_CALLS * calls + KILLED_PAGES),
            self.standard_library()]
        return f"| {' | '.join((*python[:2], *cells))} |"

    def installed(self, tool):
        return f"{self.home}/bin/{tool}"

    def cell_of(self, tests):
        """`ok`, or what fails."""
        failed = []
        for file, *names in tests:
            done = wheel_support.installed_test(self.home, file, *names)
            if done.returncode == 0:
                continue
            print(done.stdout, file=sys.stderr)
            failed += re.findall(r"^(?:FAIL|ERROR): (?:test_)?(\w+)", done.stdout,
                                 re.M) or [os.path.basename(file)]
        return ", ".join("not: " + name.replace("_", " ")
                         for name in dict.fromkeys(failed)) or "ok"

    def refused(self):
        """That it refuses to record calls alone, in one line, and runs nothing."""
        done = subprocess.run([self.installed("pymemrun"), "--trace", "calls", "-o",
                               self.home + "/run.pb", "-c", "print(1)"],
                              capture_output=True, text=True,
                              env=wheel_support.clean_environment())
        said = re.fullmatch(r"pymemrun: --trace calls: CPython 3\.\d+ is free-threaded\n",
                            done.stderr)
        if said and (done.returncode, done.stdout) == (2, ""):
            return "refused in one line"
        print(done, file=sys.stderr)
        return "not: refused in one line"

    def arrays(self):
        got = subprocess.run([*self.pip, "install", "--only-binary", ":all:", "numpy",
                              "pandas"], capture_output=True, text=True,
                             env=wheel_support.clean_environment())
        if got.returncode != 0:
            print(got.stderr, file=sys.stderr)
            return "– no wheels"
        script = os.path.join(self.home, "work", "arrays.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(ARRAYS)
        path = script + ".pb"
        wheel_support.run(self.installed("pymemrun"), "--quiet", "-o", path, script)
        at = ("--json", "--limit", "0", "--at", "built", path)
        heap, resident = (wheel_support.run(self.installed("pymemreport"), command, *at)
                          for command in ("heap", "resident"))
        differs = []
        if by_line(heap, "live_bytes") != ARRAY_BYTES:
            differs.append(f"heap: {by_line(heap, 'live_bytes')}")
        found = by_line(resident, "resident_bytes")
        if any(abs(found[line] - size) > RESIDENT_ERROR * size
               for line, size in ARRAY_BYTES.items()):
            differs.append(f"resident: {found}")
        return ", ".join(differs) or "ok"

    def standard_library(self):
        if subprocess.run([self.installed("python"), "-c", "import test.test_gc"],
                          stderr=subprocess.DEVNULL).returncode != 0:
            return "– no package `test`"
        differs = [module for module in STANDARD_LIBRARY if not self.same(module)]
        return ", ".join(differs) or "ok"

    def same(self, module):
        """Whether the module's tests end as untraced."""
        differences = []
        for _ in range(TRIES):
            with tempfile.TemporaryDirectory(dir=self.home) as folder:
                plain, traced = (run_module(command, module, folder, LEFT_OUT)
                                 for command in (
                                     [self.installed("python")],
                                     [self.installed("pymemrun"), "--quiet", "-o",
                                      folder + "/run.pb"]))
            differences.append(set(compare(plain, traced, set())))
            always = set.intersection(*differences)
            if not always:
                return True
        print(f"{module}: {sorted(always)}\n{traced.output[-10000:]}", file=sys.stderr)
        return False


if __name__ == "__main__":
    unittest.main()
