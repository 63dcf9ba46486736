#!/usr/bin/env python3
"""What was missed while the script's own profiler had a thread's events is
recorded, for that thread and that time alone. From CPython 3.12 on nothing is."""
import unittest

import support

# Threads that end with the profiler set, each followed by one at (very likely)
# the same thread state's address that has none.
DYING = r'''
import _thread, sys
def noise():
    return abs(-1)
def profiled(lock):
    noise()
    sys.setprofile(lambda *a: None)
    noise()
    lock.release()
def plain(lock):
    noise()
    lock.release()
def run(body):
    lock = _thread.allocate_lock()
    lock.acquire()
    _thread.start_new_thread(body, (lock,))
    lock.acquire()
    while _thread._count():
        noise()
for n in range(20):
    run(profiled)
    run(plain)
'''

THREADING = r'''
import threading
def noise():
    return abs(-1)
threading.setprofile(lambda *a: None)
for n in range(5):
    t = threading.Thread(target=noise, name="profiled %d" % n)
    t.start()
    t.join()
threading.setprofile(None)
noise()
'''

# A thread of C's that comes in twice: the profiler goes with its thread state.
REENTERING = r'''
import ctypes, sys
ROUTINE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
libc = ctypes.CDLL(None)
libc.pthread_setspecific.argtypes = [ctypes.c_uint, ctypes.c_void_p]
libc.pthread_create.argtypes = [ctypes.POINTER(ctypes.c_ulong), ctypes.c_void_p,
                                ROUTINE, ctypes.c_void_p]
libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
key = ctypes.c_uint()
seen = []
@ROUTINE
def first(argument):
    libc.pthread_setspecific(key, 1)
    sys.setprofile(lambda *a: None)
@ROUTINE
def second(argument):  # as the thread ends
    seen.append(sys.getprofile())
assert libc.pthread_key_create(ctypes.byref(key), second) == 0
native = ctypes.c_ulong()
assert libc.pthread_create(ctypes.byref(native), None, first, None) == 0
assert libc.pthread_join(native, None) == 0
assert seen == [None]
'''

STARTED = r'''
import pymemrun, sys, threading
def noise():
    return abs(-1)
profiling, go, done = (threading.Event() for _ in range(3))
def other():
    sys.setprofile(lambda *a: None)
    profiling.set()
    go.wait()
    noise()
    sys.setprofile(None)
    for n in range(3):
        noise()
    done.set()
t = threading.Thread(target=other, name="other")
t.start()
profiling.wait()
sys.setprofile(lambda *a: None)
pymemrun.start()
noise()
go.set()
done.wait()
noise()
sys.setprofile(None)
noise()
t.join()
'''


class TracedTest(support.ProgramTest):
    def traced(self, text, *options):
        run = self.run_script(text, "--min-drss", "0", *options)
        self.assert_nothing_lost(run)
        self.names = {t.id: t.name.decode() for t in run.records("thread")}
        return run, run.rows(), run.records("profiler_gap")


