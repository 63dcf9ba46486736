"""A call that gives memory back may take seconds: gigabytes on a busy machine,
or a program that is stopped. Its place in the ring is waited for."""
import subprocess
import unittest

from fault_support import (FaultTest, RunFile, wait_until,
                           wait_for_collector_to_end)

# As long as the collector would wait for a thread that is dead, and longer.
CALL_US = 3000000

PROGRAM = """
import mmap, sys
memory = mmap.mmap(-1, 64 << 20)
for at in range(0, 64 << 20, 4096): memory[at] = 1
print("ready", flush=True)
sys.stdin.readline()
memory.close()
kept = [bytearray(100000) for i in range(50)]
print("closed", flush=True)
"""


class LongCallsTest(FaultTest):
    def test_a_long_munmap_loses_nothing(self):
        command = self.command(
            [self.script(PROGRAM)],
            ["--trace", "calls,pages", "--heap", "all", "--native"])
        program = subprocess.Popen(
            command, cwd=self.folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(program.communicate)
        self.assertEqual(program.stdout.readline(), b"ready\n")
        tracer = subprocess.Popen(
            ["strace", "-qq", "-o", "/dev/null", "-e", "trace=munmap", "-e",
             f"inject=munmap:delay_exit={CALL_US}:when=1", "-p",
             str(program.pid)], stderr=subprocess.PIPE)
        self.addCleanup(tracer.communicate)

        def attached():
            with open(f"/proc/{program.pid}/status") as status:
                return "TracerPid:\t0\n" not in status.read()
        if not wait_until(lambda: attached() or tracer.poll() is not None, 20):
            self.fail("strace does not attach")
        if tracer.poll() is not None:
            self.skipTest("strace: " + tracer.stderr.read().decode())
        stdout, stderr = program.communicate(b"\n")
        self.assertEqual((program.returncode, stdout), (0, b"closed\n"))
        wait_for_collector_to_end(self.output)
        file = RunFile(self.output)
        # It did last so long that anything else would have been given up.
        self.assertGreater(file.footer.end_us, CALL_US)
        if not file.footer.page_events:
            self.skipTest("no page events here: " + stderr.decode())
        self.assertEqual(file.footer.heap_events_lost, 0)
        self.assertEqual(file.footer.page_stacks_lost, 0)
        self.assert_whole(file)


if __name__ == "__main__":
    unittest.main()
