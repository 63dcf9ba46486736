"""A pool with one worker that leaks, however its workers were started: one
command names the worker and its line."""
import glob
import re
import subprocess
import unittest

from process_support import PREAMBLE, ProcessesTest
import support

WORKERS = 4
# The first worker keeps what each of its tasks makes; the others drop it.
POOL = f"""
import multiprocessing, os, time
kept = []
def leaks(n):
    kept.append(b"x" * (70_000 + n))
def drops(n):
    return len(b"x" * (70_000 + n))
def work(n):
    time.sleep(.002)
    first = multiprocessing.current_process()._identity[0] == 1
    (leaks if first else drops)(n)
    return os.getpid() if first else 0
if __name__ == "__main__":
    with multiprocessing.get_context("WAY").Pool({WORKERS}) as pool:
        pids = pool.map(work, range(2400), chunksize=1)
        pool.close()
        pool.join()
    print(max(pids))
"""
LEAKING_LINE = (PREAMBLE + POOL).splitlines().index("def leaks(n):") + 2


class LeakingWorkerTest(ProcessesTest):
    def family(self, files):
        """Also of programs that were started."""
        self.wait_for_collectors(glob.glob(self.here + "/*.pb"))

    def assert_named(self, way, *options):
        script = POOL.replace("WAY", way)
        self.run_family(script, "--trace", "calls,pages", *options, env={
            "PYMEMRUN_TRACE": "", "PYMEMRUN_NO_NATIVE": ""})
        told = subprocess.run(
            [support.PYMEMREPORT, "processes", self.here], check=True,
            text=True, stdout=subprocess.PIPE).stdout
        expected = self.result.stdout.strip(), str(LEAKING_LINE)
        grew = re.findall(r"^(\d+) grew all the time, by .*; most of it at "
                          r".*script\.py:(\d+)$", told, re.MULTILINE)
        self.assertEqual(grew, [expected], told)

    def test_forked(self):
        self.assert_named("fork")

    def test_spawned(self):
        self.assert_named("spawn", "--follow", "all")

    def test_of_a_fork_server(self):
        self.assert_named("forkserver", "--follow", "all")


if __name__ == "__main__":
    unittest.main()
