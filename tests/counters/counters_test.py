"""Counters equal what the program knows of itself: descriptors, RSS, the values
of pymemrun.counter(), and what gc.callbacks tells of the cycle collector."""
import glob
import json
import os
import struct
import subprocess
import unittest

import support
from waiting import PATIENCE_S

COUNTERS = ("--trace", "counters", "--heap", "off")

# Opens descriptors, and waits at each step until a sample came that began after
# it: the marks tell the time.
DESCRIPTORS = """
import os, time, pymemrun
def sampled(path={path!r}):
    '''Until the collector has written at least one more sample and its file.'''
    for _ in range(3):
        size = os.stat(path).st_size
        while os.stat(path).st_size == size:
            pymemrun.counter('x', 0)
            time.sleep(0.01)
def is_own(name):
    try: return not os.readlink('/proc/self/fd/' + name).endswith('/statm')
    except OSError: return False  # the list's
print(sum(map(is_own, os.listdir('/proc/self/fd'))))
fds = [os.open('/dev/null', os.O_RDONLY) for _ in range(20)]
pymemrun.mark('open'); {wait}; pymemrun.mark('opened')
for fd in fds[5:]: os.close(fd)
pymemrun.mark('close'); {wait}; pymemrun.mark('closed')
"""


def samples_between(run, begin, end):
    """The counters' samples between two marks."""
    times = {mark.label.decode(): mark.time_us for mark in run.records("mark")}
    return [s for s in run.records("process") if s.counted and
            times[begin] < s.time_us < times[end]]


