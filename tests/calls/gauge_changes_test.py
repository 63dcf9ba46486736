#!/usr/bin/env python3
"""An RSS source that fails gives way to a lesser one: the run file says from
which event on and why, readers show it, and RSS stays right within 50 us."""
import json
import os
import unittest

import perf_support
import support

STALENESS_S = 50e-6
GROWTH = 40_960

# Twenty growths, each followed by traced running for longer than 50 us; the
# source fails before them.
GROWING = r'''
import ctypes, mmap, os
source = memoryview(b"\1" * 2_000_000)
libc = ctypes.CDLL(None, use_errno=True)
%s
def run_on():
    for n in range(1500):
        abs(n)
def grow():
    m = mmap.mmap(-1, 40_960)
    m.write(source[:40_960])
    run_on()
    return m
def all_of_them():
    return [grow() for n in range(20)]
kept = all_of_them()
fail()
kept += all_of_them()
'''

STOPPED = GROWING % r'''
def fail():
    assert libc.prctl(31, 0, 0, 0, 0) == 0  # PR_TASK_PERF_EVENTS_DISABLE
'''

UNMAPPED = GROWING % r'''
def fail():
    for line in open("/proc/self/maps"):
        if "perf_event" in line:
            begin, end = (int(n, 16) for n in line.split()[0].split("-"))
            assert libc.munmap(ctypes.c_void_p(begin),
                               ctypes.c_size_t(end - begin)) == 0
'''

# Its descriptor closed where nobody sees it, and no /proc to open it anew.
HIDDEN = GROWING.replace("kept += all", "come_back()\nkept += all") % r'''
CLOSE = {"x86_64": 3, "aarch64": 57}[os.uname().machine]
os.mkdir("empty")
root = os.open("/", os.O_RDONLY)
def fail():
    os.chroot("empty")
    for fd in range(3, 4096):
        if fd != root:
            libc.syscall(CLOSE, fd)
    all_of_them()
def come_back():
    os.fchdir(root)
    os.chroot(".")
'''


def words(report):
    """A report's text without its line breaks."""
    return " ".join(line.partition("pymemrun: ")[2].strip() or line.strip()
                    for line in report.splitlines())


class GaugeChangesTest(support.ProgramTest):
    def traced(self, script, source="faults"):
        return self.pymemrun("--min-drss", "0", "--rss-source", source,
                             self.write("growing.py", script))

    def source(self, name):
        return support.trace_pb2().RssSource.Value(name)

    def late_growths(self, rows):
        """How many growths were not seen at once. All must be within 50 us."""
        late = 0
        for at, row in enumerate(rows):
            if (row["what"], row["function"]) != ("C_RETURN", "mmap.write"):
                continue
            late += row["drss_bytes"] < GROWTH
            # Times are printed as whole microseconds.
            until = float(row["clock_s"]) + STALENESS_S + 2e-6
            grown = 0
            for row in rows[at:]:
                grown += row["drss_bytes"]
                if float(row["clock_s"]) >= until:
                    break
            self.assertGreaterEqual(grown, GROWTH, row)
        return late

    def check_lost_counters(self, script, reason):
        run = self.traced(script)
        self.assertEqual(run.header.rss_source, self.source("FAULTS"))
        changes = run.records("gauge")
        self.assertEqual(len(changes), 1, changes)
        change = changes[0]
        self.assertEqual(change.rss_source, self.source("HINTS"))
        self.assertEqual(change.old_rss_source, self.source("FAULTS"))
        self.assertEqual(change.reason.decode(), reason)
        rows = run.rows()
        failed = next(row["event"] for row in rows
                      if row["function"] == "fail")
        self.assertGreater(change.number, failed)
        # With counters each growth is seen at once; without, it may be later.
        before = [row for row in rows if row["event"] < failed]
        after = [row for row in rows if row["event"] > change.number]
        self.assertEqual(self.late_growths(before), 0)
        self.late_growths(after)
        self.assertEqual(run.footer.gauge_changes, 1)
        self.assertEqual(run.footer.gauge_change, change)
        text = f"faults; hints from event {change.number:,} on ({reason})"
        for shown in (run.stderr, run.report("summary"),
                      run.cat("--summary").decode()):
            self.assertIn(text, words(shown))
        summary = json.loads(run.report("summary", "--json"))[0]
        self.assertEqual(summary["rss_source_changes"], 1)

    def test_counters_that_are_stopped_give_way_to_hints(self):
        self.need_counters()
        self.check_lost_counters(STOPPED,
                                 "the page-fault counters have stopped")

    def test_counters_that_are_unmapped_give_way_to_hints(self):
        self.need_counters()
        self.check_lost_counters(
            UNMAPPED, "the program has unmapped the page-fault counters")

    @unittest.skipIf(os.getuid() != 0, "only root may chroot")
    def test_rss_that_cannot_be_read_is_said_to_be_unknown_until_it_can(self):
        run = self.traced(HIDDEN, "statm")
        lost, found = run.records("gauge")
        self.assertEqual(lost.rss_source, self.source("RSS_SOURCE_UNKNOWN"))
        self.assertEqual(lost.old_rss_source, self.source("STATM"))
        self.assertEqual(lost.reason.decode(),
                         "/proc/self/statm: No such file or directory")
        self.assertEqual(found.rss_source, self.source("STATM"))
        self.assertEqual(found.reason.decode(),
                         "/proc/self/statm can be read again")
        for row in run.rows():
            unknown = lost.number <= row["event"] < found.number
            self.assertEqual(row["rss_exact"], str(not unknown).lower(), row)
            if unknown:
                self.assertEqual(row["drss_bytes"], 0)
        self.assertIn("the last of 2 changes", run.report("summary"))

    def test_refused_perf_gives_hints_and_says_why(self):
        script = self.write("growing.py", GROWING % "def fail(): pass")
        run = self.pymemrun("--min-drss", "0", script,
                            preexec=perf_support.refuse_perf)
        self.assertEqual(run.header.rss_source, self.source("HINTS"))
        reason = run.header.rss_source_reason.decode()
        self.assertIn("perf_event_open: Operation not permitted", reason)
        self.assertIn("kernel.perf_event_paranoid", reason)
        self.assertIn(f"hints ({reason})", words(run.report("summary")))
        self.late_growths(run.rows())

    def test_refused_perf_is_told_who_asked_for_it(self):
        run = self.pymemrun("--rss-source", "faults",
                            self.write("pass.py", "pass"),
                            preexec=perf_support.refuse_perf)
        self.assertIn("page-fault counters: perf_event_open: Operation not "
                      "permitted", words(run.stderr))


if __name__ == "__main__":
    unittest.main()
