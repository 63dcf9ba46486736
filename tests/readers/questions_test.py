#!/usr/bin/env python3
"""The first screen of `pymemreport run.pb`, of one default run, answers the
questions of examples/questions."""
import csv
import os
import re
import signal
import subprocess
import unittest

import fault_support
import perf_support
import support

FOLDER = os.path.join(support.SOURCE, "examples", "questions")
MIB = 1 << 20
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def line_with(name, comment):
    """The number of the line that ends with this comment."""
    with open(os.path.join(FOLDER, name)) as file:
        return next(number for number, line in enumerate(file, 1)
                    if line.endswith(f"  # {comment}\n"))


def size(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


# Threads, children, tasks, and eight lines that hold something.
ALL = """
import asyncio, os, subprocess, sys, threading, time
kept = []
def work(n):
    kept.append([bytes(1000) for _ in range(n)])
threads = [threading.Thread(target=work, args=(n,), name=f"worker_{n}")
           for n in (6000, 7000, 8000)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for _ in range(2):
    pid = os.fork()
    if pid == 0:
        child = bytes(3_000_000)
        os._exit(0)
    os.waitpid(pid, 0)
subprocess.run([sys.executable, "-c", "pass"])
async def step(n):
    kept.append(bytearray(n))
    await asyncio.sleep(0.01)
async def main():
    await asyncio.gather(*(step(1_000_000) for _ in range(5)))
asyncio.run(main())
a = [bytes(1000) for _ in range(3000)]
b = {n: str(n) * 5 for n in range(30000)}
c = bytearray(3_000_000)
d = [[n] for n in range(30000)]
e = b"x" * 2_500_000
f = list(range(300_000))
time.sleep(0.3)
"""


class QuestionsTest(support.ProgramTest):
    preexec = None  # called in the program's process, before it begins
    ordinary = False

    def answer(self, name, status=0, options=(), text=None):
        if text is None:
            with open(os.path.join(FOLDER, name)) as file:
                text = file.read()
        script = self.write(name, text)
        run = self.pymemrun("--quiet", *options, script, status=status,
                            env=support.USUAL, preexec=self.preexec,
                            ordinary=self.ordinary)
        fault_support.wait_for_collector_to_end(run.path)
        self.run = run
        done = subprocess.run([support.PYMEMREPORT, run.path], check=True,
                              stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "COLUMNS": "80"})
        lines = done.stdout.splitlines()
        self.assertLessEqual(len(lines), 40)
        self.assertLessEqual(max(len(line) for line in lines
                                if not line.startswith("pymemreport ")), 80)
        return done.stdout

    def first(self, text):
        """What the sentence names: file:line, bytes."""
        found = re.search(r"^Peak .*?\. (\S+) holds ([\d.]+ \w+) of it",
                          " ".join(text.split("\n\n")[1].split("\n")))
        self.assertIsNotNone(found, text)
        return found[1], size(found[2])

    def rows(self, text):
        """{file:line: bytes} of the table of lines."""
        return {name: size(held) for held, name in re.findall(
            r"^ *([\d.]+ \w+) (?: *±[\d.]+ \w+)? +\d+ %  (\S+:\d+)", text, re.M)}

    def check_first(self, name, comment, about, status=0):
        """Within five standard errors or so of a sample each 512 KiB."""
        text = self.answer(name, status)
        place, held = self.first(text)
        self.assertEqual(place, f"{name}:{line_with(name, comment)}", text)
        self.assertAlmostEqual(held, about, delta=max(5 * (about * MIB / 2) ** 0.5,
                                                      0.3 * about), msg=text)
        return text

    def test_which_line_leaks(self):
        text = self.check_first("leaking_cache.py", "leaks", 32 * MIB)
        self.assertRegex(text, r"Still resident when the program ended[^;]* live"
                               r"\sblocks\s+\((nearly all|\d+ MiB)"
                               r"\s+by\s+leaking_cache.py:\d+\)")

    def test_which_line_makes_the_peak(self):
        if not os.path.isdir("/usr/lib/python3/dist-packages/numpy"):
            self.skipTest("no numpy")
        rows = self.rows(self.answer("numpy_peak.py"))
        place = f"numpy_peak.py:{line_with('numpy_peak.py', 'peak')}"
        self.assertAlmostEqual(rows[place], 80_000_000, delta=MIB, msg=rows)

    def test_all_that_can_be_recorded_fits_on_the_screen(self):
        text = self.answer("all.py", text=ALL, options=(
            "--trace", "calls,pages,gil,states,counters,tasks"))
        for said in ("By thread: ", "child", "gil: ", "tasks: ", "counters: ",
                     "Your lines at the peak", "Still resident"):
            self.assertIn(said, text)

    def test_what_was_alive_when_it_was_killed(self):
        text = self.check_first("killed.py", "alive", 60 * MIB,
                                status=-signal.SIGKILL)
        self.assertIn("killed", text.splitlines()[0])

    def test_why_rss_stays(self):
        text = self.answer("rss_stays.py")
        kept = re.search(r"([\d.]+ \w+)\s+free,\s+kept\s+by\s+allocators", text)
        self.assertGreater(size(kept[1]), 8 * MIB, text)

    def test_which_thread(self):
        text = self.check_first("thread.py", "large", 30 * MIB)
        self.assertIn("on thread large.", text)

    def test_what_creeps(self):
        text = self.check_first("creep.py", "creeps", 17 * MIB)
        curve = re.search(r"[▁▂▃▄▅▆▇█]{10}", text)[0]
        self.assertEqual(sorted(curve[:9]), list(curve[:9]), text)

    def test_which_line_called_c_code(self):
        self.check_first("c_extensions.py", "sqlite", 22 * MIB)
        rows = self.rows(self.answer("c_extensions.py"))
        zlib = f"c_extensions.py:{line_with('c_extensions.py', 'zlib')}"
        self.assertIn(zlib, rows)

    def test_which_step_keeps_the_rows(self):
        name = "pipeline.py"
        place, _ = self.first(self.answer(name))
        self.assertEqual(place, f"{name}:{line_with(name, 'kept')}")

    def test_what_got_worse(self):
        """One line holds more. Comments above it moved all lines, and the new
        version lies in another folder."""
        name = "regression.py"
        with open(os.path.join(FOLDER, name)) as file:
            text = file.read()
        worse = text.replace("ljust(200)", "ljust(2000)")
        worse = worse.replace("import json", "# As agreed.\n#\nimport json")
        worse = worse.replace("    pages = []", "    # Padded.\n    pages = []")
        runs = [self.pymemrun("--quiet", self.write(f"{folder}/{name}", version),
                              env=support.USUAL, preexec=self.preexec,
                              ordinary=self.ordinary)
                for folder, version in (("old", text), ("new", worse))]
        self.run = runs[1]
        done = subprocess.run([support.PYMEMREPORT, "diff", "--csv", "--limit", "0",
                               *(run.path for run in runs)], check=True,
                              stdout=subprocess.PIPE, text=True)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        line = 1 + worse[:worse.index("  # page")].count("\n")
        for measure in "heap", "heap-end":
            first = next(row for row in rows if row["measure"] == measure)
            self.assertEqual((os.path.basename(first["file"]), first["line"],
                              first["function"], first["mark"]),
                             (name, str(line), "render", "edited"), done.stdout)
            self.assertAlmostEqual(int(first["change_bytes"]), 20000 * 1800,
                                   delta=6 * int(first["error_bytes"]),
                                   msg=done.stdout)
        marks = {row["mark"] for row in rows if row["file"].endswith(name)}
        self.assertLessEqual(marks, {"", "edited"}, done.stdout)


class PerfIsRefusedTest(QuestionsTest):
    """The same answers for an ordinary user, of pages that were scanned."""
    ordinary = True
    preexec = staticmethod(perf_support.refuse_perf)

    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: self.assertTrue(self.run.header.page_scan))


if __name__ == "__main__":
    unittest.main()
