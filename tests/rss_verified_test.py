#!/usr/bin/env python3
"""--verify-rss reads statm beside the gauge at every event and says how often,
for how long and by how much the gauge was wrong."""
import json
import mmap
import os
import unittest

import support

STALENESS_NS = 50_000

# Memory that comes within C calls, between calls that touch nothing. A page at a
# time: a call that took 50 us would be seen by any source.
GROWTH = r'''
import mmap
source = b"\1" * mmap.PAGESIZE
keep = []
def run_on():
    for n in range(600):
        abs(n)
for n in range(20):
    m = mmap.mmap(-1, len(source))
    run_on()
    m.write(source)
    run_on()
    keep.append(m)
'''


def workload(name):
    return os.path.join(support.SOURCE, "bench", "workloads", name)


class VerifyRssTest(support.ProgramTest):
    def verified(self, run):
        """What was found, checked against what the options asked for."""
        footer = run.footer
        found = footer.rss_verification
        self.assertEqual(found.events, footer.events)
        self.assertLessEqual(found.agreeing + found.changing, found.events)
        return found

    def test_a_run_that_is_not_verified_says_nothing_of_it(self):
        run = self.pymemrun(self.write("growth.py", GROWTH))
        self.assertFalse(run.footer.HasField("rss_verification"))
        self.assertGreater(run.footer.rss_reads, 20)
        self.assertLess(run.footer.rss_reads, run.footer.events / 2)
        self.assertNotIn("verified", run.stderr)
        self.assertNotIn("verified", run.report("summary"))

    def test_the_reference_is_always_right_and_reads_always(self):
        for options in ([], ["--min-drss", "0"]):
            run = self.run_script(GROWTH, "--verify-rss", "--rss-source",
                                  "statm", *options)
            found = self.verified(run)
            self.assertEqual(found.agreeing, found.events)
            self.assertEqual(found.worst_error_bytes, 0)
            # Those of the verification are not among them.
            self.assertEqual(run.footer.rss_reads, found.events)

    def test_a_source_that_misses_growth_is_found_out(self):
        for options in ([], ["--min-drss", "0"]):
            run = self.run_script(GROWTH, "--verify-rss", "--rss-source",
                                  "hints", *options)
            found = self.verified(run)
            self.assertLess(found.agreeing, found.events)
            self.assertGreaterEqual(found.worst_error_bytes, mmap.PAGESIZE)
            self.assertGreater(found.worst_staleness_ns, 0)
            self.assertLessEqual(found.worst_staleness_ns, STALENESS_NS)

    def test_the_end_report_and_the_readers_tell_it(self):
        run = self.pymemrun("--verify-rss", "--rss-source", "statm",
                            self.write("growth.py", GROWTH))
        events = f"{run.footer.events:,}"
        text = f"statm's value at 100 % of {events} events"
        for report in (run.stderr, run.cat("--summary").decode()):
            words = " ".join(line.partition(": ")[2].strip()
                             for line in report.splitlines())
            self.assertIn(f"RSS verified: {text}; the gauge itself read it "
                          f"{events} times (100.00 % of the events).", words)
        self.assertIn(text, run.report("summary"))
        summary = json.loads(run.report("summary", "--json"))[0]
        self.assertEqual(summary["verified_events"], run.footer.events)
        self.assertEqual(summary["agreeing_events"], run.footer.events)
        self.assertEqual(summary["worst_rss_error_bytes"], 0)

    def test_the_trace_is_what_it_is_without(self):
        runs = [self.run_script(GROWTH, "--min-drss", "0", *options)
                for options in ([], ["--verify-rss"])]
        events = [[support.event_of(row) for row in run.rows()]
                  for run in runs]
        self.assertEqual(*events)


if __name__ == "__main__":
    unittest.main()
