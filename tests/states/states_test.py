"""What threads do equals what the program and the kernel know of it: context
switches, CPU time, sleeps whose length and reason the program chose."""
import bisect
import json
import os
import re
import signal
import subprocess
import unittest

from awake import awake_processors
import ordinary_user
import perf_support
import support
from waiting import PATIENCE_S, wait_until

STATES = ("--trace", "states", "--heap", "off")
MS = 1_000_000

# Each thread prints its number, and the kernel's counts before and after what it
# does. Counts are read until none comes between them and the clock.
HEAD = """
import json, os, resource, sys, threading, time
def counts():
    while True:
        before = resource.getrusage(resource.RUSAGE_THREAD)
        now, cpu = time.monotonic_ns(), time.thread_time_ns()
        after = resource.getrusage(resource.RUSAGE_THREAD)
        if before[-2:] == after[-2:]:
            return {'ns': now, 'cpu': cpu, 'voluntary': after.ru_nvcsw,
                    'preempted': after.ru_nivcsw}
told = {}
def tell(name, work, *arguments):
    thread = threading.get_native_id()
    before = counts()
    work(*arguments)
    told[name] = [thread, before, counts()]
"""

# Sleeps, reads, locks and computes, in turn and in threads.
WORK = HEAD + """
ends = os.pipe()
lock = threading.Lock()
def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end: pass
def naps():
    for _ in range(50): time.sleep(0.001)
def late(seconds, step):
    time.sleep(seconds)
    step()
def read(): os.read(ends[0], 1)
def locked(seconds):
    lock.acquire()
    thread = threading.Thread(target=late, args=(seconds, lock.release))
    thread.start()
    lock.acquire()
    lock.release()
    thread.join()
def piped(seconds):
    thread = threading.Thread(
        target=late, args=(seconds, lambda: os.write(ends[1], b'x')))
    thread.start()
    read()
    thread.join()
def child(seconds):
    pid = os.fork()
    if pid == 0:
        spin(50_000_000)
        time.sleep(seconds)
        os._exit(0)
    os.waitpid(pid, 0)
# A long one, and so many short ones that no single switch decides.
def often(wait):
    wait(0.3)
    for _ in range(9): wait(0.01)
tell('timer', often, time.sleep)
tell('naps', naps)
tell('spin', spin, 300_000_000)
tell('io', often, piped)
tell('lock', often, locked)
tell('child', often, child)
threads = [threading.Thread(target=tell, args=(f'worker {n}', spin, 100_000_000))
           for n in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
json.dump(told, sys.stdout)
"""


def has_footer(path):
    try:
        return any(record.HasField("footer")
                   for record in support.file_records(path))
    except subprocess.CalledProcessError:
        return False  # the last frame is being written


def steps_of(run):
    """By Linux thread id: the steps (time, action, reason, other) of each thread,
    times as time.monotonic_ns() has them. A thread's numbers may be used twice."""
    start = run.header.start_monotonic_ns
    natives = {thread.id: thread.native_id for thread in run.records("thread")}
    steps = {}
    for batch in run.records("states"):
        time_ns = batch.first_ns + start
        reasons, others = iter(batch.reason), iter(batch.other)
        for step, thread, action in zip(batch.time_step_ns, batch.thread,
                                        batch.action):
            time_ns += step
            reason = other = None
            if action == pb2().STATE_SEEN:
                reason = next(reasons)
                if reason == pb2().SLEEP_OTHER:
                    other = next(others)
            steps.setdefault(natives[thread], []).append(
                (time_ns, action, reason, other))
    return steps


# Runs a command while the kernel traces all switches, into a buffer of its own,
# and prints what it traced behind what the command printed.
NO_TRACEFS = 77
TRACEPOINT = """
mount -t tracefs nodev /sys/kernel/tracing || exit 77
instance=/sys/kernel/tracing/instances/pymemrun_$$
mkdir $instance || exit 77
trap 'rmdir $instance' EXIT
echo mono > $instance/trace_clock
echo 8192 > $instance/buffer_size_kb
echo 1 > $instance/events/sched/sched_switch/enable || exit 77
"$@" || exit 1
echo 0 > $instance/events/sched/sched_switch/enable
echo
cat $instance/trace
"""
SWITCH = re.compile(r" \[(\d+)\] .* (\d+)\.(\d{6}): sched_switch: .*prev_pid=(\d+) "
                    r".*prev_state=(\S+) ==> .*next_pid=(\d+) ")
# A switch that the trace lacks, as it does now and then: the next one of that CPU
# tells of it, but not how the thread before it left.
LEFT = "left"


def kernels_steps(trace):
    """By Linux thread id: what sched:sched_switch says, in its order."""
    steps, running = {}, {}
    for match in SWITCH.finditer(trace):
        cpu, seconds, micros, before, state, after = match.groups()
        time_ns = int(seconds) * 1_000_000_000 + int(micros) * 1000
        was = running.get(cpu, before)
        if was != before:
            steps.setdefault(int(was), []).append((time_ns, LEFT))
            steps.setdefault(int(before), []).append((time_ns, "in"))
        running[cpu] = after
        out = "preempted" if state.startswith("R") else "sleeps"
        steps.setdefault(int(before), []).append((time_ns, out))
        steps.setdefault(int(after), []).append((time_ns, "in"))
    return steps


