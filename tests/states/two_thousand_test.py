"""Two thousand threads, five hundred at once, with the GIL's events, states and
counters: what is recorded equals what the program counted, also when it forks in
between, and when it is killed. Collector and readers stay small."""
import json
import os
import re
import signal
import subprocess
import unittest

import fault_support
import support
from waiting import PATIENCE_S, wait_until

OPTIONS = ("--quiet", "--trace", "gil,states,counters", "--heap", "off")
AT_ONCE, WAVES, IN_CHILD = 500, 4, 20
THREADS = AT_ONCE * WAVES
NAPS = 3
COLLECTOR_BYTES, READER_BYTES = 48 << 20, 64 << 20

# Each thread sleeps a few times once all of its wave are there, and tells what the
# kernel counted of it meanwhile. Those of the last wave then wait for the main
# thread, which first prints what it was told, and waits for a line itself.
PROGRAM = f"""
import gc, json, os, resource, sys, threading, time
import pymemrun
threading.stack_size(256 << 10)
runs, told, lock = [], [], threading.Lock()
def on_gc(phase, info):
    if phase == 'stop': runs.append(info['generation'])
def counts():
    while True:
        before = resource.getrusage(resource.RUSAGE_THREAD)
        now = time.monotonic_ns()
        after = resource.getrusage(resource.RUSAGE_THREAD)
        if before[-2:] == after[-2:]: return [now, after.ru_nvcsw]
def work(all_here, last):
    all_here.wait()
    before = counts()
    for _ in range({NAPS}): time.sleep(0.001)
    after = counts()
    with lock:
        told.append([threading.get_native_id(), before, after])
        pymemrun.counter('done', len(told))
    last.wait()
def wave(count, last):
    all_here = threading.Barrier(count)
    threads = [threading.Thread(target=work, args=(all_here, last))
               for n in range(count)]
    for thread in threads: thread.start()
    return threads
free = threading.Event()
free.set()
gc.callbacks.append(on_gc)
gc_from = time.monotonic_ns()
for n in range({WAVES - 1}):
    for thread in wave({AT_ONCE}, free): thread.join()
    gc.collect()
    if n == 1:
        pid = os.fork()
        if pid == 0:
            for thread in wave({IN_CHILD}, free): thread.join()
            os._exit(0)
        os.waitpid(pid, 0)
last = threading.Event()
threads = wave({AT_ONCE}, last)
while len(told) < {THREADS}: time.sleep(0.01)
gc.callbacks.remove(on_gc)
json.dump({{'told': told, 'runs': len(runs), 'child': pid,
            'gc_ns': [gc_from, time.monotonic_ns()]}}, sys.stdout)
print(flush=True)
sys.stdin.readline()
last.set()
for thread in threads: thread.join()
"""


def highest_rss(pid):
    with open(f"/proc/{pid}/status") as file:
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", file.read())[1])


