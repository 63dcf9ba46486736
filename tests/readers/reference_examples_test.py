#!/usr/bin/env python3
"""What users of older profilers do, each step by our own commands: a log of RSS at
each call, memory by thread with peaks, a sampled heap over time, who holds the GIL."""
import csv
import io
import json
import os
import re
import subprocess
import unittest

import support

MIB = 1 << 20
with open(os.path.join(support.SOURCE, "examples", "threads.py"), encoding="utf-8") as _file:
    THREADS = _file.read()
GROWS = """\
import json
kept = []
def step(n):
    kept.append(bytes(b"x" * n))
    return json.dumps(len(kept))
for i in range(40):
    step(100_000 + i)
"""
SPINS = """\
import sys, threading
assert "fractions" in sys.modules  # imported before
def run():
    total = 0
    for i in range(1_500_000):
        total += i
threads = [threading.Thread(target=run) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


class EachCall(support.ProgramTest):
    """RSS at calls and returns: what is logged is chosen by how far RSS moved."""

    def test_events_that_moved_rss_by_a_page(self):
        run = self.run_script(GROWS, "--min-drss", "4096", "--context", "0")
        head, *lines = run.cat("--text").decode().splitlines()
        self.assertRegex(head, r"^ +Event +dEvent +Clock +What +File +#line +Function +RSS +dRSS$")
        self.assertTrue(lines)
        for line in lines:
            self.assertGreaterEqual(abs(int(line.split()[-1])), 4096, line)

    def test_and_the_event_before_each(self):
        run = self.run_script(GROWS, "--min-drss", "4096", "--context", "1")
        lines = run.cat("--text").decode().splitlines()[1:]
        before = [i for i, line in enumerate(lines) if line.startswith("PREV:")]
        self.assertTrue(before)
        for i in before:
            self.assertTrue(lines[i + 1].startswith("NEXT:"))
            self.assertEqual(int(lines[i].split()[1]) + 1, int(lines[i + 1].split()[1]))

    def test_every_event(self):
        run = self.run_script(GROWS, "--min-drss", "0")
        self.assert_nothing_lost(run)
        self.assertEqual(len([row for row in run.rows() if row["function"] == "step"]), 80)

    def test_rss_and_cpu_at_intervals(self):
        run = self.run_script("import time\nkept = b'x' * 20_000_000\ntime.sleep(0.3)",
                              "--trace", "counters", "--counters-every", "50ms")
        found = rows(run.report("counters", "--csv", "--counter", "rss"))
        self.assertGreater(max(float(row["value"]) for row in found), 20e6)

    def test_a_function_alone_and_the_highest_rss(self):
        run = self.run_script(
            "import pymemrun\n@pymemrun.trace()\ndef work():\n    return bytes(range(256))\n"
            "work(); work()\nprint(pymemrun.rss_peak() >= pymemrun.rss())",
            "--paused", "--min-drss", "0")
        self.assertEqual(run.stdout, "True\n")
        names = [row["function"] for row in run.rows() if row["what"] == "CALL"]
        self.assertEqual(names, ["work", "work"])


class ByThread(support.ProgramTest):
    """A program of six threads, recorded where its own file runs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test = cls()
        test.setUp()
        cls.run_file = test.run_script(
            THREADS, "--include", "*/threads.py", "--events", "call,return",
            "--min-drss", "0", name="threads.py")
        cls.prefix = cls.folder + "/"

    def report(self, command, *options):
        return self.run_file.report(command, *options)

    def peaks(self, *options):
        return self.report("peaks", "--min", "900K", "--min-time", "0",
                           "--strip-prefix", self.prefix, *options)

    def test_peaks_and_the_calls_within_one(self):
        lines = [line for line in self.peaks().splitlines() if ":do_stuff=>" in line]
        self.assertEqual(len(lines), 18)
        line = next(line for line in lines if "Thread-6>" in line)
        number, event = re.fullmatch(r"(\d+): (Thread-6>threads.py:\d+:do_stuff=>\d+)",
                                     line).groups()
        self.assertGreater(int(event.rpartition("=>")[2]), 5.9 * MIB)
        calls = self.report("calls", "--peak", number, "--min", "900K", "--min-time", "0",
                            "--strip-prefix", self.prefix).splitlines()
        self.assertRegex(calls[0], r"^do_stuff@threads.py:\d+-\d+, Time: [\d.]+ s, Memory: \d+ B$")
        # What the module `random` did was not recorded; the comprehension may be a call.
        self.assertTrue(all("random" not in call for call in calls))

    def test_one_thread_and_the_time_of_day(self):
        found = rows(self.peaks("--thread", "Thread-3", "--csv"))
        self.assertEqual({row["thread"].split("#")[0] for row in found}, {"Thread-3"})
        self.assertTrue(all(float(row["unix_s"]) > 1.7e9 for row in found))
        flow = rows(self.report("flow", "--csv", "--thread", "Thread-3"))
        self.assertIn("do_stuff", [row["function"] for row in flow])

    def test_a_picture_with_a_line_for_each_thread(self):
        svg = self.report("graph", "--rebase", "5500K", "--min", "900K", "--min-time", "0",
                          "--peaks", "40")
        for number in range(1, 7):
            self.assertIn(f"Thread-{number}", svg)
        self.assertGreater(svg.count('class="peak"'), 24)

    def test_calls_as_slices_of_a_timeline(self):
        trace = json.loads(self.report("export", "--format", "chrome", "--min-duration", "0"))
        names = [event.get("name") for event in trace["traceEvents"]]
        self.assertGreaterEqual(sum("do_stuff" in str(name) for name in names), 18)