def pb2():
    return support.trace_pb2()


def between(steps, begin, end):
    times = [step[0] for step in steps]
    return steps[bisect.bisect_left(times, begin):bisect.bisect_right(times, end)]


def run_ns(steps, begin, end):
    """How long a thread ran from `begin` to `end`, at which it ran."""
    since, total = begin, 0
    for time_ns, action, *_ in between(steps, begin, end):
        if action == pb2().STATE_RUNS:
            since = time_ns
        elif action in (pb2().STATE_SLEEPS, pb2().STATE_PREEMPTED):
            total += time_ns - since
    return total + end - since


def longest_sleep(steps, begin, end):
    """Its length, and why."""
    longest, since, reason = (0, None), None, None
    for time_ns, action, why, other in between(steps, begin, end):
        if action == pb2().STATE_SLEEPS:
            since, reason = time_ns, None
        elif action == pb2().STATE_SEEN:
            reason = (why, other)
        elif action == pb2().STATE_RUNS and since is not None:
            longest = max(longest, (time_ns - since, reason),
                          key=lambda sleep: sleep[0])
            since = None
    return longest


class StatesTest(support.ProgramTest):
    def need_switches(self):
        run = self.run_script("pass", *STATES, name="try.py")
        if not run.records("state_recording")[0].switches:
            self.skipTest("perf is refused here: " +
                          run.records("state_recording")[0].reason.decode())

    def rows_of(self, run):
        text = run.report("states", "--json", "--limit", "0")
        return {row["thread"]: row for row in json.loads(text)}

    def test_switches_and_cpu_time_equal_the_kernels(self):
        self.need_switches()
        with awake_processors():
            run = self.run_script(WORK, *STATES)
        steps = steps_of(run)
        told = json.loads(run.stdout)
        self.assertEqual(sum(b.lost for b in run.records("states")), 0)
        for name, (thread, before, after) in told.items():
            mine = between(steps[thread], before["ns"], after["ns"])
            for kind, action in (("voluntary", pb2().STATE_SLEEPS),
                                 ("preempted", pb2().STATE_PREEMPTED)):
                self.assertEqual(sum(step[1] == action for step in mine),
                                 after[kind] - before[kind], (name, kind))
            ran = run_ns(steps[thread], before["ns"], after["ns"])
            cpu = after["cpu"] - before["cpu"]
            # What one switch takes is the kernel's, not the thread's.
            self.assertLess(abs(ran - cpu), 0.02 * cpu + len(mine) * 0.02 * MS,
                            name)
        for name, reason, other in (
                ("timer", pb2().SLEEP_TIMER, None), ("io", pb2().SLEEP_IO, None),
                ("lock", pb2().SLEEP_LOCK, None),
                ("child", pb2().SLEEP_OTHER, b"wait4")):
            thread, before, after = told[name]
            length, why = longest_sleep(steps[thread], before["ns"], after["ns"])
            self.assertGreater(length, 250 * MS, name)
            self.assertEqual(why, (reason, other), name)

    def test_a_childs_switches_are_not_its_parents(self):
        self.need_switches()
        run = self.run_script(HEAD + """
pid = os.fork()
if pid == 0:
    for _ in range(200): time.sleep(0.001)
    os._exit(0)
tell('main', os.waitpid, pid, 0)
json.dump(told, sys.stdout)
""", *STATES)
        self.assertEqual(set(steps_of(run)), {run.header.pid})
        child = [name for name in os.listdir(self.folder)
                 if re.fullmatch(os.path.basename(run.path)[:-3] + r"\.\d+\.pb",
                                 name)]
        self.assertEqual(len(child), 1, child)
        path = os.path.join(self.folder, child[0])
        # The child's collector ends after the child, and nobody waits for it.
        self.assertTrue(wait_until(lambda: has_footer(path)))
        steps = steps_of(support.Run(path,
                                     subprocess.CompletedProcess([], 0)))
        (mine,) = steps.values()
        self.assertGreaterEqual(
            sum(step[1] == pb2().STATE_SLEEPS for step in mine), 200)

    def test_two_thousand_threads_begin_and_end(self):
        self.need_switches()
        run = self.run_script("""
import os, threading, time
threading.stack_size(64 << 10)
count = 0
for _ in range(20):
    barrier = threading.Barrier(100)
    threads = [threading.Thread(target=barrier.wait) for n in range(100)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
# A thread that was joined is about to end.
while len(os.listdir("/proc/self/task")) > 1: time.sleep(0.001)
""", *STATES)
        born = ended = 0
        for batch in run.records("states"):
            born += list(batch.action).count(pb2().STATE_BORN)
            ended += list(batch.action).count(pb2().STATE_ENDED)
            self.assertEqual(batch.lost, 0)
        self.assertEqual(born, 2000)
        self.assertEqual(ended, 2000)
        rows = self.rows_of(run)
        self.assertEqual(len(rows), 2001)

    def test_a_killed_program_leaves_what_it_did(self):
        self.need_switches()
        run = self.run_script(HEAD + """
def naps():
    for _ in range(100): time.sleep(0.001)
tell('main', naps)
print(json.dumps(told), flush=True)
os.kill(os.getpid(), 9)
""", *STATES, status=-signal.SIGKILL)
        # The collector completes the file by itself.
        self.assertTrue(wait_until(lambda: has_footer(run.path)))
        run = support.Run(run.path, subprocess.CompletedProcess(
            [], -signal.SIGKILL, run.stdout))
        steps = steps_of(run)
        thread, before, after = json.loads(run.stdout)["main"]
        mine = between(steps[thread], before["ns"], after["ns"])
        self.assertEqual(sum(step[1] == pb2().STATE_SLEEPS for step in mine),
                         after["voluntary"] - before["voluntary"])
        self.assertEqual(steps[thread][-1][1], pb2().STATE_ENDED)

    def test_with_the_gil_waits_for_it_are_told_apart(self):
        self.need_switches()
        run = self.run_script("""
import threading, time
def work():
    end = time.thread_time_ns() + 400_000_000
    while time.thread_time_ns() < end: pass
threads = [threading.Thread(target=work) for n in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""", "--trace", "gil,states", "--heap", "off")
        rows = [row for name, row in self.rows_of(run).items()
                if not name.startswith("MainThread")]
        self.assertEqual(len(rows), 3)
        for row in rows:
            ran = row["running_gil_s"] + row["running_s"]
            self.assertAlmostEqual(ran, 0.4, delta=0.04)
            self.assertGreater(row["running_gil_s"], 0.9 * ran)
            # Two others compute meanwhile.
            self.assertGreater(row["gil_s"] + row["runnable_s"], 0.3)
            self.assertLess(row["lock_s"] + row["other_s"],
                            0.15 * row["total_s"])
        self.assertIn("waited for the GIL", run.report("states"))

    def check_schedstat(self, run, reason):
        self.assertFalse(run.records("state_recording")[0].switches)
        self.assertIn(reason, run.records("state_recording")[0].reason.decode())
        thread, before, after = json.loads(run.stdout)["spin"]
        rows = self.rows_of(run)
        (row,) = [row for name, row in rows.items()
                  if name.endswith("#%d" % thread)]
        cpu = (after["cpu"] - before["cpu"]) / 1e9
        self.assertGreater(row["running_s"], 0.9 * cpu)
        self.assertLess(row["running_s"], cpu + 1)
        self.assertIsNone(row["io_s"])
        self.assertIn("From schedstat", run.report("states"))

    def test_schedstat_gives_sums_where_it_is_asked_for(self):
        run = self.run_script(WORK, *STATES, "--state-source", "schedstat")
        self.check_schedstat(run, "--state-source schedstat")
        self.assertEqual(run.stderr, "")

    def test_schedstat_gives_sums_where_perf_is_refused(self):
        run = self.run_script(WORK, *STATES, preexec=perf_support.refuse_perf)
        self.check_schedstat(run, "perf_event_open")
        self.assertIn("schedstat gives sums", run.stderr)

    @unittest.skipUnless(os.environ.get("PYMEMRUN_TEST_TRACEPOINT"),
                         "the kernel's own record may lack a switch")
    @ordinary_user.is_root
    def test_the_kernels_own_tracepoint_tells_the_same(self):
        """As root, sched:sched_switch is the oracle."""
        self.need_switches()
        program = self.write("traced.py", WORK)
        path = os.path.join(self.folder, "traced.pb")
        command = [support.PYMEMRUN, "--quiet", *STATES, "-o", path, program]
        traced = subprocess.run(
            ["unshare", "-m", "/bin/sh", "-c", TRACEPOINT, "sh", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            timeout=PATIENCE_S)
        if traced.returncode == NO_TRACEFS:
            self.skipTest("no tracefs here: " + traced.stderr.strip())
        self.assertEqual(traced.returncode, 0, traced.stderr)
        told, _, trace = traced.stdout.partition("\n# tracer")
        steps = steps_of(support.Run(path, traced))
        kernels = kernels_steps(trace)
        names = {pb2().STATE_RUNS: "in", pb2().STATE_SLEEPS: "sleeps",
                 pb2().STATE_PREEMPTED: "preempted"}
        for name, (thread, before, after) in json.loads(told).items():
            theirs = between(kernels[thread], before["ns"], after["ns"])
            mine = [(time_ns, names[action]) for time_ns, action, *_ in
                    between(steps[thread], before["ns"], after["ns"])
                    if action in names]
            self.assertEqual(len(mine), len(theirs), name)
            for (mine_ns, what), (theirs_ns, theirs_what) in zip(mine, theirs):
                if theirs_what == LEFT:
                    self.assertNotEqual(what, "in", name)
                else:
                    self.assertEqual(what, theirs_what, name)
                # Both are taken in the same switch, which an interrupt of this
                # virtual machine may lengthen.
                self.assertLess(abs(mine_ns - theirs_ns), 50 * MS, name)


if __name__ == "__main__":
    unittest.main()
