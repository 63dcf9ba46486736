#!/usr/bin/env python3
"""What examples/threads.py says of itself: which calls took the memory, and what
happened in one of them, by pymemreport's peaks, calls and flow."""
import csv
import os
import re
import subprocess
import unittest

import support

EXAMPLE = os.path.join(support.SOURCE, "examples", "threads.py")
MIB = 1 << 20
THREADS, ROUNDS = 6, 3
# 18: Thread-6>main.py:44:run=>212992
LEGEND = re.compile(r"(\d+): ([^>]+)>(.+):(\d+):(.+)=>(-?\d+)")
# doStuff@main.py:27-39, Time: 22.03 s, Memory: 167936 B
CALL = re.compile(r"( *)(.+)@(.+):(\d+)-(\d+), Time: (\d+\.\d+) s, "
                  r"Memory: (-?\d+) B")


class CallReportsTest(support.ProgramTest):
    def run_example(self, *options):
        with open(EXAMPLE) as file:
            return self.run_script(file.read(), *options, name="threads.py")

    def peaks(self, run):
        """[(number, thread, file, line, function, bytes)]"""
        text = run.report("peaks", "--min", "900K", "--min-time", "0",
                          "--strip-prefix", self.folder + "/")
        found = [LEGEND.fullmatch(line) for line in text.splitlines()]
        self.assertNotIn(None, found, text)
        self.assertEqual([int(peak[1]) for peak in found],
                         list(range(1, len(found) + 1)))
        return [peak.groups() for peak in found]

    def calls(self, run, peak, *options):
        """What is printed of the peak's call, and on stderr."""
        done = subprocess.run(
            [support.PYMEMREPORT, "calls", run.path, "--peak", peak, "--min",
             "900K", "--min-time", "0", "--strip-prefix", self.folder + "/",
             *options], check=True, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        found = [CALL.fullmatch(line) for line in done.stdout.splitlines()]
        self.assertNotIn(None, found, done.stdout)
        return [call.groups() for call in found], done.stderr

    def check_peaks(self, peaks, most_beyond=None):
        """Each thread's calls are there, and took what they were to take, at
        most `most_beyond` bytes more."""
        lines = {}
        for _, thread, file, line, function, size in peaks:
            if function in ("do_stuff", "run") and file == "threads.py":
                lines.setdefault((thread, function), []).append((line, int(size)))
        for number in range(1, THREADS + 1):
            done = lines[f"Thread-{number}", "do_stuff"]
            self.assertEqual(len(done), ROUNDS)
            self.assertEqual(len({line for line, _ in done}), 1)
            (_, ran), = lines[f"Thread-{number}", "run"]
            for size in [size - number * MIB for _, size in done] + [
                    ran - ROUNDS * number * MIB]:
                self.assertGreater(size, -65536)
                if most_beyond is not None:
                    self.assertLess(size, most_beyond)

    def test_with_all_events(self):
        run = self.run_example("--min-drss", "0")
        peaks = self.peaks(run)
        self.check_peaks(peaks)
        number, *_, line, _, size = next(
            peak for peak in peaks if peak[1] == "Thread-6" and peak[4] == "do_stuff")
        calls, told = self.calls(run, number)
        self.assertIn("what other threads did during a call counts", told)
        indent, name, file, first, last, took, memory = calls[0]
        self.assertEqual((indent, name, file, last, memory),
                         ("", "do_stuff", "threads.py", line, size))
        self.assertLess(int(first), int(last))
        self.assertGreater(float(took), 0.019)
        # Its children: the first number, the list and its twenty numbers.
        self.assertEqual({name for indent, name, *_ in calls if indent == " "},
                         {"randint"} | ({"<listcomp>"} if support.VERSION < (3, 12)
                                        else set()))
        drawn = [call for call in calls if call[1] == "randint"]
        self.assertEqual(len(drawn), 21)
        self.assertTrue(all(call[2].endswith("/random.py") for call in drawn))
        deeper = calls[calls.index(drawn[0]) + 1]
        self.assertEqual(deeper[:2], ("  ", "randrange"))
        # In each function what its calls took, and what itself.
        flow = {row["function"]: row for row in csv.DictReader(
            run.report("flow", "--csv", "--limit", "0").splitlines())}
        own = int(flow["do_stuff"]["own_bytes"])
        self.assertGreater(own, ROUNDS * MIB * sum(range(1, THREADS + 1)) * .98)
        self.assertEqual(int(flow["do_stuff"]["calls"]), THREADS * ROUNDS)
        self.assertLess(abs(int(flow["randint"]["own_bytes"])), own)

    def test_with_page_faults_a_call_has_what_its_thread_did(self):
        self.need_counters()
        for options in (["--min-drss", "0"], ["--min-call-drss", "900K"]):
            run = self.run_example("--trace", "calls,pages", *options)
            self.check_peaks(self.peaks(run), most_beyond=65536)

    def test_with_calls_by_their_growth(self):
        run = self.run_example("--min-call-drss", "900K")
        peaks = self.peaks(run)
        self.check_peaks(peaks)
        number = next(peak[0] for peak in peaks
                      if peak[1] == "Thread-6" and peak[4] == "run")
        calls, told = self.calls(run, number)
        self.assertIn("RSS changed by less than 900.0 KiB", told)
        self.assertEqual([(indent, name) for indent, name, *_ in calls
                          if name in ("run", "do_stuff")],
                         [("", "run")] + [(" ", "do_stuff")] * ROUNDS)


if __name__ == "__main__":
    unittest.main()
