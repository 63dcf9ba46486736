#!/usr/bin/env python3
"""On kernels whose statm moves by many pages at a time RSS is refined by the
faults counted since it last moved, and such rows say that they are estimates.
"""
import json
import os
import unittest

import support

STEP = 64 * 4096
COARSE = {"LD_PRELOAD": os.environ["PYMEMRUN_COARSE_STATM"]}

# 300 pages touched one by one, all by bytecode, not by C calls.
TOUCHING = r'''
import mmap
m = mmap.mmap(-1, 300 * 4096, mmap.MAP_PRIVATE)
def touch(n):
    m[n * 4096] = 1
def warm_up():
    for n in range(300):
        str(n)
def touch_all():
    for n in range(300):
        touch(n)
warm_up()
touch_all()
'''


def touches(rows):
    return [row for row in rows
            if (row["what"], row["function"]) == ("RETURN", "touch")]


class CoarseStatmTest(support.ProgramTest):
    def traced(self, *options, **kwargs):
        return self.run_script(TOUCHING, "--min-drss", "0", *options, **kwargs)

    def test_this_kernels_step_is_measured_recorded_and_shown(self):
        run = self.pymemrun(self.write("touching.py", TOUCHING))
        step = run.header.statm_step_bytes
        self.assertGreaterEqual(step, support.PAGE)
        self.assertEqual(step % support.PAGE, 0)
        words = ("statm is exact to the page" if step == support.PAGE else
                 "statm moves in steps of")
        text = run.cat("--summary").decode()
        self.assertIn(words, " ".join(text.split()).replace(" pymemrun: ", " "))
        self.assertIn(words, run.report("summary"))
        summary = json.loads(run.report("summary", "--json"))[0]
        self.assertEqual(summary["statm_step_bytes"], step)

    def test_faults_tell_what_a_coarse_figure_does_not(self):
        self.need_counters()
        run = self.traced("--rss-source", "faults", env=COARSE)
        self.assertEqual(run.header.statm_step_bytes, STEP)
        self.assertIn("statm moves in steps of 256.0 KiB; RSS between steps is estimated",
                      run.report("summary"))
        rows = touches(run.rows())
        self.assertEqual(len(rows), 300)
        page_each = sum(row["drss_bytes"] == support.PAGE for row in rows)
        self.assertGreater(page_each, 290)
        # Exact is a row only where statm has just moved.
        estimates = sum(row["rss_exact"] == "false" for row in rows)
        self.assertGreater(estimates, 280)
        self.assertLess(estimates, 300)

    def test_an_estimate_holds_until_the_next_value(self):
        self.need_counters()
        run = self.traced("--rss-source", "faults", env=COARSE)
        rss, exact, held = 0, "true", 0
        for row in run.rows():
            if row["drss_bytes"] == 0:
                self.assertEqual(row["rss_bytes"], rss, row)
                # It may turn out to have been right, not the reverse.
                self.assertIn(row["rss_exact"], (exact, "true"), row)
                held += row["rss_exact"] == "false"
            rss, exact = row["rss_bytes"], row["rss_exact"]
        self.assertGreater(held, 200)

    def test_without_counters_the_figure_stays_what_statm_says(self):
        run = self.traced("--rss-source", "statm", env=COARSE)
        self.assertEqual(run.header.statm_step_bytes, STEP)
        rows = run.rows()
        self.assertEqual({row["rss_exact"] for row in rows}, {"true"})
        self.assertEqual({row["rss_bytes"] % STEP for row in rows}, {0})

    def test_the_gauge_is_verified_against_the_figure_itself(self):
        self.need_counters()
        run = self.traced("--rss-source", "faults", "--verify-rss", env=COARSE)
        found = run.footer.rss_verification
        self.assertGreaterEqual(found.agreeing, 0.999 * found.events)


if __name__ == "__main__":
    unittest.main()
