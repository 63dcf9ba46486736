#!/usr/bin/env python3
"""With --min-call-drss a logged RETURN knows its CALL: how many events before it
that was, how long ago, and what RSS has changed by since. Where that is not
known it says nothing."""
import os
import unittest

import support

MIB = 1 << 20
# Everything is logged, so that the rows tell what a RETURN is to say.
EVERYTHING = ("--min-drss", "0", "--stacks", "--min-call-drss", "4096")
PROGRAMS = ("async_generators", "comprehensions", "context_managers",
            "coroutines", "exceptions", "generator_close_and_throw",
            "generators", "joins_of_generators", "recursion",
            "threading_threads", "weakrefs_and_destructors")

GROWS = f'''
import mmap, threading, time
keep = []
def grow(mib):
    block = mmap.mmap(-1, mib * {MIB})
    for at in range(0, len(block), 4096): block[at] = 1
    keep.append(block)
def shrink():
    keep.pop().close()
def by_generator():
    yield grow(3)
    yield grow(4)
def raises():
    grow(5)
    raise ValueError
def outer():
    for _ in by_generator(): time.sleep(.01)
    try: raises()
    except ValueError: pass
    small()
def small():
    pass
outer()
shrink()
thread = threading.Thread(target=grow, args=(2,), name="grower")
thread.start(); thread.join()
'''

STOPS = f'''
import pymemrun, sys
keep = []
def grow():
    keep.append(bytearray({8 * MIB}))
def stopped():
    grow()
    pymemrun.stop()
    pymemrun.start()
def profiled():
    grow()
    sys.setprofile(lambda *event: None)
    sys.setprofile(None)
def outer():
    grow(); stopped(); grow(); profiled(); grow()
outer()
'''

RENAMED = f'''
import threading, time
keep = []
def grow(mib):
    keep.append(bytearray(mib * {MIB}))
def renames():
    grow(4)
    threading.current_thread().name = "second"
    while keep[1:] == []:
        time.sleep(.3)  # its name is looked at now and then
        grow(2)
    grow(2)
def outer():
    renames()
thread = threading.Thread(target=outer, name="first")
thread.start(); thread.join()
'''

GREENLETS = f'''
import greenlet
keep = []
def work(n):
    keep.append(bytearray({4 * MIB}))
    if n: other.switch()
    keep.append(bytearray({8 * MIB}))
    return n
def first(): work(1)
def second():
    work(0)
    one.switch()
one = greenlet.greenlet(first)
other = greenlet.greenlet(second)
one.switch()
'''


def calls_of(rows):
    """{number of a RETURN: that of its CALL}, by the rows: of each thread the
    last call of the code that has not ended."""
    open_calls, calls = {}, {}
    for row in rows:
        stack = open_calls.setdefault(row["thread"], [])
        if row["what"] == "CALL":
            stack.append(row["event"])
        elif row["what"] == "RETURN":
            calls[row["event"]] = stack.pop()
    return calls


