#!/usr/bin/env python3
"""Who held the GIL and who waited for it, against what the program's own clock
says."""
import glob
import json
import os
import signal
import subprocess
import unittest

import fault_support
import support
from waiting import PATIENCE_S

# In points of a hundred, of a thread's time.
POINTS = 2
# What pymemreport does not call a wait: less of the thread's time, or of the run.
SMALL_SHARE, SMALL_OF_RUN = 0.1, 0.01
# What a thread may wait before it reads the clock for the first time.
BEFORE_NS = 200_000_000

# Three threads that compute. By a word that all share each sees whether another
# one ran since its own last turn. A thread has waited at least since the other's
# turn began, and at most since its own last reading of the clock: between the two
# it may have been put to rest with the GIL, as on a busy machine.
COMPUTING = r'''
import json, threading, time
THREADS = 3
last = [None]
turns, told = [], {}
barrier = threading.Barrier(THREADS)
def work(name, clock=time.perf_counter_ns):
    barrier.wait()
    begin = before = clock()
    end = begin + 1_500_000_000
    while before < end:
        other = last[0]
        # After a call another thread may come in.
        now = clock()
        if other is not name:
            last[0] = name
            turns.append((name, max(before, begin), now))
        before = now
    told[name] = [threading.get_native_id(), before - begin]
threads = [threading.Thread(target=work, args=(str(n),)) for n in range(THREADS)]
for thread in threads: thread.start()
for thread in threads: thread.join()
result = {}
for name, (native, total) in told.items():
    least = most = longest = 0
    at = None
    for i, (mine, before, now) in enumerate(turns):
        if mine != name: continue
        if at is not None:
            most += now - before
            sure = now - max(before, turns[at + 1][2])
            least += sure
            longest = max(longest, sure)
        at = i
    result[native] = [total, least, most, longest]
print(json.dumps(result))
'''

# One thread computes; the others ask C code for what needs no GIL.
LETTING_GO = r'''
import hashlib, json, threading, time
data = bytes(40 << 20)
told = {}
def work(clock=time.perf_counter_ns):
    begin, used = clock(), time.thread_time_ns()
    inside = 0
    for n in range(3):
        before = clock()
        hashlib.sha256(data)
        inside += clock() - before
    total = clock() - begin
    off = total - (time.thread_time_ns() - used)
    told[threading.get_native_id()] = [total, inside, off]
threads = [threading.Thread(target=work) for n in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps(told))
'''

C_CODE = r'''
import threading, time
numbers = list(range(3_000_000))
numbers[::2] = reversed(numbers[::2])
ready, done = threading.Event(), False
def wants():
    ready.set()
    while not done:
        time.sleep(0.001)
thread = threading.Thread(target=wants, name="wants")
thread.start()
ready.wait()
for n in range(5):
    sorted(numbers)  # HERE
done = True
thread.join()
'''

ALONE = r'''
import json, os, threading, time
begin = time.perf_counter_ns()
slept = 0
for n in range(20):
    before = time.perf_counter_ns()
    time.sleep(0.01)
    slept += time.perf_counter_ns() - before
with open("/dev/zero", "rb", buffering=0) as file:
    for n in range(20000): file.read(1)
print(json.dumps([time.perf_counter_ns() - begin, slept]))
'''

MANY = r'''
import threading
stop = threading.Event()
def work():
    sum(range(1000))
    stop.wait()
threads = [threading.Thread(target=work) for n in range(2000)]
for thread in threads: thread.start()
stop.set()
for thread in threads: thread.join()
'''

KILLED = r'''
import sys, threading, time
numbers = list(range(200))
def wants():
    while True: pass
threading.Thread(target=wants, daemon=True).start()
time.sleep(0.1)
print("now", flush=True)
while True: sum(numbers)
'''

FORKS = r'''
import os, threading, time
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end: pass
thread = threading.Thread(target=spin, args=(0.3,))
thread.start()
pid = os.fork()
if pid == 0:
    other = threading.Thread(target=spin, args=(0.2,), name="child's")
    other.start()
    spin(0.2)
    other.join()
    os._exit(0)
thread.join()
os.waitpid(pid, 0)
'''


def rows(path, *options):
    text = subprocess.run([support.PYMEMREPORT, "gil", path, "--json", *options],
                          check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)


