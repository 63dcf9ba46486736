"""Whatever a run file says, each command ends soon, in little memory, and writes
no more than a file of that size is worth: for each way in which few bytes could
become much work (readers/testing/hostile_run_builder.h), in every form of every command."""
import os
import resource
import subprocess
import tempfile
import unittest

from support import PYMEMCAT, PYMEMREPORT

GENERATE = os.path.join(os.path.dirname(PYMEMCAT), 'pymemrun-generate')
# What takes more is stopped. In this time a reader does what it does here some
# twenty times; what was quadratic took hours, or gigabytes.
SECONDS = 30
ADDRESS_BYTES = 3 << 30
MEMORY_BYTES = 640 << 20
OUTPUT_BYTES = 640 << 20
FEW, MANY = 2500, 20000

CAT = [[form] for form in ('--text', '--csv', '--jsonl', '--raw', '--summary')]
PAGES = [['resident', *options] for options in (
    ['--limit', '0'], ['--by', 'mapping'], ['--by', 'thread', '--stacks'], ['--json'],
    ['--stacks', '--limit', '0'], ['--collapsed'], ['--at', 'exit'], ['--at', 'heap-peak'],
    ['--by', 'task'],
    ['--owner', 'heap', '--by', 'task'], ['--owner', 'heap'], ['--sort', 'file', '--exclude', '*x*'],
    ['--owner', 'heap', '--stacks'], ['--by', 'mapping', '--thread', 'M*'])]
PAGES += [['timeline'], ['timeline', '--format', 'csv'], ['timeline', '--by', 'heap'],
          ['timeline', '--threads']]
HEAP = [['heap', *options] for options in (
    ['--limit', '0'], ['--leaks'], ['--by', 'stack'], ['--by', 'task'], ['--by', 'thread', '--csv'],
    ['--stacks', '--limit', '0'], ['--stacks', '--by', 'thread'], ['--collapsed'],
    ['--temporary', '9'], ['--reserved', '--csv'], ['--at', '0.001', '--to', 'exit', '--json'],
    ['--at', '50%'],
    ['--sort', 'blocks', '--limit', '3'], ['--file', '*b.py', '--thread', 'M*'])]
HEAP += [['diff', *options] for options in (
    ['--limit', '0'], ['--by', 'function', '--json'], ['--stacks', '--limit', '0'],
    ['--at', '50%', '--by', 'thread'])]
HEAP += [['history', *options] for options in (
    [], ['--csv', '--by', 'stack'], ['--svg'], ['--interval', '10ms', '--to', '100'],
    ['--thread', 'M*', '--sort', 'growth', '--exclude', '*x*'])]
HEAP += [['snapshot', *options] for options in ([], ['--json'], ['--collapsed'], ['--csv'])]
HEAP += [['tree'], ['tree', '--limit', '0', '--inverted']]
HEAP += [['flame'], ['flame', '--inverted'], ['flame', '--by-thread'], ['stats', '--json']]
HEAP += [['export', '--format', form] for form in ('pprof', 'collapsed', 'speedscope')]
ROWS = [['report'], ['top', '--limit', '0'], ['top', '--by', 'function', '--json'], ['summary'],
        ['top', '--thread', '*'], ['threads', '--limit', '0'],
        ['top', '--by', 'thread', '--thread-attribution', 'caused'],
        ['top', '--by', 'task', '--limit', '0'],
        ['top', '--by', 'task', '--thread-attribution', 'observed'],
        ['threads', '--thread', 'M*', '--thread-attribution', 'observed'], ['graph'],
        ['graph', '--csv', '--top', '24', '--from', '0.0001'], ['watch', '--once'],
        ['gil'], ['gil', '--rows', 'waits', '--json'], ['offgil'], ['offgil', '--by', 'both'],
        ['offgil', '--by', 'holder', '--collapsed'], ['offgil', '--svg'],
        ['states'], ['states', '--json'], ['tasks'],
        ['tasks', '--by', 'function', '--json', '--limit', '0'], ['processes', '--json'], ['unshared', '--limit', '0'], ['unshared', '--csv'],
        ['peaks', '--min', '0', '--min-time', '0', '--min-value', '0'], ['peaks', '--json'],
        ['calls', '--peak', '1', '--min', '0', '--limit', '0'],
        ['calls', '--event', '9', '--csv'], ['flow', '--limit', '0'],
        ['export', '--format', 'perfetto', '--min-duration', '0'],
        ['export', '--format', 'chrome', '--min-duration', '0']]
CAT += [['--csv', '--columns', 'event,stack'],
        ['--jsonl', '--records', 'heap', '--columns', 'address,stack'],
        ['--text', '--records', 'pages', '--columns', 'page_address,stack'],
        ['--csv', '--records', 'calls,marks,pages,heap']]
# Damage is said by 1, a question that the file cannot answer by 2.
ENDS = (0, 1, 2)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))


class Cost:
    def __init__(self, command):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=limit,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.output = 0
        with process.stdout:
            while chunk := process.stdout.read(1 << 20):
                self.output += len(chunk)
                if self.output > OUTPUT_BYTES:
                    break
        _, status, usage = os.wait4(process.pid, 0)
        self.end = process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss << 10


class HostileRunsTest(unittest.TestCase):
    def cost(self, name, path, command, *rest):
        paths = [path] * (2 if rest[0] == 'diff' else 1)
        cost = Cost([command, rest[0], *paths, *rest[1:]])
        what = f'{name}: {os.path.basename(command)} {" ".join(rest)}'
        self.assertIn(cost.end, ENDS, what)
        self.assertLess(cost.output, OUTPUT_BYTES, what)
        self.assertLess(cost.memory, MEMORY_BYTES, what)
        return cost, what

    def check(self, name, count):
        path = os.path.join(self.folder.name, name)
        with open(path, 'wb') as file:
            subprocess.run([GENERATE, '--hostile', name, str(count)], stdout=file, check=True)
        costs = {}
        for forms, command in ((PAGES + HEAP + ROWS, PYMEMREPORT), (CAT, PYMEMCAT)):
            for form in forms:
                cost, what = self.cost(name, path, command, *form)
                costs[what] = cost
        return costs

    @classmethod
    def setUpClass(cls):
        cls.names = subprocess.run([GENERATE, '--hostile'], stdout=subprocess.PIPE,
                                   check=True).stdout.decode().split()
        cls.folder = tempfile.TemporaryDirectory(prefix='hostile_')

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_small_file_is_little_work(self):
        self.assertGreater(len(self.names), 20)
        for name in self.names:
            with self.subTest(name):
                self.check(name, FEW)


class GrowthTest(HostileRunsTest):
    test_a_small_file_is_little_work = None

    def test_eight_times_the_file_is_some_eight_times_the_work(self):
        for name in self.names:
            with self.subTest(name):
                few = self.check(name, FEW)
                for what, cost in self.check(name, MANY).items():
                    # Quadratic is 64 times as much.
                    self.assertLess(cost.seconds, 20 * max(few[what].seconds, 0.1), what)
                    self.assertLess(cost.output, 20 * max(few[what].output, 1 << 20), what)


if __name__ == '__main__':
    unittest.main()
