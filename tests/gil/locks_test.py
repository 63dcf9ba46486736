#!/usr/bin/env python3
"""What threads of a free-threaded interpreter wait for: its locks, and pauses of all
threads, against the program's own clocks. build_free_threaded_python makes one."""
import json
import os
import signal
import subprocess
import unittest

import fault_support
import support

# How often the calling thread went to sleep.
SLEEPS = r'''
import time
def sleeps():
    with open("/proc/thread-self/status") as file:
        return int(file.read().partition("\nvoluntary_ctxt_switches:")[2].split()[0])
'''
# A thread holds the lock of a list for long, again and again; another wants it, until it has
# waited often, and says how long that took. The main thread waits for both, which is no lock
# of the interpreter's.
CONTENDED = SLEEPS + r'''
import json, threading
shared, go_on, took = list(range(10_000_000)), True, []
def reverses():
    while go_on: shared.reverse()  # reverses
def stores():
    while sleeps() < 30:
        for n in range(1000):
            begin = time.perf_counter_ns()
            shared[0] = None  # stores
            took.append(time.perf_counter_ns() - begin)
own = threading.Lock()
own.acquire()
def waits():
    with own: pass
threads = [threading.Thread(target=what, name=what.__name__) for what in (reverses, stores, waits)]
for thread in threads: thread.start()
threads[1].join()
go_on = False
threads[0].join()
own.release()
threads[2].join()
print(json.dumps([sum(took), {each.name: each.native_id for each in threads}]))
'''

# The main thread stops all others to collect garbage. One of them says for how long it did not
# run, in steps of a loop.
STOPPED = r'''
import gc, json, threading, time
gc.disable()
kept = [[[]] for n in range(200_000)]
go_on, gaps, ready = True, [], threading.Event()
def runs():
    last = time.perf_counter_ns()
    ready.set()
    while go_on:
        now = time.perf_counter_ns()
        if now - last > 50_000: gaps.append(now - last)
        last = now
thread = threading.Thread(target=runs, name="runs")
thread.start()
ready.wait()
busy = 0
for n in range(8):
    begin = time.thread_time_ns()
    gc.collect()  # collects
    busy += time.thread_time_ns() - begin
    time.sleep(0.01)
go_on = False
thread.join()
print(json.dumps([sum(gaps), busy, thread.native_id]))
'''

# Waits for locks until it is killed.
KILLED = SLEEPS + r'''
import os, signal, threading
shared = list(range(10_000_000))
def reverses():
    while True: shared.reverse()
def stores():
    while sleeps() < 10:
        for n in range(1000): shared[0] = None
    print(threading.get_native_id(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
threads = [threading.Thread(target=what) for what in (reverses, stores)]
for thread in threads: thread.start()
for thread in threads: thread.join()
'''


