#!/usr/bin/env python3
"""When dumps are made, how the program sees them, and what happens where one
goes wrong: the program goes on as without."""
import glob
import os
import re
import signal
import unittest

import object_dump
import support

QUIET = ("--trace", "none", "--heap", "off")
LOADED_DUMPS = int(os.environ.get("PYMEMRUN_TEST_DUMPS", "25"))


class ObjectsMomentsTest(support.ProgramTest):
    def facts(self, run):
        return run.records("objects_dumped")

    def dumps(self, run):
        """The run's dumps, in order."""
        stem = run.path[:-3]
        return [object_dump.Dump(os.path.join(self.folder, fact.file.decode()))
                for fact in self.facts(run)]

    def test_at_exit_the_programs_own_code_has_ended(self):
        run = self.run_script("""
import atexit
class Kept: pass
kept = [Kept() for i in range(77)]
atexit.register(print, "bye")
print("hello")
""", *QUIET, "--objects", "exit")
        self.assertEqual((run.stdout, run.stderr), ("hello\nbye\n", ""))
        dump, = self.dumps(run)
        reason = support.trace_pb2().ObjectsReason
        self.assertEqual(dump.begin.reason, reason.Value("OBJECTS_AT_EXIT"))
        self.assertEqual(self.facts(run)[0].reason, dump.begin.reason)
        self.assertEqual(sum(node.type == "Kept" for node in dump.nodes), 77)
        self.assertRegex(run.report("summary"),
                         r"(?m)^objects +1 dump; run\d+\.obj\.pb: [\d,]+ objects, ")
        self.assertEqual(dump.end.outcome, dump.end.COMPLETE)

    def test_files_are_numbered_and_only_the_users_own(self):
        run = self.run_script("""
import os, pymemrun
for i in range(3):
    path = pymemrun.dump_objects(wait=True)
    print(os.path.basename(path), oct(os.stat(path).st_mode & 0o777))
print(pymemrun.dump_objects("own.obj.pb", wait=True))
try:
    pymemrun.dump_objects("own.obj.pb")
except FileExistsError as e:
    print("there", e.filename)
os.symlink("elsewhere", "link.obj.pb")
try:
    pymemrun.dump_objects("link.obj.pb")
except OSError as e:
    print("link", os.path.exists("elsewhere"))
""", *QUIET)
        stem = os.path.basename(run.path)[:-3]
        self.assertEqual(run.stdout.splitlines(), [
            f"{stem}.obj.pb 0o600", f"{stem}.obj-1.pb 0o600",
            f"{stem}.obj-2.pb 0o600", "own.obj.pb", "there own.obj.pb",
            "link False"])
        self.assertEqual([fact.file.decode() for fact in self.facts(run)],
                         [f"{stem}.obj.pb", f"{stem}.obj-1.pb",
                          f"{stem}.obj-2.pb", "own.obj.pb"])

    def test_dumps_lie_beside_the_run_file_that_the_script_names(self):
        run = self.run_script("""
import os, pymemrun
print(os.path.basename(pymemrun.dump_objects(wait=True)))
os.mkdir("sub")
try: pymemrun.start(output="sub")
except FileExistsError: pass
pymemrun.start(output="sub/part.pb")
os.chdir("/")
for i in range(2):
    kept = [dict(i=i) for i in range(1000)]
    path = pymemrun.dump_objects(wait=True)
    print(os.path.relpath(path, os.environ["FOLDER"]))
    pymemrun.stop()
    pymemrun.start()
""", "--paused", "--objects", "exit",
                              env=dict(support.USUAL, FOLDER=self.folder))
        stem = os.path.basename(run.path)[:-3]
        self.assertEqual((run.stdout.splitlines(), run.stderr), (
            [f"{stem}.obj.pb", "sub/part.obj-1.pb", "sub/part.obj-2.pb"], ""))
        part = os.path.join(self.folder, "sub", "part.pb")
        facts = [record.objects_dumped for record in support.file_records(part)
                 if record.WhichOneof("kind") == "objects_dumped"]
        self.assertEqual([fact.file.decode() for fact in facts], [
            f"{stem}.obj.pb", "part.obj-1.pb", "part.obj-2.pb", "part.obj-3.pb"])
        dump = object_dump.Dump(os.path.join(self.folder, "sub", "part.obj-3.pb"))
        self.assertEqual(dump.end.outcome, dump.end.COMPLETE)
        header = next(support.file_records(part)).header
        self.assertEqual((dump.header.pid, dump.header.process_start_ticks),
                         (header.pid, header.process_start_ticks))

    def test_a_signal_makes_a_dump_and_interrupts_nothing(self):
        for option, number in (("signal", signal.SIGUSR2),
                               ("signal:RTMIN+3", signal.SIGRTMIN + 3)):
            run = self.run_script(f"""
import os, threading, time, pymemrun
def work():
    time.sleep(0.2)
    os.kill(os.getpid(), {int(number)})
t = threading.Thread(target=work); t.start()
begin = time.monotonic()
time.sleep(0.6)
print(time.monotonic() - begin >= 0.6)
t.join()
""", *QUIET, "--objects", option)
            self.assertEqual((run.stdout, run.stderr), ("True\n", ""))
            dump, = self.dumps(run)
            self.assertEqual(dump.end.outcome, dump.end.COMPLETE)
            self.assertEqual(dump.begin.reason, support.trace_pb2().OBJECTS_SIGNAL)

    def test_the_collector_asks_in_time_by_rss_and_at_peaks(self):
        reasons = support.trace_pb2().ObjectsReason
        run = self.run_script("""
import time
time.sleep(2.2)
""", *QUIET, "--objects", "every:500ms")
        dumps = self.dumps(run)
        self.assertIn(len(dumps), (3, 4))
        self.assertEqual({dump.begin.reason for dump in dumps},
                         {reasons.Value("OBJECTS_EVERY")})
        program = """
import time
first = b"x" * (%d << 20); time.sleep(1)
second = b"x" * (%d << 20); time.sleep(2.5)
class Late: pass
late = Late()
third = b"x" * (%d << 20); time.sleep(1.5)
del third; time.sleep(0.5)
"""
        run = self.run_script(program % (10, 100, 1), *QUIET, "--objects", "rss>90M")
        dump, = self.dumps(run)
        self.assertEqual(dump.begin.reason, reasons.Value("OBJECTS_RSS_ABOVE"))
        self.assertGreater(dump.begin.rss_bytes, 90 << 20)
        run = self.run_script(program % (1, 100, 100), *QUIET, "--objects", "peak")
        facts = self.facts(run)
        self.assertEqual({fact.reason for fact in facts}, {reasons.Value("OBJECTS_AT_PEAK")})
        self.assertGreater(len(facts), 1)
        # The last one has the name of those before, and no other is there.
        stem = os.path.basename(run.path)[:-3]
        self.assertEqual({fact.file.decode() for fact in facts}, {stem + ".obj.pb"})
        self.assertEqual(glob.glob(os.path.join(self.folder, stem + ".obj*")),
                         [os.path.join(self.folder, stem + ".obj.pb")])
        dump = object_dump.Dump(os.path.join(self.folder, stem + ".obj.pb"))
        self.assertEqual(len(dump.at), facts[-1].objects)
        self.assertTrue(any(node.type == "Late" for node in dump.nodes))
        self.assertGreater(dump.begin.rss_bytes, 200 << 20)

    def test_no_wait_of_the_programs_finds_the_copy(self):
        for adopts in ("", "ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n"):
            run = self.run_script(f"""
import ctypes, os, signal, pymemrun
{adopts}
got = []
def descriptors(): return sorted(os.listdir("/proc/self/fd"))
before = descriptors()
signal.signal(signal.SIGCHLD, lambda *a: got.append(a))
for i in range(3):
    assert pymemrun.dump_objects() is not None
    try:
        print(os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        pass
pymemrun.dump_objects(wait=True)
child = os.fork()
if child == 0: os._exit(7)
print(os.waitstatus_to_exitcode(os.wait()[1]), len(got))
print(descriptors() == before)
""", *QUIET)
            self.assertEqual(run.stdout, "7 1\nTrue\n")
            self.assertEqual(run.stderr, "")
            self.assertEqual(len(self.dumps(run)), 4)

    BROKEN = """
import ctypes, gc, pymemrun
class Broken: pass
kept = [Broken()]
gc.disable()
word = ctypes.c_void_p.from_address(id(Broken) + 23 * 8)  # tp_traverse
was, word.value = word.value, 16
print(pymemrun.dump_objects(wait=True) is not None)
word.value = was
print(pymemrun.dump_objects(wait=True) is not None)
"""

    def test_a_crash_in_tp_traverse_ends_the_dump_alone(self):
        run = self.run_script(self.BROKEN, *QUIET)
        self.assertEqual(run.stdout, "True\nTrue\n")
        self.assertRegex(run.stderr, r"^pymemrun: run\d+.obj.pb: cut off: signal 11 [^\n]+\n$")
        crashed, whole = self.dumps(run)
        self.assertEqual((crashed.end.outcome, crashed.end.signal), (crashed.end.CRASHED, 11))
        self.assertEqual(crashed.types[crashed.end.at_type], "Broken")
        self.assertEqual(crashed.at[crashed.end.at_address].type, "Broken")
        self.assertEqual(whole.end.outcome, whole.end.COMPLETE)
        first, second = self.facts(run)
        self.assertIn(b"signal 11", first.problem)
        self.assertEqual(second.problem, b"")
        self.assertEqual(glob.glob(os.path.join(self.folder, "core*")), [])

    # Stands in the collector's place; the copy that is walked has started it.
    COLLECTOR = """#!/bin/sh
if [ "$1" = --objects ]; then
  cat /proc/self/oom_score_adj >> "{folder}/scores"
  {then}
fi
exec "{collector}" "$@"
"""

    def run_with_collector(self, then):
        path = self.write("collector", self.COLLECTOR.format(
            folder=self.folder, then=then, collector=os.environ["PYMEMRUN_COLLECTOR_BIN"]))
        os.chmod(path, 0o755)
        open(os.path.join(self.folder, "scores"), "w").close()
        return self.run_script("""
import pymemrun
kept = [bytearray(20000) for i in range(20)]
for wait in False, True:
    print(pymemrun.dump_objects(wait=wait) is not None)
print("still here", open("/proc/self/oom_score_adj").read())
""", *QUIET, env={"PYMEMRUN_COLLECTOR": path})

    def test_when_memory_runs_out_a_dump_goes_before_the_program(self):
        with open("/proc/self/oom_score_adj") as file:
            own = file.read()
        run = self.run_with_collector(":")
        self.assertEqual((run.stdout, run.stderr), (f"True\nTrue\nstill here {own}\n", ""))
        with open(os.path.join(self.folder, "scores")) as file:
            self.assertEqual(file.read(), "1000\n1000\n")
        self.assertEqual([dump.end.outcome for dump in self.dumps(run)], [0, 0])

    def test_a_dump_whose_process_is_killed_says_so(self):
        for then in "kill -9 $PPID", "kill -9 $$":
            with self.subTest(then):
                run = self.run_with_collector(then)
                self.assertTrue(run.stdout.startswith("True\n"), run.stdout)
                self.assertIn("still here", run.stdout)
                killed = "cut off: its process was killed, as happens when memory runs out"
                self.assertEqual(run.stderr.count(killed), 2, run.stderr)
                self.assertEqual([fact.problem.decode() for fact in self.facts(run)],
                                 [killed] * 2)

    def test_where_no_process_can_be_made_the_program_goes_on(self):
        run = self.run_script("""
import os, resource, pymemrun
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
before = os.listdir(".")
print(pymemrun.dump_objects(), os.listdir(".") == before)
""", *QUIET, ordinary=True)
        self.assertEqual(run.stdout, "None True\n")
        self.assertEqual(run.stderr, "pymemrun: dump_objects(): fork: Resource "
                                     "temporarily unavailable\n")
        fact, = self.facts(run)
        self.assertIn(b"fork", fact.problem)
        self.assertEqual(fact.objects, 0)

    def test_the_programs_soft_limits_are_not_meant_for_the_copy(self):
        run = self.run_script("""
import resource, pymemrun
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
for limit, most in ((resource.RLIMIT_AS, now + (20 << 20)), (resource.RLIMIT_FSIZE, 4096),
                    (resource.RLIMIT_NOFILE, 32)):
    resource.setrlimit(limit, (most, resource.getrlimit(limit)[1]))
print(pymemrun.dump_objects(wait=True) is not None)
""", *QUIET)
        self.assertEqual((run.stdout, run.stderr), ("True\n", ""))
        dump, = self.dumps(run)
        self.assertEqual(dump.end.outcome, dump.end.COMPLETE)

    def test_a_file_that_cannot_be_written_is_no_dump(self):
        run = self.run_script("""
import os, resource, pymemrun
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
kept = [os.urandom(50) for i in range(20000)]
print(pymemrun.dump_objects("full.obj.pb", wait=True))
""", *QUIET)
        self.assertEqual(run.stdout, "None\n")
        self.assertIn("full.obj.pb: cut off: File too large", run.stderr)

    def test_the_end_report_names_the_dump_and_what_reads_it(self):
        run = self.pymemrun("--objects", "exit", self.write("short.py", "pass\n"))
        self.assertIn("pymemrun: Objects: pymemobj %s suspects" % run.path.replace(".pb", ".obj.pb"),
                      run.stderr.splitlines())

    def test_under_load_nothing_is_different(self):
        program = """
import gc, hashlib, threading, sys, zlib
dump = %s
def work(n):
    held, total = {}, 0
    for i in range(4000):
        held[i %% 97] = [str(i), (i, n), {"k": [i]}]
        a = []; a.append(a)
        total += len(hashlib.md5(str(held[i %% 97]).encode()).hexdigest())
        if i %% 1000 == 0: gc.collect()
        if i %% 100 == n:  # malloc and its locks, without the GIL
            total += len(zlib.compress(bytes(100000))) + zlib.crc32(bytes(50000))
        if i %% 500 == n:
            short = threading.Thread(target=total.bit_length)
            short.start(); short.join()
    totals[n] = (total, sum(len(v[0]) for v in held.values()))
totals = {}
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for t in threads: t.start()
made = 0
while any(t.is_alive() for t in threads) or made < %d:
    if dump and made < %d:
        made += dump(wait=made %% 2 == 0) is not None
    elif not dump:
        break
for t in threads: t.join()
print(sorted(totals.items()))
"""
        times = LOADED_DUMPS
        plain = self.run_python(self.write("plain.py", program % ("None", 0, 0)))
        for options in (("--heap", "all"),
                        ("--trace", "calls,pages", "--heap", "all", "--native")):
            with self.subTest(options):
                run = self.run_script("import pymemrun\n" + program % (
                    "pymemrun.dump_objects", times, times), *options)
                self.assertEqual((run.stdout, run.stderr), (plain, ""))
                facts = self.facts(run)
                self.assertEqual(len(facts), times)
                self.assertEqual({fact.problem for fact in facts}, {b""})
                for fact in facts[::6]:
                    dump = object_dump.Dump(os.path.join(self.folder, fact.file.decode()))
                    self.assertEqual(dump.end.outcome, dump.end.COMPLETE)

    def test_a_forked_child_dumps_itself(self):
        run = self.run_script("""
import os, pymemrun
pymemrun.dump_objects()
child = os.fork()
if child == 0:
    class OnlyInChild: pass
    kept = OnlyInChild()
    print(os.path.basename(pymemrun.dump_objects(wait=True)), flush=True)
    os._exit(0)
os.waitpid(child, 0)
""", *QUIET)
        dump = object_dump.Dump(os.path.join(self.folder, run.stdout.strip()))
        self.assertNotEqual(dump.header.pid, run.header.pid)
        self.assertTrue(any(node.type == "OnlyInChild" for node in dump.nodes))

    @unittest.skipIf(support.VERSION >= (3, 13), "they have a GIL of their own")
    def test_subinterpreters_are_dumped_too(self):
        run = self.run_script("""
import sys, pymemrun
import _xxsubinterpreters as interpreters
named = {"isolated": False} if sys.version_info >= (3, 12) else {}
other = interpreters.create(**named)
interpreters.run_string(other, "class OnlyThere: pass\\nkept = [OnlyThere() for i in range(5)]")
pymemrun.dump_objects(wait=True)
interpreters.destroy(other)
""", *QUIET)
        dump, = self.dumps(run)
        self.assertEqual(sum(node.type == "OnlyThere" for node in dump.nodes), 5)
        there = dump.group("modules of interpreter 1")
        reached = dump.strong_from([there.number])
        self.assertTrue(all(node.number in reached for node in dump.nodes
                            if node.type == "OnlyThere"))

    def test_wrong_arguments(self):
        run = self.run_script("""
import pymemrun
for args, named in (((1.5,), {}), ((None, True), {}), ((), {"file": "x"})):
    try:
        print(pymemrun.dump_objects(*args, **named))
    except TypeError:
        print("TypeError")
""", *QUIET)
        self.assertEqual(run.stdout, "TypeError\n" * 3)

    def test_moments_that_are_none_are_refused(self):
        for text in ("never", "exit,", "signal:NONE", "signal:RTMIN+99", "signal:KILL",
                     "every:", "every:5", "every:1ms", "rss>", "rss>x"):
            run = self.run_script("", "--objects", text, status=2)
            self.assertIn("is not a list of exit, signal", run.stderr)


if __name__ == "__main__":
    unittest.main()
