#!/usr/bin/env python3
"""Every thread is traced, also those that C code starts, and again after the
script's own profilers."""
import unittest

import support

KINDS = r'''
import ctypes, threading, _thread

def work(name):
    for n in range(100):
        len(name)

def by_threading():
    work("threading")

def by_thread(lock):
    work("_thread")
    lock.release()

START = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def by_c(argument):
    work("pthread")
by_c_callback = START(by_c)

thread = threading.Thread(target=by_threading, name="named one")
thread.start()
thread.join()
lock = _thread.allocate_lock()
lock.acquire()
_thread.start_new_thread(by_thread, (lock,))
lock.acquire()
libc = ctypes.CDLL(None)
native = ctypes.c_ulong()
libc.pthread_create.argtypes = [ctypes.POINTER(ctypes.c_ulong), ctypes.c_void_p,
                                START, ctypes.c_void_p]
libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
assert libc.pthread_create(ctypes.byref(native), None, by_c_callback, None) == 0
assert libc.pthread_join(native, None) == 0
'''

MANY_THREADS = r'''
import _thread
def work(lock):
    for n in range(400):
        str(n)
    lock.release()
locks = []
for n in range(40):
    lock = _thread.allocate_lock()
    lock.acquire()
    locks.append(lock)
    _thread.start_new_thread(work, (lock,))
for lock in locks:
    lock.acquire()
'''

# Three profilers inside one another; `until` marks how many calls go by until
# ours is back, which is at once.
NESTED = r'''
import cProfile, sys, threading

seen = []
def note(frame, event, arg):
    seen.append((event, frame.f_code.co_name))

def called(n):
    return abs(n)

def calls(label):
    for n in range(10):
        called(n)

def nested():
    calls("before")
    sys.setprofile(note)
    calls("first")
    outer = sys.getprofile()
    profile = cProfile.Profile()
    profile.enable()
    calls("second")
    inner = lambda *a: None
    sys.setprofile(inner)
    calls("third")
    sys.setprofile(outer)
    calls("restored")
    sys.setprofile(None)
    after()

def after():
    for n in range(100):
        called(n)

nested()
t = threading.Thread(target=nested)
t.start()
t.join()
'''

INVISIBLE = r'''
import sys, threading
assert sys.getprofile() is None
assert threading.getprofile() is None
sys.setprofile(None)
assert sys.getprofile() is None
def f(): pass
for n in range(5): f()
def in_thread():
    assert sys.getprofile() is None
    sys.setprofile(None)
    for n in range(5): f()
t = threading.Thread(target=in_thread)
t.start(); t.join()
def mine(*args): pass
sys.setprofile(mine)
assert sys.getprofile() is mine
sys.setprofile(None)
assert sys.getprofile() is None
for n in range(5): f()
'''

# PyRuntime's list of audit hooks, null when nobody listens, is found by what it
# becomes: a word of the runtime that was null and is the hook's entry once
# PySys_AddAuditHook has run. Only that word and the entry itself tell.
AUDIT = r'''
import ctypes
api = ctypes.pythonapi
hook = ctypes.CDLL(None).fegetround  # any function of C that returns 0
address = ctypes.cast(hook, ctypes.c_void_p).value
WORDS = 20000
runtime = (ctypes.c_size_t * WORDS).in_dll(api, "_PyRuntime")

def entry_of(word):
    # struct { entry* next; hook; void* data }
    return (ctypes.c_size_t * 3).from_address(word)

before = list(runtime)
api.PySys_AddAuditHook(hook, None)
after = list(runtime)
found = [n for n in range(WORDS) if before[n] == 0 and after[n] > 1 << 16 and
         after[n] % 16 == 0 and entry_of(after[n])[1] == address]
print(len(found), [entry_of(after[n])[0] for n in found])
'''

MODULE = r'''
import pymemrun
def noise(n):
    return abs(n)
noise(1)
pymemrun.mark("one")
pymemrun.mark("zwei \u00fc \udc80 =cmd")
assert pymemrun.rss() % 4096 == 0 and pymemrun.rss() > 1 << 20
pymemrun.stop()
noise(2); noise(3)
pymemrun.start()
pymemrun.start()      # no effect
noise(4)
pymemrun.stop()
with pymemrun.trace():
    noise(5)
noise(6)
with pymemrun.trace() as outer:
    with pymemrun.trace():
        noise(7)
    noise(8)          # still on: the inner one found it so
try:
    with pymemrun.trace():
        1 / 0
except ZeroDivisionError:
    pass
noise(9)              # off again
pymemrun.start()
try:
    pymemrun.mark(3)
except TypeError as e:
    print(e)
noise(10)
'''


