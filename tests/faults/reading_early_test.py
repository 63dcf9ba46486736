"""A run file is read the moment its program has ended in a way that waits for no
collector: readers wait for the collector, but not for long."""
import os
import signal
import subprocess
import unittest

from fault_support import (PYMEMCAT, PYMEMREPORT, FaultTest, collectors, run,
                           wait_until)

# Says that it is there, and ends without any handler once it may.
LEAVES = """
import os, sys
kept = [bytes(1000) for i in range(3000)]
print("ready", flush=True)
sys.stdin.readline()
os._exit(3)
"""


class ReadingEarlyTest(FaultTest):
    def start(self):
        program = subprocess.Popen(
            self.command([self.script(LEAVES)], ["--quiet"]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        def end():
            program.kill()
            program.communicate()
        self.addCleanup(end)
        self.assertEqual(program.stdout.readline(), b"ready\n")
        return program

    def stopped_collector(self):
        collector = collectors(self.output)[0]
        os.kill(collector, signal.SIGSTOP)
        def go_on():
            try:
                os.kill(collector, signal.SIGCONT)
            except ProcessLookupError:
                pass
        self.addCleanup(go_on)
        return go_on

    def reader(self, *command):
        reader = subprocess.Popen(command, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(reader.communicate)
        return reader

    def has_opened(self, reader):
        """Whether the process has the run file open."""
        folder = f"/proc/{reader.pid}/fd/"
        try:
            return self.output in [os.readlink(folder + fd)
                                   for fd in os.listdir(folder)]
        except OSError:
            return False

    def test_readers_wait_for_the_collector(self):
        for how in "left", "killed":
            for command in ([PYMEMCAT, "--summary"], [PYMEMREPORT]):
                with self.subTest(how, command=command):
                    program = self.start()
                    go_on = self.stopped_collector()
                    if how == "killed":
                        program.kill()
                    program.communicate(b"\n")
                    reader = self.reader(*command, self.output)
                    self.assertTrue(wait_until(
                        lambda: self.has_opened(reader)
                        or reader.poll() is not None))
                    go_on()
                    out, err = reader.communicate()
                    self.assertEqual(err, "")
                    self.assertNotIn("no end", out)
                    self.assertNotIn("no footer", out)

    def test_not_for_a_collector_that_never_ends(self):
        program = self.start()
        self.stopped_collector()
        program.kill()
        program.communicate()
        found = run([PYMEMCAT, self.output])
        self.assertEqual(found.returncode, 0)
        self.assertIn(b"no footer: the collector is still writing; this is "
                      b"the state at ", found.stderr)
        self.assertGreater(found.seconds, 5)

    def test_not_for_a_program_that_runs(self):
        self.start()
        found = run([PYMEMCAT, self.output])
        self.assertEqual(found.returncode, 0)
        self.assertIn(b"no footer: the program still runs; this is the state "
                      b"at ", found.stderr)


if __name__ == "__main__":
    unittest.main()