@unittest.skipUnless(support.FREE_THREADED, "an interpreter with a GIL")
class LocksTest(support.ProgramTest):
    def rows(self, run, what):
        text = subprocess.run([support.PYMEMREPORT, "gil", run.path, "--json", "--rows", what],
                              check=True, stdout=subprocess.PIPE).stdout
        return json.loads(text)

    def threads(self, run):
        """By their numbers: 3.13 does not tell the kernel their names."""
        return {self.number(row["thread"]): row for row in self.rows(run, "threads")}

    def number(self, thread):
        return int(thread.rpartition("#")[2])

    def assert_sleeps_are_told(self, run, number):
        """By the kernel's context switches: what a thread that only waits for the
        interpreter slept for."""
        text = subprocess.run([support.PYMEMREPORT, "states", run.path, "--json"], check=True,
                              stdout=subprocess.PIPE).stdout
        row = next(row for row in json.loads(text) if self.number(row["thread"]) == number)
        if row["lock_s"] is None:
            return  # no context switches here
        others = sum(row[what + "_s"] or 0 for what in ("lock", "io", "sleep", "other"))
        self.assertGreater(row["gil_s"], 0)
        self.assertLess(others, 0.05 * row["gil_s"] + 0.005, row)

    def line_of(self, text, what):
        return 1 + next(number for number, line in enumerate(text.split("\n"))
                        if line.endswith("# " + what))

    def test_a_wait_for_a_lock_is_as_long_as_the_program_found(self):
        run = self.run_script(CONTENDED, "--trace", "gil,states")
        took_ns, numbers = json.loads(run.stdout)
        threads = self.threads(run)
        row = threads[numbers["stores"]]
        self.assertLessEqual(row["waiting_s"] * 1e9, took_ns)
        self.assertGreaterEqual(row["waits"], 10)
        # Also those that never wait, and from their beginning on.
        self.assertGreaterEqual(row["total_s"] * 1e9, took_ns)
        for number in numbers.values():
            self.assertIn(number, threads)
        self.assert_sleeps_are_told(run, numbers["stores"])
        blockers = self.rows(run, "blockers")
        self.assertEqual(self.number(blockers[0]["waiter"]), numbers["stores"])
        self.assertEqual(self.number(blockers[0]["holder"]), numbers["reverses"])
        # Locks of the program's own, and waiting for a thread's end.
        for number, other in threads.items():
            if number not in (numbers["stores"], numbers["reverses"]):
                self.assertLess(other["waiting_s"], 0.1)

    def test_the_lines_that_wait_and_that_let_go_are_named(self):
        run = self.run_script(CONTENDED, "--trace", "gil")
        number = json.loads(run.stdout)[1]["stores"]
        waits = [row for row in self.rows(run, "waits")
                 if self.number(row["waiter"]) == number and row["holder_line"]]
        self.assertIn(f":{self.line_of(CONTENDED, 'stores')} ", waits[0]["waiter_line"])
        self.assertIn(f":{self.line_of(CONTENDED, 'reverses')} ", waits[0]["holder_line"])
        self.assertIn("the interpreter's locks", run.report("gil"))
        self.assertIn("reverses", run.report("offgil", "--by", "holder"))

    def test_pauses_of_all_threads_are_told(self):
        run = self.run_script(STOPPED, "--trace", "gil,states")
        gaps_ns, busy_ns, number = json.loads(run.stdout)
        stopped_ns = self.threads(run)[number]["stopped_s"] * 1e9
        self.assertLessEqual(stopped_ns, gaps_ns + 50_000 * 64)
        self.assert_sleeps_are_told(run, number)
        self.assertGreater(stopped_ns, 0.3 * busy_ns)
        stops = self.rows(run, "stops")
        self.assertEqual(stops[0]["thread"].partition("#")[0], "MainThread")
        self.assertGreaterEqual(sum(row["stops"] for row in stops), 8)
        lines = [row["line"] or "" for row in stops]
        self.assertTrue(any(f":{self.line_of(STOPPED, 'collects')} " in line for line in lines),
                        lines)
        self.assertIn("All threads were stopped", run.report("gil"))
        self.assertIn("S(Python)", run.report("states"))

    def test_waits_before_a_kill_are_there(self):
        run = self.run_script(KILLED, "--trace", "gil", status=-signal.SIGKILL)
        fault_support.wait_for_collector_to_end(run.path)
        self.assertGreater(self.threads(run)[int(run.stdout)]["waiting_s"], 0)

    def test_a_program_behaves_as_without(self):
        script = self.write("script.py", CONTENDED.rpartition("print(")[0] + "print(1 / 0)\n")
        plain = subprocess.run([support.PYTHON, script], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        run = self.pymemrun("--quiet", "--force", "--trace", "gil,states,counters", script,
                            status=1)
        self.assertEqual((run.stdout, run.stderr), (plain.stdout, plain.stderr))
        self.assertIn("ZeroDivisionError", run.stderr)

    def test_a_gil_that_is_switched_on_is_recorded(self):
        computes = ("import threading\n"
                    "def work():\n"
                    "    for n in range(3_000_000): pass\n"
                    "threads = [threading.Thread(target=work) for n in range(2)]\n"
                    "for thread in threads: thread.start()\n"
                    "for thread in threads: thread.join()\n")
        script = self.write("computes.py", computes)
        run = self.pymemrun("--quiet", "--force", "--trace", "gil", script,
                            env={"PYTHON_GIL": "1"})
        rows = self.rows(run, "threads")
        self.assertGreater(sum(row["held_s"] for row in rows), 0)
        self.assertGreater(rows[0]["waiting_share"], 0.1)
        self.assertIn("for the GIL", run.report("gil"))

    def test_a_forked_child_has_waits_of_its_own(self):
        forks = ("import os\npid = os.fork()\n"
                 "if pid: os._exit(os.waitpid(pid, 0)[1])\n") + CONTENDED
        run = self.run_script(forks, "--trace", "gil", "--follow", "fork")
        child, = (os.path.join(os.path.dirname(run.path), name)
                  for name in os.listdir(os.path.dirname(run.path))
                  if name.startswith(os.path.basename(run.path).rpartition(".")[0] + ".") and
                  name != os.path.basename(run.path))
        fault_support.wait_for_collector_to_end(child)
        text = subprocess.run([support.PYMEMREPORT, "gil", child, "--json"], check=True,
                              stdout=subprocess.PIPE).stdout
        waited = {self.number(row["thread"]): row["waiting_s"] for row in json.loads(text)}
        self.assertGreater(waited[json.loads(run.stdout)[1]["stores"]], 0)


if __name__ == "__main__":
    unittest.main()
