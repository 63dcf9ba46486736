#!/usr/bin/env python3
"""On machines with many CPUs not every page-fault counter is read at each
event; RSS is what it is all the same. The CPUs that are not there have counters
that count nothing."""
import os
import unittest

import rss_exact_test
import rss_verified_test
import support

PRELOADED = os.environ["PYMEMRUN_MANY_CPUS"]
AGREEING = 0.999


def many(cpus):
    return {"LD_PRELOAD": PRELOADED, "MANY_CPUS": str(cpus)}


class ManyCpusTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.faults = support.trace_pb2().FAULTS

    def run_many(self, cpus, *arguments, env=None, **kwargs):
        run = self.pymemrun("--quiet", *arguments,
                            env={**many(cpus), **(env or {})}, **kwargs)
        if run.header.rss_source != self.faults:
            self.skipTest(run.header.rss_source_reason.decode())
        return run

    def test_growth_and_shrinkage_at_exactly_the_events(self):
        script = self.write("mappings.py", rss_exact_test.MAPPINGS)
        expected = [change for size in rss_exact_test.SIZES
                    for change in (("C_RETURN", size), ("C_RETURN", -size))]
        for cpus in (3, 8, 9, 64):
            with self.subTest(cpus=cpus):
                rows = rss_exact_test.counted(self.run_many(
                    cpus, "--min-drss", "0", script,
                    str(rss_exact_test.PRIVATE)).rows())
                self.assertEqual([(row["what"], row["drss_bytes"])
                                  for row in rows if row["drss_bytes"] != 0],
                                 expected)

    def test_threads_on_several_cpus_agree_with_statm(self):
        name = "threads.py"
        run = self.run_many(64, "--verify-rss", rss_verified_test.workload(name),
                            env=rss_verified_test.PROGRAMS[name])
        found = run.footer.rss_verification
        self.assertGreaterEqual(found.agreeing, AGREEING * found.events, found)

    def test_the_gauge_itself_still_reads_at_few_events(self):
        footer = self.run_many(64, rss_verified_test.workload("alloc.py"),
                               env={"WORK_N": "1"}).footer
        self.assertLess(footer.rss_reads, 0.02 * footer.events)

    def test_more_than_there_is_room_for_give_hints_and_say_so(self):
        run = self.pymemrun("--quiet", self.write("pass.py", "pass"),
                            env=many(65))
        self.assertEqual(run.header.rss_source, support.trace_pb2().HINTS)
        self.assertIn(b"65 CPUs, at most 64 are supported", run.header.rss_source_reason)


if __name__ == "__main__":
    unittest.main()