class ThreadsArmedTest(support.ProgramTest):
    def traced(self, text, *options, **kwargs):
        run = self.run_script(text, "--min-drss", "0", *options, **kwargs)
        self.assert_nothing_lost(run)
        return run

    def test_every_way_to_make_a_thread(self):
        run = self.traced(KINDS)
        found = {}
        for rows in run.threads().values():
            entry = next((row["function"] for row in rows
                          if row["function"].startswith("by_")), None)
            calls = [row for row in rows if row["function"] == "len" and
                     row["file"].endswith("script.py")]
            found[rows[0]["thread"].rpartition("#")[0], entry] = len(calls)
        self.assertEqual(found[("named one", "by_threading")], 200)
        self.assertEqual(found[("thread", "by_thread")], 200)
        self.assertEqual(found[("thread", "by_c")], 200)
        self.assertIn("MainThread", {name for name, _ in found})
        # The first event of each is the call of its outermost function.
        firsts = {rows[0]["function"] for rows in run.threads().values()}
        self.assertEqual(firsts, {"<module>", "_bootstrap", "by_thread",
                                  "by_c"})

    def test_many_threads_lose_nothing(self):
        run = self.traced(MANY_THREADS)
        per_thread = sorted(len(rows) for rows in run.threads().values())
        # 400 times str is a type, not a C function: no event. release is one,
        # whose return the thread's own end follows.
        self.assertEqual(len(per_thread), 41)
        self.assertEqual(set(per_thread[:-1]), {4})

    @unittest.skipUnless(support.PROFILERS_SHARE, "a profiler has the slot")
    def test_nested_profilers_share(self):
        # cProfile is a tool of sys.monitoring's own, and there can be but one.
        run = self.traced(NESTED.replace("    after()\n",
                                         "    profile.disable()\n    after()\n"))
        self.assertEqual(run.records("profiler_gap"), [])
        self.assertEqual(len(run.threads()), 2)
        for rows in run.threads().values():
            calls = [row for row in rows if row["what"] == "CALL" and
                     row["function"] == "called"]
            self.assertEqual(len(calls), 5 * 10 + 100)
            # The profilers' own calls are nobody's events.
            self.assertNotIn("note", {row["function"] for row in rows})

    @unittest.skipIf(support.PROFILERS_SHARE, "profilers share the events")
    def test_nested_profilers(self):
        run = self.traced(NESTED)
        threads = run.threads()
        self.assertEqual(len(threads), 2)
        names = {t.native_id: t.id for t in run.records("thread")}
        gaps = run.records("profiler_gap")
        for native_id, rows in threads.items():
            with self.subTest(thread=rows[0]["thread"]):
                own = [row for row in rows if row["function"] in
                       ("called", "abs", "calls", "after", "setprofile")]
                begin = next(n for n, row in enumerate(own)
                             if row["function"] == "setprofile")
                self.assertEqual(own[begin]["what"], "C_CALL")
                # Nothing until the last setprofile has returned, then all.
                self.assertEqual(support.event_of(own[begin + 1])[::3],
                                 ("C_RETURN", "setprofile"))
                after = own[begin + 2:]
                self.assertEqual([row["what"] for row in after],
                                 ["CALL"] + ["CALL", "C_CALL", "C_RETURN",
                                             "RETURN"] * 100 + ["RETURN"])
                mine = [g for g in gaps if g.thread == names[native_id]]
                self.assertEqual(len(mine), 1)
                self.assertEqual(mine[0].from_number, own[begin]["event"] + 1)
                self.assertLessEqual(mine[0].from_us, mine[0].to_us)
                self.assertGreaterEqual(mine[0].to_number, mine[0].from_number)
                self.assertLessEqual(mine[0].to_number,
                                     own[begin + 1]["event"])

    def test_a_profiler_that_never_ends(self):
        run = self.traced("import sys\ndef f(): pass\nf()\n"
                          "sys.setprofile(lambda *a: None)\nf()\nf()\n")
        begin = [("CALL", "<module>"), ("CALL", "f"), ("RETURN", "f"),
                 ("C_CALL", "setprofile")]
        found = [support.event_of(row)[::3] for row in run.rows()]
        if support.PROFILERS_SHARE:
            self.assertEqual(found, begin + [
                ("C_RETURN", "setprofile"), *[("CALL", "f"),
                                              ("RETURN", "f")] * 2,
                ("RETURN", "<module>")])
            return
        self.assertEqual(found, begin)
        [gap] = run.records("profiler_gap")
        self.assertEqual(gap.from_number, 4)

    def test_nobody_sees_us(self):
        run = self.traced(INVISIBLE)
        calls = [row for row in run.rows()
                 if row["what"] == "CALL" and row["function"] == "f"]
        self.assertEqual(len(calls), 15)

    def test_no_audit_hook_stays(self):
        run = self.traced(AUDIT)
        self.assertEqual(run.stdout, "1 [0]\n")

    def test_the_module(self):
        run = self.traced(MODULE)
        self.assertEqual(run.stdout, "label must be a str, not int\n")
        noise = []
        # Which calls of noise were seen, by their line's comment.
        lines = MODULE.splitlines()
        for row in run.rows():
            if row["what"] == "C_CALL" and row["function"] == "abs":
                noise.append(row["event"])
        self.assertEqual(len(noise), len("1 4 5 7 8 10".split()))
        self.assertTrue(lines)
        marks = run.records("mark")
        self.assertEqual([m.label for m in marks], [
            b"one", "zwei \u00fc \udc80 =cmd".encode("utf-8",
                                                     "surrogatepass")])
        for mark in marks:
            self.assertGreater(mark.rss_bytes, 1 << 20)
            self.assertEqual(mark.rss_bytes % support.PAGE, 0)
        [first, second] = [row["event"] for row in run.rows()
                           if (row["what"], row["function"]) ==
                           ("C_CALL", "mark")][:2]
        self.assertEqual([m.next_number for m in marks],
                         [first + 1, second + 1])


if __name__ == "__main__":
    unittest.main()
