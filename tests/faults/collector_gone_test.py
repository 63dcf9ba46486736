"""The collector is killed or stopped: the program goes on, soon, and unharmed;
what the file lacks is counted and said once."""
import ctypes
import os
import re
import signal
import subprocess
import threading
import time
import unittest

from fault_support import (MANY, PYMEMREPORT, FaultTest, Program, RunFile, collectors,
                           run, wait_for_collector_to_end, wait_until)

MAX_STALL_S = 2
PR_SET_CHILD_SUBREAPER = 36


class GoneTest(FaultTest):
    def undisturbed_seconds(self, own=()):
        program = Program(self, own)
        program.go()
        seconds = program.seconds()
        self.assertEqual(program.finish()[:2], (0, ""))
        wait_for_collector_to_end(program.path)
        self.assert_whole(RunFile(program.path))
        return seconds

    def rows_lost(self, message):
        said = re.search(r"(\d+) rows lost", message)
        return int(said[1]) if said else 0

    def rows_of_a_run(self, calls, own=()):
        """How many rows one that nobody disturbs has."""
        program = Program(self, own, calls)
        program.go()
        program.seconds()
        self.assertEqual(program.finish()[:2], (0, ""))
        wait_for_collector_to_end(program.path)
        return RunFile(program.path).footer.rows

    def test_killed(self):
        usual = self.undisturbed_seconds()
        program = Program(self)
        time.sleep(0.3)  # the file has its header by now
        os.kill(program.collector, signal.SIGKILL)
        wait_for_collector_to_end(program.path)
        # Nobody writes the file, though the program is there.
        self.assertIn(b"The recording ends at ", run([PYMEMREPORT, program.path]).stdout)
        program.go()
        seconds = program.seconds()
        status, stderr, end_seconds = program.finish()
        self.assertLess(seconds + end_seconds, 3 * usual + MAX_STALL_S + 1)
        self.assertEqual(status, 0)
        # Once that it is gone, and at the end what that cost.
        lines = stderr.splitlines()
        self.assertEqual(len(lines), 2, stderr)
        self.assertIn("the collector is gone", lines[0])
        file = RunFile(program.path)
        self.assertEqual(file.rows + self.rows_lost(lines[1]),
                         self.rows_of_a_run(MANY))
        self.assertEqual((file.returncode, file.headers, file.footers,
                          file.unordered), (0, 1, 0, 0))

    def test_killed_and_not_reaped(self):
        # Whoever inherits orphans here never asks for them: a zombie is gone.
        usual = self.undisturbed_seconds()
        prctl = ctypes.CDLL(None).prctl
        self.assertEqual(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0)
        self.addCleanup(prctl, PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        program = Program(self)
        self.addCleanup(os.waitpid, program.collector, 0)
        os.kill(program.collector, signal.SIGKILL)
        def state():
            with open(f"/proc/{program.collector}/stat") as stat:
                return stat.read().rpartition(")")[2].split()[0]
        self.assertTrue(wait_until(lambda: state() == "Z"))
        program.go()
        seconds = program.seconds()
        status, stderr, end_seconds = program.finish()
        self.assertEqual(status, 0)
        self.assertLess(seconds, 3 * usual + 1)
        self.assertLess(end_seconds, 1)
        self.assertIn("the collector is gone", stderr)
        self.assertEqual(state(), "Z")

    def test_killed_in_the_middle(self):
        # Every event is a row; or each call, with the return before it.
        for own in (["--on-full", "block"], ["--on-full", "drop"],
                    ["--function", "f", "--events", "call"]):
            with self.subTest(own):
                rows = self.rows_of_a_run(2 * MANY, own)
                program = Program(self, own, 2 * MANY)
                program.go()
                time.sleep(0.2)
                os.kill(program.collector, signal.SIGKILL)
                program.seconds()
                status, stderr, end_seconds = program.finish()
                self.assertEqual(status, 0)
                self.assertLess(end_seconds, 1)
                self.assertIn("may be incomplete", stderr)
                self.assertNotIn("Traceback", stderr)
                file = RunFile(program.path)
                self.assertEqual((file.returncode, file.footers,
                                  file.unordered), (0, 0, 0))
                self.assertGreater(file.rows, 0)
                self.assertEqual(file.rows + self.rows_lost(stderr), rows)

    def test_killed_with_little_to_do(self):
        program = Program(self, calls=10)
        time.sleep(0.3)
        os.kill(program.collector, signal.SIGKILL)
        program.go()
        program.seconds()
        _, stderr, _ = program.finish()
        self.assertEqual(stderr.count("\n"), 1, stderr)
        self.assertEqual(
            RunFile(program.path).rows + self.rows_lost(stderr),
            self.rows_of_a_run(10))

    def test_stopped_for_long(self):
        usual = self.undisturbed_seconds()
        program = Program(self)
        self.go_with_stopped_collector(program)
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

    def go_with_stopped_collector(self, program):
        os.kill(program.collector, signal.SIGSTOP)
        self.addCleanup(self.wake, program.collector)
        program.go()

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
        self.go_with_stopped_collector(program)
        program.seconds()
        status, stderr, end_seconds = program.finish()
        self.assertEqual(status, 0)
        self.assertLess(end_seconds, 1)  # it has waited 2 s already
        self.assertIn("may be incomplete", stderr)
        self.wake(program.collector)
        self.counted_exactly(program)

    def test_stopped_at_the_end_only(self):
        program = Program(self, calls=1000)
        self.go_with_stopped_collector(program)
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
        self.go_with_stopped_collector(program)
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
        self.assertTrue(wait_until(lambda: collectors(self.output)))
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


if __name__ == "__main__":
    unittest.main()
