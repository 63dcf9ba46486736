"""Every report takes time and memory as its file does: five ways in which
programs grow, and one in which a hostile one lies (growing_run_builder.h).
The large test counts instructions, by valgrind. The small one takes CPU time."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from support import PYMEMCAT, PYMEMREPORT

GENERATE = os.path.join(os.path.dirname(PYMEMCAT), 'pymemrun-generate')
# The last is four times the one before it. Quadratic is 16 times the work.
SIZES = [int(size) for size in os.environ.get('PYMEMRUN_TEST_GROWING', '750,3000,12000').split(',')]
MOST_TIMES = 8
COUNTS = 'PYMEMRUN_TEST_GROWING' in os.environ
# Below, a start's cost decides.
LEAST_WORK = 20_000_000 if COUNTS else 0.03
LEAST_BYTES = (256 if COUNTS else 48) << 20
TRIES = 1 if COUNTS else 4

REPORTS = [['report'], ['summary'], ['threads'], ['top'], ['heap'], ['heap', '--by', 'task'],
           ['heap', '--stacks'], ['history'], ['resident'], ['resident', '--owner', 'heap'],
           ['tasks'], ['tasks', '--by', 'function'], ['timeline', '-o', os.devnull],
           ['flame', '-o', os.devnull], ['graph']]


class Cost:
    """`work`: instructions, or seconds of CPU."""
    def __init__(self, form, path):
        counter = ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null']
        process = subprocess.Popen([*(counter if COUNTS else []), PYMEMREPORT, form[0], path,
                                    *form[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        with process.stderr:
            self.error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        self.end = process.returncode = os.waitstatus_to_exitcode(status)
        self.work = usage.ru_utime + usage.ru_stime
        if COUNTS:
            self.work = int(re.search(rb'Collected : (\d+)', self.error)[1])
        self.bytes = usage.ru_maxrss << 10

    def exceeds(self, other):
        return (self.work > MOST_TIMES * max(other.work, LEAST_WORK),
                self.bytes > MOST_TIMES * max(other.bytes, LEAST_BYTES))


@unittest.skipIf(COUNTS and shutil.which('valgrind') is None, 'needs valgrind')
class GrowingRunsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='growing_')
        cls.names = subprocess.run([GENERATE, '--growing'], stdout=subprocess.PIPE,
                                   check=True).stdout.decode().split()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def file(self, name, size):
        path = os.path.join(self.folder.name, f'{name}{size}.pb')
        if not os.path.exists(path):
            with open(path, 'wb') as file:
                subprocess.run([GENERATE, '--growing', name, str(size)], stdout=file, check=True)
        return path

    def check(self, name, form):
        costs = []
        for size in SIZES:
            cost = Cost(form, self.file(name, size))
            self.assertIn(cost.end, (0, 2), cost.error)
            costs.append(cost)
        for i in range(1, len(SIZES)):
            # A busy machine makes what it runs take longer, too.
            for _ in range(TRIES):
                too_much = costs[i].exceeds(costs[i - 1])
                if not any(too_much):
                    break
                costs[i] = Cost(form, self.file(name, SIZES[i]))
            self.assertFalse(
                any(too_much),
                [(size, cost.work, cost.bytes) for size, cost in zip(SIZES, costs)])

    def test_four_times_the_file_is_some_four_times_the_work(self):
        self.assertEqual(len(self.names), 6)
        for name in self.names:
            for form in REPORTS:
                with self.subTest(f'{name}: {" ".join(form)}'):
                    self.check(name, form)


if __name__ == '__main__':
    unittest.main()
