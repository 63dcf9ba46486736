"""pymemreport processes: the peak of several processes together is that of the
sum of their proportional set sizes, as the kernel tells it every 10 ms."""
import json
import os
import re
import subprocess
import threading
import unittest

from process_support import ProcessesTest

PROCESSES = 8
PERIOD_S = 0.01

# Each holds more than the one before for a while. Four hold at a time.
STAGGERED = f"""
import time
def hold(mib):
    block = bytearray(b"x") * (mib << 20)
    time.sleep(1.0)
    return len(block)
print(os.getpid(), flush=True)
sys.stdin.readline()
for i in range({PROCESSES}):
    if os.fork() == 0:
        time.sleep(0.3 * i)
        hold(8 * (i + 1))
        time.sleep(0.2 * {PROCESSES})
        os._exit(0)
for i in range({PROCESSES}):
    os.wait()
"""


def pss_bytes(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return int(re.search(r"^Pss:\s+(\d+) kB", file.read(),
                                 re.MULTILINE)[1]) << 10
    except (OSError, TypeError):  # it has ended
        return 0


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


class Oracle(threading.Thread):
    """Sums up what the kernel says of a process and its children."""

    def __init__(self, pid):
        super().__init__()
        self.pid = pid
        self.sums = []
        self.done = threading.Event()

    def run(self):
        while not self.done.wait(PERIOD_S):
            self.sums.append(sum(
                pss_bytes(pid) for pid in [self.pid, *children_of(self.pid)]))


class TogetherTest(ProcessesTest):
    def run_beside_oracle(self):
        self.here = os.path.join(self.folder, "together")
        os.mkdir(self.here)
        script = self.write("staggered.py", "import os, sys\n" + STAGGERED)
        with subprocess.Popen(
                [os.environ["PYMEMRUN_BIN"], "--quiet", "-o",
                 self.here + "/run.pb", script], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            oracle = Oracle(int(program.stdout.readline()))
            oracle.start()
            program.stdin.write("\n")
            program.stdin.close()
            self.assertEqual(program.wait(timeout=120), 0)
            oracle.done.set()
            oracle.join()
        self.family(PROCESSES)
        rows = json.loads(self.report("processes", "--json"))
        self.assertEqual(len(rows), PROCESSES + 1)
        return rows, oracle

    def report(self, *arguments):
        return subprocess.run(
            [os.environ["PYMEMREPORT_BIN"], *arguments, self.here],
            check=True, stdout=subprocess.PIPE, text=True).stdout

    def test_the_peak_together(self):
        rows, oracle = self.run_beside_oracle()
        peak = max(oracle.sums)
        together = sum(row["share_bytes"] for row in rows)
        self.assertAlmostEqual(together, peak, delta=peak / 100)
        # Those of 5 to 8 hold at once: far from all eight.
        self.assertLess(together, 0.8 * sum(row["pss_peak_bytes"]
                                            for row in rows))
        self.assertLess(together, 0.8 * sum(row["peak_bytes"]
                                            for row in rows))


if __name__ == "__main__":
    unittest.main()