class HeapOverTime(support.ProgramTest):
    """Sampled allocations, by size classes."""

    def test_sizes_first_and_rates_from_them(self):
        done = self.run_script(GROWS, "--heap", "stats")
        self.assertIn("HEAP USAGE SUMMARY", done.stderr.upper())
        run = self.run_script(GROWS, "--trace", "none", "--heap", "sampled",
                              "--heap-rates", "{256:1e-5, 8192:0.1}")
        live = rows(run.report("heap", "--csv", "--at", "end"))
        line = next(row for row in live if row["line"] == "4")
        self.assertGreaterEqual(int(line["live_bytes"]), 4_000_000)
        history = rows(run.report("history", "--csv", "--interval", "10ms"))
        self.assertGreater(len(history), 1)
        stacks = run.report("snapshot", "--at", "end", "--collapsed")
        self.assertRegex(stacks, r"(?m)^.*step \(.*script.py:4\).* \d+$")
        dot = run.report("export", "--format", "dot", "--at", "end")
        self.assertRegex(dot, r"f\d+ -> f\d+ \[label=")

    def test_a_part_of_the_run(self):
        run = self.run_script(
            "import pymemrun\n" + GROWS + "pymemrun.stop()\nkept.append(b'y' * 9_000_000)\n",
            "--trace", "none", "--heap", "all")
        lines = {row["line"] for row in rows(run.report("heap", "--csv", "--at", "end"))}
        self.assertIn("5", lines)
        self.assertNotIn("10", lines)


class Gil(support.ProgramTest):
    """Who holds the GIL, who waits, what threads do."""

    def test_threads_that_want_the_gil(self):
        if support.FREE_THREADED:
            self.skipTest("there is no GIL")
        run = self.run_script(SPINS, "--trace", "gil,states", "--import", "fractions,threading")
        table = rows(run.report("gil", "--csv"))
        spinning = [row for row in table if row["thread"].startswith("Thread-")]
        self.assertEqual(len(spinning), 2)
        for row in spinning:
            self.assertGreater(float(row["waiting_s"]), 0)
            self.assertGreater(float(row["held_s"]), 0)
        self.assertIn("S(GIL)", run.report("states"))
        waits = run.report("offgil", "--collapsed")
        self.assertRegex(waits, r"(?m)^Thread-.* \d+$")
        trace = json.loads(run.report("export", "--format", "chrome"))
        self.assertTrue(any("GIL" in str(event.get("name")) for event in trace["traceEvents"]))
        events = run.json_rows("--records", "gil")
        self.assertEqual({event["what"] for event in events}, {"GIL"})
        taken = sum(event["action"] == "taken" for event in events)
        self.assertGreater(taken, 2)
        # Two halves have all of it.
        half = f"{events[len(events) // 2]['clock_s']:.6f}"
        held = [sum(float(row["held_s"]) for row in rows(run.report("gil", "--csv", *part)))
                for part in ([], ["--to", half], ["--from", half])]
        self.assertAlmostEqual(held[0], held[1] + held[2], delta=2e-5)


if __name__ == "__main__":
    unittest.main()