@unittest.skipIf(support.PROFILERS_SHARE, "nothing is missed")
class ProfilerGapsTest(TracedTest):
    def test_ends_with_its_thread(self):
        run, rows, gaps = self.traced(DYING)
        self.assertEqual(len(gaps), 20)
        sets = [n for n, row in enumerate(rows) if
                (row["what"], row["function"]) == ("C_CALL", "setprofile")]
        native = {t.id: t.native_id for t in run.records("thread")}
        for gap, at in zip(gaps, sets):
            self.assertEqual(gap.from_number, rows[at]["event"] + 1)
            self.assertTrue(rows[at]["thread"].endswith(
                "#%d" % native[gap.thread]))
            # The next thread that begins has no part in it.
            begins = next(row["event"] for row in rows[at:]
                          if (row["what"], row["function"]) ==
                          ("CALL", "plain"))
            self.assertLess(gap.from_number, begins)
            self.assertLessEqual(gap.to_number, begins)
            self.assertLessEqual(gap.from_us, gap.to_us)
        # Its own events are all there.
        for native_id, own in run.threads().items():
            if own[0]["function"] == "plain":
                self.assertEqual(
                    [row["function"] for row in own],
                    ["plain", "noise", "abs", "abs", "noise", "lock.release",
                     "lock.release", "plain"])

    def test_threadings_profiler(self):
        _, rows, gaps = self.traced(THREADING)
        self.assertEqual([self.names[gap.thread] for gap in gaps],
                         ["profiled %d" % n for n in range(5)])
        for before, gap in zip(gaps, gaps[1:]):
            self.assertLessEqual(before.to_number, gap.from_number)
        self.assertLess(gaps[-1].to_number, rows[-1]["event"])

    def test_ends_with_the_thread_state(self):
        run, _, gaps = self.traced(REENTERING)
        self.assertEqual(len(gaps), 1)
        own = [row["function"] for row in run.rows()
               if row["thread"].startswith("thread#")]
        self.assertEqual(own[-6:], ["second", "getprofile", "getprofile",
                                    "list.append", "list.append", "second"])
        [begins] = [row["event"] for row in run.rows()
                    if (row["what"], row["function"]) == ("CALL", "second")]
        self.assertLessEqual(gaps[0].to_number, begins)

    def test_begins_where_tracing_does(self):
        run, rows, gaps = self.traced(STARTED, "--paused")
        found = {self.names[gap.thread]: gap for gap in gaps}
        self.assertEqual(sorted(found), ["MainThread", "other"])
        self.assertEqual([g.from_number for g in found.values()], [0, 0])
        main = [row for row in rows if row["thread"].startswith("MainThread")]
        other = [row for row in rows if row["thread"].startswith("other")]
        # The first event of each is the end of its own sys.setprofile(None).
        for own, name in ((main, "MainThread"), (other, "other")):
            self.assertEqual(support.event_of(own[0])[::3],
                             ("C_RETURN", "setprofile"))
            self.assertEqual(found[name].to_number, own[0]["event"])
        calls = [row for row in other if row["function"] == "noise"]
        self.assertEqual(len(calls), 6)


@unittest.skipUnless(support.PROFILERS_SHARE, "a profiler has the slot")
class ProfilersShareTest(TracedTest):
    """The script's profiler is told, and so are we."""

    def functions(self, text, begins, *options):
        """Those of the threads whose first event is of the function `begins`."""
        run, _, gaps = self.traced(text, *options)
        self.assertEqual(gaps, [])
        return [[row["function"] for row in own]
                for own in run.threads().values()
                if own[0]["function"] == begins]

    def test_threads_that_end_profiled(self):
        noise = ["noise", "abs", "abs", "noise"]
        end = ["lock.release", "lock.release"]
        profiled = self.functions(DYING, "profiled")
        self.assertEqual(profiled, [
            ["profiled", *noise, "setprofile", "setprofile", *noise, *end,
             "profiled"]] * 20)
        plain = self.functions(DYING, "plain")
        self.assertEqual(plain, [["plain", *noise, *end, "plain"]] * 20)

    def test_threadings_profiler(self):
        threads = self.functions(THREADING, "_bootstrap")
        self.assertEqual(len(threads), 5)
        for own in threads:
            at = own.index("setprofile")
            self.assertEqual(own[at:at + 2], ["setprofile"] * 2)
            self.assertEqual(own.count("noise"), 2)

    def test_a_thread_that_comes_back(self):
        [own] = self.functions(REENTERING, "first")
        self.assertEqual(own[-6:], ["second", "getprofile", "getprofile",
                                    "list.append", "list.append", "second"])

    def test_tracing_that_begins_later(self):
        _, rows, gaps = self.traced(STARTED, "--paused")
        self.assertEqual(gaps, [])
        calls = [row["thread"].partition("#")[0] for row in rows
                 if (row["what"], row["function"]) == ("CALL", "noise")]
        self.assertEqual((calls.count("MainThread"), calls.count("other")),
                         (3, 4))


if __name__ == "__main__":
    unittest.main()