class CallGrowthTest(support.ProgramTest):
    def assert_as_the_rows_say(self, rows, all_known=True):
        """What each RETURN says of its CALL is so; returns how many say it."""
        calls = calls_of(rows)
        known = 0
        for row in rows:
            if row["call_event"] == "":
                self.assertFalse(all_known and row["what"] == "RETURN", row)
                continue
            known += 1
            self.assertEqual(row["what"], "RETURN")
            number = int(row["call_event"])
            self.assertEqual(number, calls[row["event"]], row)
            call = rows[number]
            self.assertEqual((call["function"], call["file"]),
                             (row["function"], row["file"]))
            self.assertEqual(int(row["call_drss_bytes"]),
                             row["rss_bytes"] - call["rss_bytes"], row)
            self.assertAlmostEqual(
                float(row["call_s"]),
                float(row["clock_s"]) - float(call["clock_s"]), delta=2e-6)
        return known

    def test_each_return_knows_its_call(self):
        folder = os.path.join(support.SOURCE, "tests/support/programs")
        for name in PROGRAMS:
            with self.subTest(name):
                with open(os.path.join(folder, name + ".py")) as file:
                    run = self.run_script(file.read(), *EVERYTHING)
                self.assertGreater(self.assert_as_the_rows_say(run.rows()), 3)

    def test_a_return_is_logged_by_what_its_call_grew_by(self):
        run = self.run_script(GROWS, "--min-drss", "1G", "--context", "0",
                              "--min-call-drss", "1M", "--rss-source", "statm")
        grew = {"MainThread": [], "grower": []}
        for row in run.rows():
            grew[row["thread"].partition("#")[0]].append(
                (row["function"], round(int(row["call_drss_bytes"]) / MIB)))
        self.assertEqual(
            grew["MainThread"][:8],
            [("grow", 3), ("by_generator", 3), ("grow", 4), ("by_generator", 4),
             ("grow", 5), ("raises", 5), ("outer", 12), ("shrink", -5)])
        self.assertEqual(grew["MainThread"][-1][0], "<module>")
        self.assertEqual([name for name, _ in grew["grower"]],
                         ["grow", "run", "_bootstrap_inner", "_bootstrap"])
        self.assertEqual(grew["grower"][0][1], 2)
        outer = run.rows()[6]
        self.assertGreater(float(outer["call_s"]), .02)
        self.assertEqual(run.header.filters.min_call_drss_bytes, MIB)

    def test_what_began_before_events_were_missed_says_nothing(self):
        run = self.run_script(STOPS, "--min-drss", "1G", "--context", "0",
                              "--min-call-drss", "1M")
        grew = [row["function"] for row in run.rows()]
        # A profiler of the script's leaves us every event from 3.12 on.
        profiled = ["profiled"] * support.PROFILERS_SHARE
        self.assertEqual(grew, ["grow"] * 4 + profiled + ["grow"])

    def test_calls_go_on_when_their_thread_is_renamed(self):
        run = self.run_script(RENAMED, "--min-drss", "1G", "--context", "0",
                              "--min-call-drss", "1M", "--rss-source", "statm")
        rows = [row for row in run.rows()
                if not row["thread"].startswith("MainThread")]
        self.assertEqual(rows[0]["thread"].partition("#")[0], "first")
        self.assertEqual(rows[-1]["thread"].partition("#")[0], "second")
        self.assertEqual([row["function"] for row in rows],
                         ["grow", "grow", "grow", "renames", "outer", "run",
                          "_bootstrap_inner", "_bootstrap"])
        self.assertEqual(round(int(rows[3]["call_drss_bytes"]) / MIB), 8)

    def test_greenlets(self):
        try:
            self.run_python("-c", "import greenlet")
        except Exception:
            self.skipTest("no greenlet here")
        run = self.run_script(GREENLETS, "--min-drss", "1G", "--context", "0",
                              "--min-call-drss", "1M", "--rss-source", "statm")
        grew = [(row["function"], round(int(row["call_drss_bytes"]) / MIB))
                for row in run.rows() if row["function"] == "work"]
        self.assertEqual(grew, [("work", 12), ("work", 24)])

    def test_deep_calls_are_right_or_unknown(self):
        run = self.run_script(
            "import sys\nsys.setrecursionlimit(60000)\n"
            "def f(n): return f(n - 1) + 1 if n else 0\nf(900)\nf(40000)\n"
            "def g(): return sum([1])\ng()\n", *EVERYTHING)
        rows = run.rows()
        known = self.assert_as_the_rows_say(rows, all_known=False)
        self.assertGreater(known, 900)
        self.assertNotEqual(rows[-2]["call_event"], "")  # of g, after all that

    def test_where_rows_tell_nothing_is_stored(self):
        run = self.run_script(GROWS, "--min-drss", "0", "--min-call-drss", "1M")
        self.assertEqual({row["call_event"] for row in run.rows()}, {""})


if __name__ == "__main__":
    unittest.main()