@unittest.skipIf(support.FREE_THREADED, "there is no GIL")
class GilTest(support.ProgramTest):
    def traced(self, text, *options):
        return self.run_script(text, "--trace", "gil", *options)

    def by_thread(self, run):
        return {row["thread"].rpartition("#")[2]: row for row in rows(run.path)}

    def test_threads_that_compute_wait_for_each_other(self):
        run = self.traced(COMPUTING)
        table = self.by_thread(run)
        for thread, (total, least, most, longest) in json.loads(run.stdout).items():
            row = table[thread]
            waiting, held = row["waiting_s"] * 1e9, row["held_s"] * 1e9
            # A thread may be kept from a processor, whatever it holds.
            slack = 3 * POINTS * total / 100
            self.assertGreater(least, total / 8)
            self.assertGreater(waiting, least - slack, row)
            self.assertLess(waiting, most + slack + BEFORE_NS, row)
            self.assertGreater(held, total - most - slack, row)
            self.assertLess(held, total - least + slack, row)
            # After its wait it may be kept from a processor.
            self.assertGreater(row["longest_wait_s"] * 1e9, longest / 2, row)
        # On a busy machine the main thread does, too: the sentence counts whose wait is
        # a tenth of its time, and a hundredth of the run.
        end_s = run.footer.end_us / 1e6
        waiters = sum(row["waiting_s"] >= max(SMALL_SHARE * row["total_s"],
                                              SMALL_OF_RUN * end_s)
                      for row in table.values())
        self.assertGreaterEqual(waiters, len(json.loads(run.stdout)))
        self.assertIn(f"{waiters} threads wait", run.report("gil"))

    def test_time_in_code_that_lets_go_is_without(self):
        run = self.traced(LETTING_GO)
        table = self.by_thread(run)
        for thread, (total, inside, off) in json.loads(run.stdout).items():
            row = table[thread]
            without, waiting = row["without_s"] * 1e9, row["waiting_s"] * 1e9
            slack = POINTS * total / 100
            # It may wait before it reads the clock, and to come back.
            beside = max(0, row["total_s"] * 1e9 - total)  # its begin and end
            self.assertLess(without, inside + slack + beside, row)
            # And it may be kept from a processor while it has the GIL.
            self.assertGreater(without + waiting, inside - slack - off, row)
        self.assertIn("The GIL delays no thread", run.report("gil"))

    def test_c_code_that_does_not_let_go_is_named(self):
        run = self.run_script(C_CODE, "--trace", "calls,gil")
        line = 1 + C_CODE[:C_CODE.index("# HERE")].count("\n")
        places = rows(run.path, "--rows", "places")
        self.assertEqual(places[0]["line"], line, places)
        self.assertIn("sorted", places[0]["calls"])
        self.assertIn(f"sorted at script.py:{line} holds it longest", run.report("gil"))
        worst = rows(run.path, "--rows", "waits")[0]
        self.assertIn(f"script.py:{line}:", worst["holder_stack"])
        self.assertIn("wants", worst["waiter_stack"])

    def test_a_thread_alone_never_waits(self):
        run = self.traced(ALONE)
        total, slept = json.loads(run.stdout)
        (row,) = rows(run.path)
        self.assertEqual(row["waiting_s"], 0)
        self.assertGreater(row["takes"], 20000)
        self.assertGreaterEqual(row["without_s"] * 1e9, slept * 0.98)
        # No entry for each taking.
        entries = sum(len(batch.action) for batch in run.records("gil"))
        self.assertLess(entries, 10)

    def test_two_thousand_threads(self):
        run = self.traced(MANY)
        table = rows(run.path, "--limit", "0")
        self.assertEqual(len(table), 2001)
        for row in table:
            self.assertGreaterEqual(row["takes"], 1)
        self.assertEqual(run.records("gil_loss"), [])

    def test_nothing_is_lost_at_a_kill(self):
        path = os.path.join(self.folder, "killed.pb")
        with subprocess.Popen(
                [support.PYMEMRUN, "--quiet", "-o", path, "--trace", "gil",
                 self.write("killed.py", KILLED)], stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"now\n")
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE_S)
        fault_support.wait_for_collector_to_end(path)
        table = rows(path)
        self.assertEqual(len(table), 2)
        end = max(row["total_s"] for row in table)
        held = sum(row["held_s"] for row in table)
        # From the beginning of the second thread on somebody has it.
        self.assertLessEqual(held, end * 1.001)
        other = next(row for row in table if row["waiting_s"] > 0)
        self.assertGreater(other["held_s"], 0)

    def test_a_forked_child_starts_clean(self):
        run = self.traced(FORKS)
        (child,) = glob.glob(run.path.replace(".pb", ".*.pb"))
        table = rows(child)
        self.assertEqual(len(table), 2, table)
        for row in table:
            self.assertGreater(row["waiting_share"], 0.2)
            self.assertGreater(row["held_share"], 0.2)
            self.assertLess(row["without_share"], 0.2)

    def test_a_c_function_that_has_long_returned_is_not_blamed(self):
        run = self.run_script("""
import math, threading, time
stop = False
def loops():
    while not stop:
        math.sqrt(2.0)
        for n in range(2000000): pass
thread = threading.Thread(target=loops)
thread.start()
for n in range(60): time.sleep(0.01)
stop = True
thread.join()
""", "--trace", "calls,gil")
        rows = json.loads(run.report("gil", "--json", "--rows", "places"))
        self.assertEqual(rows[0]["function"], "loops")
        # It is called so rarely that the thread hardly ever lies still right in it.
        self.assertNotIn("math.sqrt", [row["calls"] for row in rows])


if __name__ == "__main__":
    unittest.main()