class TwoThousandThreadsTest(support.ProgramTest):

    def run_to(self, name, end):
        """(run file, what the program told); end(process) lets it end."""
        path = os.path.join(self.folder, name + ".pb")
        script = self.write(name + ".py", PROGRAM)
        process = subprocess.Popen(
            [support.PYMEMRUN, *OPTIONS, "-o", path, script], cwd=self.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with process:
            try:
                told = json.loads(process.stdout.readline())
                (collector,) = fault_support.collectors(path)
                self.assertLess(highest_rss(collector), COLLECTOR_BYTES)
                end(process)
                process.wait(PATIENCE_S)
            finally:
                process.kill()
        fault_support.wait_for_collector_to_end(path)
        return support.Run(path, subprocess.CompletedProcess(
            [], process.returncode, "", "")), told

    def need_switches(self):
        run = self.run_script("pass", *OPTIONS, name="try.py")
        recording = run.records("state_recording")[0]
        if not recording.switches:
            self.skipTest("perf is refused here: " + recording.reason.decode())

    def steps(self, run):
        """{ThreadDef.id: [(time, action)]}; nothing was lost."""
        pb2, start = support.trace_pb2(), run.header.start_monotonic_ns
        steps = {}
        for batch in run.records("states"):
            self.assertEqual(batch.lost, 0)
            time_ns = batch.first_ns + start
            for step, thread, action in zip(batch.time_step_ns, batch.thread, batch.action):
                time_ns += step
                if action != pb2.STATE_SEEN:
                    steps.setdefault(thread, []).append((time_ns, action))
        return steps

    def check_states(self, run, told, killed):
        pb2 = support.trace_pb2()
        natives = {thread.id: thread.native_id for thread in run.records("thread")}
        steps = self.steps(run)
        self.assertEqual(len(steps), THREADS + 1)
        by_native = {}
        for thread, its in steps.items():
            actions = [action for _, action in its]
            is_main = natives[thread] == run.header.pid
            self.assertEqual(actions.count(pb2.STATE_BORN), 0 if is_main else 1)
            self.assertEqual(actions.count(pb2.STATE_ENDED),
                             1 if killed or not is_main else 0)
            by_native.setdefault(natives[thread], []).extend(its)
        self.assertEqual(len(told["told"]), THREADS)
        for native, (from_ns, before), (to_ns, after) in told["told"]:
            slept = sum(from_ns <= time_ns <= to_ns and action == pb2.STATE_SLEEPS
                        for time_ns, action in by_native[native])
            self.assertEqual(slept, after - before, native)
            self.assertGreater(slept, 0)

    def check_gil(self, run):
        """Each thread has had the GIL, one at a time."""
        self.assertEqual(run.records("gil_loss"), [])
        rows = json.loads(run.report("gil", "--json", "--limit", "0"))
        self.assertEqual(len(rows), THREADS + 1)
        for row in rows:
            self.assertGreater(row["takes"], 0, row)
        end_s = max(batch.first_ns + sum(batch.time_step_ns)
                    for batch in run.records("gil")) / 1e9
        held_s = sum(row["held_s"] for row in rows)
        self.assertGreater(held_s, 0)
        self.assertLessEqual(held_s, end_s + 0.001)

    def check_counters(self, run, told):
        values = [counter.whole for counter in run.records("counter")
                  if counter.name == b"done"]
        self.assertEqual(values, list(range(1, THREADS + 1)))
        from_us, to_us = ((ns - run.header.start_monotonic_ns) / 1000 for ns in told["gc_ns"])
        runs = [gc for gc in run.records("gc_run")
                if from_us <= gc.begin_us and gc.time_us <= to_us]
        self.assertEqual(len(runs), told["runs"])

    def check_child(self, run, told):
        path = f"{run.path[:-3]}.{told['child']}.pb"
        fault_support.wait_for_collector_to_end(path)
        child = support.Run(path, subprocess.CompletedProcess([], 0, "", ""))
        actions = [action for its in self.steps(child).values() for _, action in its]
        self.assertEqual(actions.count(support.trace_pb2().STATE_BORN), IN_CHILD)
        self.assertEqual(child.records("gil_loss"), [])
        done = [counter.whole for counter in child.records("counter")
                if counter.name == b"done"]
        # It had the list of those before it.
        self.assertEqual(done, list(range(2 * AT_ONCE + 1, 2 * AT_ONCE + IN_CHILD + 1)))

    def check_readers(self, run):
        for command in (("states", "--csv", "--limit", "0"), ("gil", "--csv", "--limit", "0"),
                        ("counters", "--csv"), ("timeline", "--threads"),
                        ("export", "--format", "perfetto", "--min-duration", "0"),
                        ("export", "--format", "chrome", "--min-duration", "0")):
            process = subprocess.Popen([support.PYMEMREPORT, *command, run.path],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            said = process.stderr.read()
            process.stderr.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0, (command, said))
            self.assertLess(usage.ru_maxrss << 10, READER_BYTES, command)

    def check(self, run, told, killed):
        self.check_states(run, told, killed)
        self.check_gil(run)
        self.check_counters(run, told)
        self.check_child(run, told)
        self.check_readers(run)

    def test_nothing_is_lost_at_a_usual_end(self):
        self.need_switches()

        def end(process):
            process.stdin.write("\n")
            process.stdin.flush()

        run, told = self.run_to("ends", end)
        self.assertEqual(run.returncode, 0)
        self.check(run, told, killed=False)

    def test_nothing_is_lost_when_the_program_is_killed(self):
        self.need_switches()
        run, told = self.run_to("killed", lambda process: process.send_signal(signal.SIGKILL))
        self.assertEqual(run.returncode, -signal.SIGKILL)
        self.assertTrue(wait_until(lambda: any(
            record.HasField("footer") for record in support.file_records(run.path))))
        self.check(run, told, killed=True)


if __name__ == "__main__":
    unittest.main()
