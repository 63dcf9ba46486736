"""pymemreport processes: the peak of several processes together is that of the
sum of their proportional set sizes, as the kernel tells it."""
import json
import mmap
import os
import re
import subprocess
import unittest

from process_support import ProcessesTest, records_so_far
from waiting import wait_until

PROCESSES = 8
AT_ONCE = 4
# Each holds more than the one before, for a while. After each step all wait.
STEPPED = f"""
import os, sys
def block_of(mib):
    return bytearray(b"x") * (mib << 20)
class Child:
    def __init__(self, mib):
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        if os.fork() == 0:
            while (order := os.read(orders, 1)) != b".":
                block = block_of(mib) if order == b"+" else None
                os.write(answers, order)
            os._exit(0)
    def take(self, order):
        os.write(self.orders, order)
        os.read(self.answers, 1)
def step():
    print("done", flush=True)
    sys.stdin.readline()
print(os.getpid(), flush=True)
children = [Child(8 * (i + 1)) for i in range({PROCESSES})]
for i, child in enumerate(children):
    if i >= {AT_ONCE}:
        children[i - {AT_ONCE}].take(b"-")
    child.take(b"+")
    step()
for child in children:
    os.write(child.orders, b".")
for child in children:
    os.wait()
"""
# It shares a file's pages with whoever runs it, then has memory of its own, and
# only then a child.
SHARES = """
import mmap, os, sys
with open(sys.argv[1], "rb") as file:
    shared = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
shared[::4096]
print(os.getpid(), flush=True)
sys.stdin.readline()
own = bytearray(b"x") * (20 << 20)
print(open("/proc/self/smaps_rollup").read(), flush=True)
del own
if os.fork() == 0:
    sum(range(1000))
    os._exit(0)
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


class TogetherTest(ProcessesTest):
    def tells(self, pid, share):
        """Whether the process's file tells last of this share, or nearly."""
        name = "run.pb" if pid == self.pid else f"run.{pid}.pb"
        told = [record.process.pss_bytes
                for record in records_so_far(os.path.join(self.here, name))
                if record.process.pss_bytes]
        return bool(told) and abs(told[-1] - share) <= max(64 << 10, share >> 10)

    def run_beside_oracle(self):
        """The rows, and the highest sum that the kernel told of."""
        self.here = os.path.join(self.folder, "together")
        os.mkdir(self.here)
        sums = []
        with subprocess.Popen(
                [os.environ["PYMEMRUN_BIN"], "--quiet", "-o",
                 self.here + "/run.pb", self.write("stepped.py", STEPPED)],
                text=True, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE) as program:
            self.pid = int(program.stdout.readline())
            for _ in program.stdout:
                family = [self.pid, *children_of(self.pid)]
                # A child is traced from its first order on. A collector that
                # starts takes part in its pages for a moment.
                for pid in family[:2 + len(sums)]:
                    self.assertTrue(wait_until(
                        lambda: self.tells(pid, pss_bytes(pid))), pid)
                sums.append(sum(map(pss_bytes, family)))
                program.stdin.write("\n")
                program.stdin.flush()
        self.assertEqual(program.returncode, 0)
        self.assertEqual(len(sums), PROCESSES)
        self.family(PROCESSES)
        rows = json.loads(self.report("processes", "--json"))
        self.assertEqual(len(rows), PROCESSES + 1)
        return rows, max(sums)

    def test_the_peak_before_the_first_child(self):
        """Half of 64 MiB is somebody else's."""
        self.here = os.path.join(self.folder, "alone")
        os.mkdir(self.here)
        data = os.path.join(self.folder, "data")
        with open(data, "wb") as file:
            file.write(bytes(64 << 20))
        with open(data, "rb") as file, mmap.mmap(
                file.fileno(), 0, access=mmap.ACCESS_READ) as ours:
            ours[::4096]
            with subprocess.Popen(
                    [os.environ["PYMEMRUN_BIN"], "--quiet", "-o",
                     self.here + "/run.pb", self.write("shares.py", SHARES),
                     data], text=True, stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE) as program:
                self.pid = int(program.stdout.readline())
                self.assertTrue(wait_until(
                    lambda: self.tells(self.pid, pss_bytes(self.pid))))
                alone = pss_bytes(self.pid) + (20 << 20)  # shared as it is now
                said, _ = program.communicate("\n")
        self.assertEqual(program.returncode, 0)
        self.family(None)
        rss, peak = (int(re.search(rf"^{name}:\s+(\d+) kB", said,
                                   re.MULTILINE)[1]) << 10
                     for name in ("Rss", "Pss"))
        self.assertGreater(rss, peak + (30 << 20))
        parent = json.loads(self.report("processes", "--json"))[0]
        # Other programs share the interpreter's own files, now more, now fewer.
        self.assertGreater(parent["pss_peak_bytes"], min(peak, alone) - (2 << 20))
        self.assertLess(parent["pss_peak_bytes"], max(peak, alone) + (2 << 20))

    def report(self, *arguments):
        return subprocess.run(
            [os.environ["PYMEMREPORT_BIN"], *arguments, self.here],
            check=True, stdout=subprocess.PIPE, text=True).stdout

    def test_the_peak_together(self):
        rows, peak = self.run_beside_oracle()
        together = sum(row["share_bytes"] for row in rows)
        self.assertAlmostEqual(together, peak, delta=peak / 100)
        # Those of 5 to 8 hold at once: far from all eight.
        self.assertLess(together, 0.9 * sum(row["pss_peak_bytes"]
                                            for row in rows))
        self.assertLess(together, 0.8 * sum(row["peak_bytes"]
                                            for row in rows))


if __name__ == "__main__":
    unittest.main()