def pythons():
    """Options for each Python that this build can trace."""
    found = [()]
    for path in sorted(glob.glob(os.path.expanduser(
            "~/.pyenv/versions/3.*/bin/python3"))):
        tried = subprocess.run(
            [support.PYMEMRUN, "--quiet", "--python", path, *COUNTERS,
             "-o", "/dev/null", "--force", "-c", "pass"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S)
        if tried.returncode == 0 and not tried.stderr:
            found.append(("--python", path))
    return found


class SamplesTest(support.ProgramTest):
    def test_descriptors_are_exact_where_the_program_stands_still(self):
        path = os.path.join(self.folder, "descriptors.pb")
        program = DESCRIPTORS.format(path=path, wait="sampled()")
        run = self.run_script(program, *COUNTERS, "--counters-every", "10ms",
                              "-o", path)
        run.path = path
        own = int(run.stdout)
        for begin, end, more in (("open", "opened", 20), ("close", "closed", 5)):
            found = {s.descriptors - 1 for s in samples_between(run, begin, end)}
            self.assertEqual(found, {own + more}, begin)

    def test_rss_and_faults_are_the_kernels(self):
        run = self.run_script("""
import pymemrun, resource, time
held = bytearray(64 << 20)
def status(name):
    with open('/proc/self/status') as file:
        for line in file:
            if line.startswith(name): return int(line.split()[1]) * 1024
def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
status('VmRSS')
before = faults()
pymemrun.mark('still')
low = status('VmRSS')
deadline = time.monotonic() + 1
while time.monotonic() < deadline: time.sleep(0.01)
high = status('VmRSS')
pymemrun.mark('end')
print(low, high, before, faults())
""", *COUNTERS, "--counters-every", "20ms")
        low, high, least, most = map(int, run.stdout.split())
        found = samples_between(run, "still", "end")
        self.assertGreater(len(found), 0)
        for sample in found:
            self.assertTrue(low - support.PAGE * 64 <= sample.rss_bytes <=
                            high + support.PAGE * 64, (low, sample, high))
            self.assertTrue(least <= sample.minor_faults <= most)
            self.assertGreater(sample.rss_bytes, 64 << 20)
        self.assertTrue(any(s.pss_bytes > 64 << 20 for s in found))
        plan = run.records("counter_plan")[0]
        self.assertEqual(plan.every_us, 20000)

    def test_the_last_sample_has_the_last_values(self):
        run = self.run_script("import os\n"
                              "fds = [os.dup(0) for _ in range(9)]\n"
                              "sum(range(3000000))\n", *COUNTERS)
        counted = [s for s in run.records("process") if s.counted]
        self.assertGreaterEqual(counted[-1].descriptors - counted[0].descriptors,
                                0)
        self.assertGreaterEqual(counted[-1].user_us, counted[0].user_us)

    def test_without_counters_nothing_is_recorded(self):
        run = self.run_script("import gc, pymemrun\n"
                              "pymemrun.counter('queue', 3)\n"
                              "gc.collect(); print(gc.callbacks)\n")
        self.assertEqual(run.stdout, "[]\n")
        for kind in ("counter", "counter_plan", "gc_run"):
            self.assertEqual(run.records(kind), [])
        self.assertFalse(any(s.counted for s in run.records("process")))
        report = subprocess.run([support.PYMEMREPORT, "counters", run.path],
                                stderr=subprocess.PIPE, text=True)
        self.assertEqual(report.returncode, 2)
        self.assertIn("record them with", report.stderr)

    def test_the_option_needs_counters(self):
        run = self.pymemrun("--counters-every", "1s", "-c", "pass", status=2)
        self.assertIn("has no effect without --trace counters", run.stderr)
        run = self.pymemrun("--trace", "counters", "--counters-every", "1ms",
                            "-c", "pass", status=2)
        self.assertIn("from 10ms to 7 days", run.stderr)


class UserCountersTest(support.ProgramTest):
    def test_values_are_exact(self):
        values = [0, 1, -1, 2**63 - 1, -2**63, 2**64, 0.5, -1e300, 5e-324, True]
        run = self.run_script(
            "import pymemrun, threading\n"
            f"for value in {values!r}: pymemrun.counter('queue', value)\n"
            "thread = threading.Thread(target=pymemrun.counter,\n"
            "                          args=('of thread \\N{GREEK SMALL LETTER PI}', 7))\n"
            "thread.start(); thread.join()\n"
            # Neither is a value that a curve can show.
            "pymemrun.counter('lost', float('inf'))\n"
            "pymemrun.counter('lost', float('nan'))\n", *COUNTERS)
        self.assertEqual(run.stderr, "")
        found = [(c.name.decode(), getattr(c, c.WhichOneof("value")))
                 for c in run.records("counter")]
        self.assertEqual(found, [("queue", v) for v in values] + [("of thread π", 7)])
        self.assertEqual(struct.pack("d", found[5][1]), struct.pack("d", 2.0**64))
        threads = {c.name: c.thread for c in run.records("counter")}
        self.assertNotEqual(threads[b"queue"], threads["of thread π".encode()])
        times = [c.time_us for c in run.records("counter")]
        self.assertEqual(times, sorted(times))
        self.assertIn("queue", run.report("counters"))

    def test_wrong_arguments_are_refused_traced_or_not(self):
        program = ("import pymemrun\n"
                   "for words in ((), ('x',), (1, 2), ('x', 'y'), ('x', None),\n"
                   "              ('x', 10**400), ('x', 1, 2)):\n"
                   "    try: pymemrun.counter(*words)\n"
                   "    except (TypeError, OverflowError) as e:\n"
                   "        print(type(e).__name__)\n")
        expected = ["TypeError"] * 5 + ["OverflowError", "TypeError"]
        for options in (COUNTERS, ()):
            run = self.run_script(program, *options)
            self.assertEqual(run.stdout.split(), expected)
            self.assertEqual(run.records("counter"), [])

    def test_names_are_bounded(self):
        run = self.run_script(
            "import pymemrun\n"
            "pymemrun.counter('x' * 200, 1)\n"
            "try: pymemrun.counter('x' * 201, 1)\n"
            "except ValueError as e: print(e)\n"
            "for i in range(3000): pymemrun.counter(f'n{i}', i)\n"
            "pymemrun.counter('n5', 6)\n", *COUNTERS)
        self.assertEqual(run.stdout, "name must have at most 200 bytes\n")
        names = {c.name for c in run.records("counter")}
        self.assertEqual(len(names), 1024)
        self.assertEqual(run.records("counter")[-1].whole, 6)
        self.assertEqual(run.records("counter_plan")[-1].refused, 3001 - 1024)
        self.assertIn("of further names did not fit", run.report("counters"))


# Says what gc.callbacks told, between two marks.
GC_RUNS = """
import gc, json, time, pymemrun
class Node: pass
told, begun = [], []
def hear(phase, info):
    if phase == 'start': begun.append(time.perf_counter())
    else: told.append((info['generation'], info['collected'],
                       info['uncollectable'], time.perf_counter() - begun.pop()))
def garbage(count):
    for _ in range(count):
        node = Node(); node.self = node
gc.callbacks.append(hear)
pymemrun.mark('begin')
garbage(5000)
for generation in (0, 1, 2):
    garbage(7); gc.collect(generation)
kept = [[i] for i in range(1000000)]
gc.collect(); gc.collect(); gc.collect()
pymemrun.mark('end')
gc.callbacks.remove(hear)
print(json.dumps(told))
"""

# What a program can see of gc.callbacks and of the collector's counts.
SAME = """
import sys
import gc
gc.disable()
print(gc.callbacks, type(gc.callbacks), sys.getrefcount(gc.callbacks))
for generation in (2, 2, 0, 1, 2):
    gc.collect(generation); print(gc.get_count())
kept = {1: []}; print(gc.get_count())
seen = []
def depth():
    n, f = 0, sys._getframe()
    while f: n, f = n + 1, f.f_back
    return n
def one(phase, info):
    seen.append(('one', phase, sorted(info.items()), sys.getrefcount(info), depth()))
def two(phase, info): seen.append(('two', phase, len(info)))
def bad(phase, info): raise ValueError(phase)
def adds(phase, info):
    if two not in gc.callbacks: gc.callbacks.append(two)
def removes(phase, info):
    if removes in gc.callbacks: gc.callbacks.remove(removes)
class A: pass
def collect(generation):
    a = A(); a.a = a; del a
    gc.collect(generation); print(seen); seen.clear()
gc.callbacks.append(one); collect(2)
gc.callbacks[:] = [removes, one, adds]; collect(0); collect(2)
print([f.__name__ for f in gc.callbacks])
sys.unraisablehook = lambda u: seen.append(
    ('unraisable', str(u.exc_value), getattr(u.object, '__name__', None),
     u.err_msg and u.err_msg.partition(' at 0x')[0]))
gc.callbacks.insert(0, bad); collect(1)
gc.callbacks[:] = [seen.append]; collect(2)
gc.callbacks.clear()
before = gc.callbacks
print([type(r).__name__ for r in gc.get_referrers(before)])
del sys.modules['gc']
import gc as again
print(again.callbacks is before, again is gc, again.callbacks)
again.callbacks.append(two); collect(2); again.callbacks.clear()
gc.freeze(); print(gc.get_freeze_count() > 0); gc.collect(); gc.unfreeze()
gc.enable(); gc.set_threshold(10)
kept = [[i] for i in range(1000)]
class F:
    def __del__(self): gc.collect(); print('finaliser')
f = F(); f.f = f; del f; gc.collect()
import os
sys.stdout.flush()
child = os.fork()
if child: os.waitpid(child, 0)
gc.callbacks.append(two); collect(2); sys.stdout.flush()
if child == 0: os._exit(0)
print(gc.get_stats()[2]['collections'])
"""


class GcRunsTest(support.ProgramTest):
    def check_runs(self, options):
        run = self.run_script(GC_RUNS, *COUNTERS, *options)
        told = json.loads(run.stdout)
        found, inside = [], False
        for record in run.records():
            kind = record.WhichOneof("kind")
            if kind == "mark":
                inside = record.mark.label == b"begin"
            elif kind == "gc_run" and inside:
                found.append(record.gc_run)
        self.assertGreater(len(told), 6)
        self.assertEqual([(r.generation, r.collected, r.uncollectable)
                          for r in found], [tuple(t[:3]) for t in told])
        for gc_run, (*_, seconds) in zip(found, told):
            self.assertLessEqual(gc_run.time_us - gc_run.begin_us,
                                 seconds * 1e6 + 2)
        # The last three ran over a million lists: one at least was not disturbed.
        shares = [(r.time_us - r.begin_us) / (t[3] * 1e6)
                  for r, t in zip(found[-3:], told[-3:])]
        self.assertGreater(max(shares), 0.8, (shares, told[-3:]))

    def test_runs_equal_what_the_callbacks_tell(self):
        for options in pythons():
            with self.subTest(options):
                self.check_runs(options)

    def test_the_program_cannot_tell(self):
        script = self.write("same.py", SAME)
        for options in pythons():
            python = options[1] if options else support.PYTHON
            with self.subTest(options):
                plain = subprocess.run([python, script], text=True, check=True,
                                       stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
                run = self.pymemrun("--quiet", *COUNTERS, *options, script)
                self.assertEqual(run.stdout, plain.stdout)
                self.assertEqual(run.stderr, plain.stderr)
                self.assertGreater(len(run.records("gc_run")), 10)

    def test_the_collector_knows_nothing_more_of_ours(self):
        program = ("import gc\n"
                   "ours = [o for o in gc.get_objects() if type(o) is type(len)\n"
                   "        and o.__name__ == 'pymemrun']\n"
                   "print(len(ours), sum(type(o) is list and o[:1] == ours[:1]\n"
                   "                     for o in gc.get_objects()))\n")
        run = self.run_script(program, *COUNTERS)
        other = self.run_script(program, "--trace", "none", "--heap", "all")
        self.assertEqual(run.stdout, other.stdout)

    def test_audit_hooks_hear_nothing(self):
        program = ("import sys\n"
                   "sys.addaudithook(lambda event, args: print(event)\n"
                   "    if event.startswith('gc.') else None)\n"
                   "import gc\n"
                   "gc.collect(); gc.collect()\n")
        run = self.run_script(program, *COUNTERS)
        self.assertEqual(run.stdout, "")
        generations = [gc_run.generation for gc_run in run.records("gc_run")]
        self.assertEqual(generations.count(2), 2)
        # From 3.12 on Python collects younger objects by itself even here.
        if support.VERSION < (3, 12):
            self.assertEqual(len(generations), 2)

    def test_the_line_is_known_where_stacks_are_recorded(self):
        run = self.run_script(
            "import gc\n"
            "def tidy():\n"
            "    gc.collect()\n"
            "tidy()\n", "--trace", "calls,counters", name="tidy.py")
        rows = json.loads(run.report("counters", "--gc", "--json"))
        self.assertIn(("tidy.py", 3, 2),
                      [(os.path.basename(r["file"] or ""), r["line"],
                        r["generation"]) for r in rows])


class PausedTest(support.ProgramTest):
    def test_what_is_recorded_while_a_run_is_paused(self):
        """As docs/cli.md has it: all but calls and heap events."""
        run = self.run_script("""
import asyncio, pymemrun, threading
pymemrun.counter('early', 17)
async def step(): await asyncio.sleep(0)
asyncio.run(step())
other = threading.Thread(target=print); other.start(); other.join()
""", "--paused", "--trace", "calls,gil,states,tasks,counters")
        self.assertEqual([c.whole for c in run.records("counter")], [17])
        for kind in ("gil", "tasks", "process"):
            self.assertTrue(run.records(kind), kind)
        self.assertTrue(run.records("states") or run.records("sched"))
        for kind in ("events", "heap"):
            self.assertFalse(run.records(kind), kind)


if __name__ == "__main__":
    unittest.main()
