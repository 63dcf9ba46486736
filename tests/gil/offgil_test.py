#!/usr/bin/env python3
"""The examples of the GIL, and where their threads wait (`pymemreport offgil`)."""
import json
import os
import subprocess
import unittest

import support

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "gil")


def example(name):
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        return file.read()


def report(run, *words):
    return subprocess.run([support.PYMEMREPORT, words[0], run.path, *words[1:]], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout


def names(row):
    return row["thread"].rpartition("#")[0]


@unittest.skipIf(support.FREE_THREADED, "there is no GIL")
class ExamplesTest(support.ProgramTest):
    def test_threads_that_compute_wait_where_they_compute(self):
        text = example("computing.py")
        run = self.run_script(text, "--trace", "gil")
        threads = {names(row): row for row in json.loads(report(run, "gil", "--json"))}
        counters = [threads["counter 1"], threads["counter 2"]]
        for row in counters:
            self.assertGreater(row["waiting_share"], 0.2, row)
            self.assertLess(row["without_share"], 0.2, row)
        waited = sum(row["waiting_s"] for row in threads.values())
        for by in "waiter", "holder", "both":
            frames = json.loads(report(run, "offgil", "--by", by, "--json", "--limit", "0"))
            self.assertAlmostEqual(sum(frame["self_s"] for frame in frames), waited, 4)
        # Nearly all of it at the loop, by waiter and by holder.
        loop = 1 + text[:text.index("for number")].count("\n")
        for by in "waiter", "holder":
            frames = json.loads(report(run, "offgil", "--by", by, "--json", "--limit", "0"))
            in_loop = sum(frame["self_s"] for frame in frames
                          if frame["function"] == "count_up"
                          and frame["line"] in (loop, loop + 1))
            self.assertGreater(in_loop, waited / 2, frames)

    def test_code_that_lets_go_keeps_nobody(self):
        run = self.run_script(example("letting_go.py"), "--trace", "gil")
        threads = {names(row): row for row in json.loads(report(run, "gil", "--json"))}
        for name in "digest 1", "digest 2":
            self.assertGreater(threads[name]["without_share"], 0.5, threads[name])
            self.assertLess(threads[name]["held_share"], 0.2, threads[name])
        self.assertLess(threads["MainThread"]["waiting_share"], 0.5)

    def test_collapsed_lines_add_up_to_the_waiting(self):
        run = self.run_script(example("computing.py"), "--trace", "gil")
        waited = sum(row["waiting_s"] for row in json.loads(report(run, "gil", "--json")))
        lines = report(run, "offgil", "--collapsed").splitlines()
        total = sum(int(line.rpartition(" ")[2]) for line in lines)
        self.assertAlmostEqual(total / 1e6, waited, delta=1e-6 * (len(lines) + 1))
        self.assertTrue(any(line.startswith("counter 1#") for line in lines), lines)

    def test_a_picture_for_a_name_that_ends_in_svg(self):
        run = self.run_script(example("computing.py"), "--trace", "gil")
        picture = os.path.join(self.folder, "waits.svg")
        report(run, "offgil", "-o", picture)
        with open(picture, encoding="utf-8") as file:
            self.assertIn("<svg", file.read(200))
        self.assertIn("for the GIL.", report(run, "offgil"))


if __name__ == "__main__":
    unittest.main()
