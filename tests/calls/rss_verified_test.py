#!/usr/bin/env python3
"""--verify-rss reads statm beside the gauge at every event and says how often,
for how long and by how much the gauge was wrong."""
import json
import mmap
import os
import shutil
import subprocess
import tempfile
import unittest

import perf_support
import support

STALENESS_NS = 50_000
AGREEING = 0.999

# What each program is given to do, some hundred thousand events of it.
PROGRAMS = {"calls.py": {"WORK_REPEAT": "1"}, "alloc.py": {"WORK_N": "1"},
            "numpy_arrays.py": {"WORK_N": "1"}, "threads.py": {"WORK_N": "800"}}

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

# glibc gives threads heaps of their own, and makes them smaller within free().
SHRINKING = r'''
import threading
def run_on():
    for n in range(20):
        abs(n)
def shrink():
    keep = [bytearray(40_000) for n in range(400)]
    while keep:
        keep.pop()
        run_on()
thread = threading.Thread(target=shrink)
thread.start()
thread.join()
'''


def workload(name):
    return os.path.join(support.SOURCE, "bench", "workloads", name)


class VerifyTest(support.ProgramTest):
    def verified(self, run):
        """What was found, checked against what the options asked for."""
        footer = run.footer
        found = footer.rss_verification
        self.assertEqual(found.events, footer.events)
        self.assertLessEqual(found.agreeing + found.changing, found.events)
        return found


class ProgramsTest(VerifyTest):
    """The gauge on programs of each kind, as those run them who may count
    faults, who may count their own, and who may not."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # An ordinary user may not reach where these are.
        cls.workloads = os.path.join(cls.folder, "workloads")
        shutil.copytree(os.path.dirname(workload("")), cls.workloads,
                        copy_function=shutil.copyfile)
        os.chmod(cls.workloads, 0o755)
        data = os.path.join(cls.folder, "las")
        subprocess.run([support.PYTHON, workload("gen_las.py"), data, "200000",
                        "8"], check=True, stdout=subprocess.DEVNULL)
        cls.variables = {"WORK_DATA": data, "PYTHONHASHSEED": "0"}

    def run_program(self, name, *options, **kwargs):
        out = tempfile.mkdtemp(dir=self.folder)
        os.chmod(out, 0o777)
        return self.pymemrun("--quiet", *options,
                             os.path.join(self.workloads, name),
                             env={**self.variables, **PROGRAMS[name],
                                  "WORK_OUT": out}, **kwargs)

    def verified_programs(self, source, **kwargs):
        """(name, what was found) of each program."""
        for name in PROGRAMS:
            run = self.run_program(name, "--verify-rss", **kwargs)
            self.assertEqual(run.header.rss_source,
                             support.trace_pb2().RssSource.Value(source))
            self.assertGreater(run.footer.events, 50_000)
            yield name, self.verified(run)

    def check_agreement(self, **kwargs):
        self.need_counters()
        for name, found in self.verified_programs("FAULTS", **kwargs):
            self.assertGreaterEqual(found.agreeing, AGREEING * found.events,
                                    (name, found))

    @unittest.skipIf(os.getuid() != 0, "not root")
    def test_with_counters_rss_is_statms_as_root(self):
        self.check_agreement()

    def test_with_counters_rss_is_statms_as_an_ordinary_user(self):
        if perf_support.paranoid() > 2:
            self.skipTest("kernel.perf_event_paranoid is above 2")
        self.check_agreement(ordinary=True)

    def test_without_perf_rss_is_late_by_50_us_at_most(self):
        for name, found in self.verified_programs(
                "HINTS", preexec=perf_support.refuse_perf):
            self.assertLessEqual(found.worst_staleness_ns, STALENESS_NS,
                                 (name, found))
            self.assertGreater(found.agreeing, 0.8 * found.events,
                               (name, found))

    def test_the_gauge_itself_reads_at_few_events(self):
        footer = self.run_program("calls.py").footer
        self.assertGreater(footer.rss_reads, 0)
        self.assertLess(footer.rss_reads, 0.02 * footer.events)


class VerifyRssTest(VerifyTest):

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

    def test_memory_that_a_threads_free_gives_back_is_seen_at_once(self):
        run = self.run_script(SHRINKING, "--verify-rss")
        if run.header.rss_source != support.trace_pb2().FAULTS:
            self.skipTest("no page-fault counters here")
        found = self.verified(run)
        # The thread's stack goes without a sign, when it ends.
        self.assertGreaterEqual(found.agreeing, 0.99 * found.events, found)

    def test_the_end_report_and_the_readers_tell_it(self):
        run = self.pymemrun("--verify-rss", "--rss-source", "statm",
                            self.write("growth.py", GROWTH))
        events = f"{run.footer.events:,}"
        text = f"equal to statm at 100 % of {events} events"
        for report in (run.stderr, run.cat("--summary").decode()):
            words = " ".join(line.partition(": ")[2].strip()
                             for line in report.splitlines())
            self.assertIn(f"RSS verified: {text}; the gauge itself read RSS "
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
