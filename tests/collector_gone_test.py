"""The collector is killed, stopped, or cannot write: the program goes on, soon,
and unharmed; what the file lacks is counted and said once."""
import os
import re
import resource
import signal
import subprocess
import threading
import time
import unittest

import fault_support
from fault_support import (PYMEMCAT, FaultTest, RunFile, can_unshare,
                           collectors, is_root, run, wait_for_collector_to_end,
                           wait_until)

MAX_STALL_S = 2

# Prints its own time for N calls, as its last line.
CALLS = """
import sys, time
def f(): pass
def work(n):
    for i in range(n): f()
work(1000)
print("ready", flush=True)
sys.stdin.readline()
start = time.monotonic()
work(int(sys.argv[1]))
print(time.monotonic() - start, flush=True)
sys.stdin.readline()
"""
MANY = 1500000  # calls, of two events each; the ring holds 262,144 slots


class Program:
    """A traced program that waits for us twice; see CALLS."""

    def __init__(self, test, own=(), calls=MANY, prefix=(), output=None,
                 **kwargs):
        command = test.command([test.script(CALLS), str(calls)],
                               ["--quiet", *own], output)
        self.path = output or test.output
        self.process = subprocess.Popen(
            [*prefix, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **kwargs)
        test.addCleanup(self.end)
        test.assertEqual(self.process.stdout.readline(), b"ready\n")
        self.collector = collectors(self.path)[0]

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def seconds(self):
        """Waits for the calls to end and returns how long they took."""
        return float(self.process.stdout.readline())

    def finish(self):
        """(exit status, stderr, how long the end took)."""
        start = time.monotonic()
        stderr = self.process.communicate(b"\n")[1].decode()
        return self.process.returncode, stderr, time.monotonic() - start


class GoneTest(FaultTest):
    def undisturbed_seconds(self, own=()):
        program = Program(self, own)
        program.go()
        seconds = program.seconds()
        self.assertEqual(program.finish()[:2], (0, ""))
        wait_for_collector_to_end(program.path)
        self.assert_whole(RunFile(program.path))
        return seconds

    def test_killed(self):
        usual = self.undisturbed_seconds()
        program = Program(self)
        time.sleep(0.3)  # the file has its header by now
        os.kill(program.collector, signal.SIGKILL)
        program.go()
        seconds = program.seconds()
        status, stderr, end_seconds = program.finish()
        self.assertLess(seconds + end_seconds, 3 * usual + MAX_STALL_S + 1)
        self.assertEqual(status, 0)
        # Once that it is gone, and at the end what that cost.
        lines = stderr.splitlines()
        self.assertEqual(len(lines), 2, stderr)
        self.assertIn("the collector is gone", lines[0])
        dropped = int(re.search(r"(\d+) rows lost", lines[1])[1])
        # What it had read and not written is lost without a witness; what came
        # after its death is counted to the last row.
        self.assertGreater(dropped, 2 * MANY - 262144 - 1000)
        self.assertLess(dropped, 2 * MANY + 1000)
        file = RunFile(program.path)
        self.assertEqual((file.returncode, file.headers, file.footers,
                          file.unordered), (0, 1, 0, 0))

    def test_killed_in_the_middle(self):
        for on_full in ("block", "drop"):
            with self.subTest(on_full):
                program = Program(self, ["--on-full", on_full], 400000)
                program.go()
                time.sleep(0.05)
                os.kill(program.collector, signal.SIGKILL)
                program.seconds()
                status, stderr, end_seconds = program.finish()
                self.assertEqual(status, 0)
                # Whoever is to reap it may take a while.
                self.assertLess(end_seconds, MAX_STALL_S + 1)
                self.assertIn("may end before the program did", stderr)
                self.assertNotIn("Traceback", stderr)
                file = RunFile(program.path)
                self.assertEqual((file.returncode, file.footers,
                                  file.unordered), (0, 0, 0))
                self.assertEqual(file.rows, file.next_number)

    def test_stopped_for_long(self):
        usual = self.undisturbed_seconds()
        program = Program(self)
        os.kill(program.collector, signal.SIGSTOP)
        self.addCleanup(self.wake, program.collector)
        program.go()
        seconds = program.seconds()
        self.assertLess(seconds, 3 * usual + MAX_STALL_S + 1)
        self.assertGreater(seconds, MAX_STALL_S - 0.1)
        threading.Timer(10 - seconds, self.wake, [program.collector]).start()
        time.sleep(max(0, 10.5 - seconds))
        status, stderr, _ = program.finish()
        self.assertEqual(status, 0)
        # --quiet leaves only what is wrong.
        self.assertEqual(stderr.count("\n"), 1, stderr)
        self.assertIn("has not made room", stderr)
        file = self.counted_exactly(program)
        self.assertEqual(file.lost, file.footer.dropped)

    def wake(self, collector):
        try:
            os.kill(collector, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def counted_exactly(self, program):
        wait_for_collector_to_end(program.path)
        file = RunFile(program.path)
        self.assertEqual((file.footers, file.unordered), (1, 0))
        self.assertGreater(file.footer.dropped, 0)
        # Where they were lost stands among the rows, if there was room again.
        self.assertIn(file.lost, (file.footer.dropped, 0))
        self.assertEqual(file.footer.rows, file.rows)
        self.assertEqual(file.rows + file.footer.dropped, file.footer.events)
        return file

    def test_stopped_until_after_the_end(self):
        program = Program(self)
        os.kill(program.collector, signal.SIGSTOP)
        self.addCleanup(self.wake, program.collector)
        program.go()
        program.seconds()
        status, stderr, end_seconds = program.finish()
        self.assertEqual(status, 0)
        self.assertLess(end_seconds, 1)  # it has waited 2 s already
        self.assertIn("may end before the program did", stderr)
        self.wake(program.collector)
        self.counted_exactly(program)

    def test_stopped_at_the_end_only(self):
        program = Program(self, calls=1000)
        os.kill(program.collector, signal.SIGSTOP)
        self.addCleanup(self.wake, program.collector)
        program.go()
        program.seconds()
        status, stderr, end_seconds = program.finish()
        self.assertEqual(status, 0)
        self.assertLess(end_seconds, MAX_STALL_S + 1)
        self.assertEqual(stderr.count("\n"), 1, stderr)
        self.wake(program.collector)
        wait_for_collector_to_end(program.path)
        self.assert_whole(RunFile(program.path))

    def test_drop_never_waits(self):
        usual = self.undisturbed_seconds(["--on-full", "drop"])
        program = Program(self, ["--on-full", "drop"])
        os.kill(program.collector, signal.SIGSTOP)
        self.addCleanup(self.wake, program.collector)
        program.go()
        self.assertLess(program.seconds(), 3 * usual + 0.5)
        self.wake(program.collector)
        time.sleep(0.5)
        status, stderr, _ = program.finish()
        self.assertEqual((status, stderr.count("\n") <= 1), (0, True), stderr)
        self.counted_exactly(program)

    def test_our_message_stays_out_of_the_programs_files(self):
        # It closed its stderr; what it opens next has that number.
        script = self.script("""
import os, signal, sys
os.close(2)
victim = os.open("victim", os.O_RDWR | os.O_CREAT)
assert victim == 2
os.kill(int(sys.stdin.readline()), signal.SIGKILL)
def f(): pass
for i in range(600000): f()
os.write(1, b"%d bytes" % os.fstat(victim).st_size)
""")
        program = subprocess.Popen(self.command([script]), cwd=self.folder,
                                   stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.assertTrue(wait_until(lambda: collectors(self.output), 10))
        time.sleep(0.3)
        out = program.communicate(b"%d\n" % collectors(self.output)[0])[0]
        self.assertEqual((program.returncode, out), (0, b"0 bytes"))
        self.assertEqual(os.path.getsize(self.path("victim")), 0)

    def test_stderr_closed(self):
        script = self.script("print(1)")
        for own in ([], ["--quiet"]):
            found = run(["sh", "-c", 'exec "$@" 2>&-', "sh",
                         *self.command([script], own)])
            self.assertEqual(found[:3], (0, b"1\n", b""))
            wait_for_collector_to_end(self.output)
            self.assert_whole(self.run_file())

    def test_holds_no_pipe_of_the_program(self):
        command = self.command([self.script("print(1)")])
        late = []
        for i in range(5):
            program = subprocess.Popen(command[:3] + ["-o", self.new_run(),
                                                      *command[5:]],
                                       stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT)
            reader = subprocess.Popen(["cat"], stdin=program.stdout,
                                      stdout=subprocess.DEVNULL)
            program.stdout.close()
            program.wait()
            end = time.monotonic()
            reader.wait()
            late.append(time.monotonic() - end)
        self.assertLess(min(late), 0.2, late)


class WriteTest(FaultTest):
    """The run file cannot take it all."""

    def loss_is_counted(self, path, rows_at_least=1):
        wait_for_collector_to_end(path)
        file = RunFile(path)
        self.assertEqual((file.headers, file.unordered), (1, 0))
        self.assertGreaterEqual(file.rows, rows_at_least)
        self.assertEqual(file.rows, file.next_number)  # a whole beginning
        if file.footer is not None:
            self.assertEqual(file.footer.rows, file.rows)
            self.assertEqual(file.footer.dropped, 0)
            self.assertGreater(file.footer.lost_on_write, 0)
            self.assertEqual(file.rows + file.footer.lost_on_write,
                             file.footer.events)
        return file

    # Rows that do not compress well, so that a little room is soon used up.
    NOISY = """
import random
def f(n):
    if n > 0: return f(n - 1)
    return len([])
chance = random.Random(1)
for i in range(60000): f(chance.randrange(12)); chance.random()
print("done")
"""

    @is_root
    @unittest.skipUnless(can_unshare("--mount"), "may not make a mount")
    def test_disk_full(self):
        script = self.script(self.NOISY)
        mounted = self.path("small")
        os.mkdir(mounted)
        copy = self.path("copy.pb")
        for room, more in (("16k", []), ("64k", []),
                           ("64k", ["--compress", "none"])):
            command = self.command([script], more, mounted + "/run.pb")
            found = run(["unshare", "--mount", "bash", "-c",
                         'mount -t tmpfs -o size=%s none "$1" && "${@:2}";'
                         ' status=$?; cp "$1/run.pb" "$0"; exit $status' % room,
                         copy, mounted, *command])
            with self.subTest(room):
                self.assertEqual(found[:2], (0, b"done\n"), found.stderr)
                self.assertEqual(found.stderr.count(b"\n"), 1)
                self.assertRegex(found.stderr, rb"lost|No space")
                file = self.loss_is_counted(copy)
                self.assertIsNotNone(file.footer)
                # Also what the footer names must be in the file.
                read = run([PYMEMCAT, copy, "--csv"])
                self.assertEqual((read.returncode, read.stderr), (0, b""))

    def test_file_size_limit(self):
        # A soft limit is the program's: its collector has the hard one.
        script = self.script(self.NOISY)
        for soft, hard in ((8192, resource.RLIM_INFINITY), (0, 1 << 23),
                           (8192, 8192), (0, 0)):
            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            with self.subTest(soft=soft, hard=hard):
                expected = self.plain([script], preexec_fn=limit)
                found = run(self.command([script]), cwd=self.folder,
                            preexec_fn=limit)
                self.assertEqual(found[:2], expected[:2])
                self.assertEqual(found.stderr.count(b"\n"), 1, found.stderr)
                if hard not in (0, 8192):
                    wait_for_collector_to_end(self.output)
                    self.assert_whole(self.run_file())
                else:
                    self.assertRegex(found.stderr, b"untraced|lost")

    def test_the_programs_own_file_size_limit_stays(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 1 << 30))
        self.same([self.script("""
import resource, signal
print(resource.getrlimit(resource.RLIMIT_FSIZE))
print(signal.getsignal(signal.SIGXFSZ))
try: open("big", "wb", 0).write(bytes(9000)), open("big", "ab", 0).write(b"x")
except OSError as error: print(error)
""")], preexec_fn=limit)

    def injected(self, fault, calls=50000):
        """Runs CALLS with a fault in the collector's writes."""
        program = Program(self, [], calls)
        # The header is there: only what follows it is to fail.
        if not wait_until(lambda: os.path.getsize(program.path) > 0, 10):
            self.fail("no header in the run file")
        tracer = subprocess.Popen(
            ["strace", "-qq", "-o", "/dev/null", "-e", "trace=write,pwrite64",
             "-e", "inject=write,pwrite64:" + fault, "-p",
             str(program.collector)], stderr=subprocess.PIPE)
        def attached():
            with open(f"/proc/{program.collector}/status") as status:
                return "TracerPid:\t0\n" not in status.read()
        if not wait_until(lambda: attached() or tracer.poll() is not None, 10):
            self.fail("strace does not attach")
        if tracer.poll() is not None:
            self.skipTest("strace: " + tracer.stderr.read().decode())
        program.go()
        program.seconds()
        time.sleep(0.5)
        result = program.finish()
        tracer.communicate()
        wait_for_collector_to_end(program.path)
        return program, result

    def test_input_output_error(self):
        for error in ("EIO", "ENOSPC", "EDQUOT"):
            with self.subTest(error):
                program, result = self.injected("error=" + error)
                self.assertEqual(result[0], 0)
                self.loss_is_counted(program.path, 0)

    def test_short_and_interrupted_writes_lose_nothing(self):
        for fault in ("error=EINTR:when=1+2",):
            with self.subTest(fault):
                program, result = self.injected(fault)
                self.assertEqual(result[:2], (0, ""))
                self.assert_whole(RunFile(program.path))

    @is_root
    @unittest.skipUnless(can_unshare("--mount"), "may not make a mount")
    def test_full_before_the_first_byte(self):
        script = self.script("print(1)")
        mounted = self.path("none")
        os.mkdir(mounted)
        command = self.command([script], output=mounted + "/run.pb")
        found = run(["unshare", "--mount", "bash", "-c",
                     'mount -t tmpfs -o size=4k none "$0" &&'
                     ' head -c 4096 /dev/zero > "$0/fill"; "$@"',
                     mounted, *command])
        self.assertEqual(found[:2], (0, b"1\n"))
        self.assertEqual(found.stderr.count(b"\n"), 1, found.stderr)


if __name__ == "__main__":
    unittest.main()
