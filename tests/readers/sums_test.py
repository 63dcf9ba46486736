#!/usr/bin/env python3
"""One truth: whatever a moment's memory is grouped by, and whoever prints it, it
adds up to the same RSS, or to the same live bytes."""
import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import unittest

import support

sys.path.insert(0, os.environ.get("PYMEMRUN_READER_PATH", "."))
import pymemrun_reader  # noqa: E402  where the line above says

FOLDER = os.path.join(support.SOURCE, "examples", "questions")
PROGRAMS = ("leaking_cache.py", "rss_stays.py", "thread.py", "creep.py",
            "c_extensions.py", "pipeline.py")
MOMENTS_OF_EACH = 5
HEAP_KINDS = ("line", "library-line", "function", "file", "thread", "allocator",
              "module")
RESIDENT_KINDS = ("line", "library-line", "function", "file", "thread", "mapping",
                  "module")
TRACING = "<tracing itself>"


class SumsTest(support.ProgramTest):
    def report(self, *arguments):
        return subprocess.run([support.PYMEMREPORT, *arguments], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def tables(self, command, run, *options):
        """The table as CSV has it, after JSON was found to have the same."""
        rows = list(csv.DictReader(io.StringIO(
            self.report(command, run.path, "--csv", *options))))
        same = json.loads(self.report(command, run.path, "--json", *options))
        self.assertEqual(len(rows), len(same))
        for row, other in zip(rows, same):
            for name, value in row.items():
                if other[name] is None:
                    self.assertEqual(value, "")
                elif isinstance(other[name], str):
                    self.assertEqual(value, other[name])
                else:
                    self.assertEqual(float(value), other[name])
        return rows

    def assert_adds_up(self, parts, whole, what):
        """Each part was rounded by itself."""
        self.assertLessEqual(abs(sum(parts) - whole), len(parts) / 2 + 1, what)

    def check_heap(self, run, reader, at, rng):
        live = reader.snapshot(float(at)).live_bytes
        for by in HEAP_KINDS:
            limit = str(rng.randrange(6))  # 0: all
            rows = self.tables("heap", run, "--by", by, "--at", at, "--limit",
                               limit)
            parts = [int(row["live_bytes"]) for row in rows
                     if TRACING not in row.values()]
            self.assert_adds_up(parts, live, (by, at, limit))
        frames = csv.DictReader(io.StringIO(
            self.report("snapshot", run.path, "--csv", "--at", at)))
        self.assert_adds_up([int(frame["self_bytes"]) for frame in frames], live,
                            at)
        stacks = json.loads(self.report("snapshot", run.path, "--json", "--at",
                                        at))
        self.assert_adds_up([stack["live_bytes"] for stack in stacks], live, at)
        stacks = self.report("export", run.path, "--format", "collapsed", "--at",
                             at)
        self.assert_adds_up([int(line.rpartition(" ")[2])
                             for line in stacks.splitlines()], live, at)
        flame = self.report("flame", run.path, "--at", at)
        self.assertEqual(int(re.search(r'data-d="0" data-b="(\d+)"', flame)[1]),
                         live)

    def check_resident(self, run, at, owners, rng):
        sums = set()
        for owner in owners:
            for by in RESIDENT_KINDS:
                if owner == "heap" and by == "mapping":
                    continue
                rows = self.tables("resident", run, "--by", by, "--at", at,
                                   "--owner", owner, "--limit",
                                   str(rng.randrange(6)))
                parts = [int(row["resident_bytes"]) for row in rows]
                sums.add(sum(parts))
                # Of a heap's estimates each is rounded by itself.
                self.assertLessEqual(max(sums) - min(sums), len(parts) + 1,
                                     (owner, by, at, sums))
        text = self.report("resident", run.path, "--at", at)
        rss = re.search(r"RSS ([\d.]+) MiB", text)[1]
        self.assertAlmostEqual(min(sums) / 2**20, float(rss), delta=0.06)

    def check_curves(self, run):
        for moment in csv.DictReader(io.StringIO(
                self.report("timeline", run.path, "--format", "csv"))):
            values = [int(value) for name, value in moment.items()
                      if name not in ("time_s", "rss_bytes")]
            self.assertEqual(sum(values), int(moment["rss_bytes"]))
        for moment in csv.DictReader(io.StringIO(
                self.report("history", run.path, "--csv"))):
            values = [int(value) for name, value in moment.items()
                      if name not in ("time_s", "live_bytes", TRACING)]
            self.assert_adds_up(values, int(moment["live_bytes"]), moment)

    def check_answer(self, run):
        """The parts of RSS on the first screen, as they are rounded there."""
        units = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20}
        text = self.report(run.path)
        table = text[text.index("RSS at the peak"):].split("\n\n")[0]
        whole, *parts = [float(number) * units[unit] for number, unit in
                         re.findall(r"(-?[\d.]+) (bytes|KiB|MiB)", table)]
        self.assertAlmostEqual(sum(parts), whole, delta=(len(parts) + 1) * 2**19,
                               msg=text)

    def check_program(self, name, source):
        run = self.pymemrun("--quiet", "--page-source", source,
                            os.path.join(FOLDER, name), env=support.USUAL)
        if not run.header.page_scan and run.header.page_period == 0:
            self.skipTest("no page events here")
        rng = random.Random(name + source)
        with pymemrun_reader.open(run.path) as reader:
            for _ in range(MOMENTS_OF_EACH):
                # Events of the same microsecond belong to it.
                at = f"{rng.uniform(0, run.footer.end_us / 1e6):.6f}"
                self.check_heap(run, reader, at, rng)
                self.check_resident(run, at, ("heap",) if run.header.page_scan
                                    else ("heap", "touch"), rng)
        self.check_curves(run)
        self.check_answer(run)

    def test_pages_by_faults(self):
        for name in PROGRAMS[:3]:
            self.check_program(name, "auto")

    def test_pages_by_scan(self):
        for name in PROGRAMS[3:]:
            self.check_program(name, "scan")


if __name__ == "__main__":
    unittest.main()
