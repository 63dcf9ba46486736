"""What the tests of faults share: running programs plain and traced, reading
the run file by its own description, and finding the collector of a run."""
import collections
import glob
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import ordinary_user
from ordinary_user import NOBODY, can_be_nobody, is_root  # noqa: F401  for tests
from support import VERSION
from waiting import PATIENCE_S, wait_until

PYTHON = os.environ.get("PYMEMRUN_TEST_PYTHON", "/usr/bin/python3")
PYMEMRUN = os.environ.get("PYMEMRUN_BIN", "pymemrun")
PYMEMCAT = os.environ.get("PYMEMCAT_BIN", "pymemcat")
PYMEMREPORT = os.environ.get("PYMEMREPORT_BIN", "pymemreport")
SOURCE = os.environ.get("PYMEMRUN_SOURCE_DIR",
                        os.path.dirname(os.path.dirname(os.path.dirname(
                            os.path.abspath(__file__)))))

# Address space for an interpreter and the tracer, and hardly more.
LITTLE_KILOBYTES = 20000 if VERSION < (3, 12) else 26000

Outcome = collections.namedtuple("Outcome", "returncode stdout stderr seconds")

def can_unshare(*flags):
    return subprocess.run(["unshare", *flags, "true"],
                          stderr=subprocess.DEVNULL).returncode == 0


def run(arguments, timeout=PATIENCE_S, ordinary=False, **kwargs):
    """The outcome of a command, of an ordinary user if asked for; both of its
    streams are kept."""
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    if ordinary:
        arguments, kwargs = ordinary_user.as_ordinary(arguments, kwargs)
    start = time.monotonic()
    done = subprocess.run(arguments, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, **kwargs)
    return Outcome(done.returncode, done.stdout, done.stderr,
                   time.monotonic() - start)


def collectors(path):
    """Process ids of the collectors that write the run file `path`."""
    found = []
    for process in glob.glob("/proc/[0-9]*"):
        try:
            if (os.readlink(process + "/exe").endswith("pymemrun-collector")
                    and os.readlink(process + "/fd/4") == path):
                found.append(int(process[6:]))
        except OSError:
            pass
    return found


def wait_for_collector_to_end(path):
    if not wait_until(lambda: not collectors(path)):
        raise AssertionError("the collector of " + path + " does not end")


_trace_pb2 = None


def trace_pb2():
    """The run file's messages, made from its description."""
    global _trace_pb2
    if _trace_pb2 is None:
        folder = tempfile.mkdtemp(prefix="trace_pb2_")
        subprocess.run(["protoc", "--python_out=" + folder, "-I",
                        SOURCE + "/format",
                        *glob.glob(SOURCE + "/format/*.proto")],
                       check=True)
        sys.path.insert(0, folder)
        import trace_pb2 as module
        _trace_pb2 = module
        shutil.rmtree(folder)
    return _trace_pb2


def _records(data):
    module = trace_pb2()
    at = 0
    while at < len(data):
        size = shift = 0
        while True:
            byte, at = data[at], at + 1
            size |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        yield module.Record.FromString(data[at:at + size])
        at += size


class RunFile:
    """All that the readers can read of a run file. `rows_of_thread` counts by
    thread id, rows_named() by the name of the function."""

    def __init__(self, path):
        result = run([PYMEMCAT, path, "--raw"])
        self.returncode = result.returncode
        self.messages = result.stderr.decode()
        self.header = self.footer = None
        self.headers = self.footers = 0
        self.rows = self.context_rows = 0
        self.next_number = 0
        self.unordered = 0
        self.lost = 0  # as records among the rows say
        self.rows_of_thread = collections.Counter()
        self.names = set()
        self._site_rows = collections.Counter()
        self._definitions = {"code": {}, "function": {}, "site": {}}
        for record in _records(result.stdout):
            self._take(record)

    def _take(self, record):
        kind = record.WhichOneof("kind")
        if kind == "header":
            self.header, self.headers = record.header, self.headers + 1
        elif kind == "footer":
            self.footer, self.footers = record.footer, self.footers + 1
        elif kind in self._definitions:
            definition = getattr(record, kind)
            self._definitions[kind][definition.id] = definition
            if kind != "site":
                name = (definition.name if kind == "code"
                        else definition.qualname)
                self.names.add(name.decode("utf-8", "replace"))
        elif kind == "loss":
            self.lost += record.loss.rows
        elif kind == "events":
            self._take_rows(record.events)

    def _take_rows(self, batch):
        count = len(batch.site)
        if not count:
            return
        if batch.first_number < self.next_number:
            self.unordered += 1
        self.rows += count
        self.context_rows += len(batch.context_at)
        self.next_number = (batch.first_number + count +
                            sum(batch.number_skip))
        at, thread = 0, batch.first_thread
        for distance, follows in zip(batch.thread_at, batch.thread):
            self.rows_of_thread[thread] += distance
            at, thread = at + distance, follows
        self.rows_of_thread[thread] += count - at
        for site, times in collections.Counter(batch.site).items():
            self._site_rows[self._name(site)] += times

    def _name(self, site_id):
        site = self._definitions["site"].get(site_id)
        if site is None:
            return "?"
        if site.function:
            name = self._definitions["function"][site.function].qualname
        else:
            name = self._definitions["code"][site.code].name
        return name.decode("utf-8", "replace")

    def rows_named(self, name):
        return self._site_rows[name]

    def end(self):
        """How the footer says the run ended: ("EXIT", 3), or None."""
        if self.footer is None:
            return None
        name = trace_pb2().Footer.End.Name(self.footer.end)
        return name, self.footer.exit_status


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


# A child's events would bring this name into the file. What CPython from 3.12 on
# says of a fork() beside threads names the process.
CHILD = """
import os, sys, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
def only_in_a_child(n=3):
    if n: return only_in_a_child(n - 1)
    return len([str(i) for i in range(50)])
def counted(): pass
def traced_still():
    for i in range(1000): counted()
"""


class FaultTest(unittest.TestCase):
    """A test with a folder of its own, which nobody may enter as well."""

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="fault_"))
        os.chmod(self.folder, 0o777)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self._runs = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def script(self, text, name="s.py"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def new_run(self):
        """A path for one more run file; also kept as self.output."""
        self._runs += 1
        self.output = self.path(f"run{self._runs}.pb")
        return self.output

    def command(self, arguments, own=(), output=None):
        return [PYMEMRUN, "--min-drss", "0", "-o", output or self.new_run(),
                *own, "--", *arguments]

    def traced(self, arguments, own=(), **kwargs):
        """The outcome of a traced run, quiet, its file whole."""
        kwargs.setdefault("cwd", self.folder)
        result = run(self.command(arguments, ["--quiet", *own]), **kwargs)
        wait_for_collector_to_end(self.output)
        return result

    def plain(self, arguments, **kwargs):
        kwargs.setdefault("cwd", self.folder)
        return run([PYTHON, *arguments], **kwargs)

    def run_file(self, path=None):
        return RunFile(path or self.output)

    def assert_same(self, plain, traced):
        """Output, exit code and death by signal are those of python3."""
        self.assertEqual(tuple(plain[:3]), tuple(traced[:3]))

    def same(self, arguments, own=(), **kwargs):
        """Runs both ways, compares them and returns the traced outcome."""
        expected = self.plain(arguments, **kwargs)
        found = self.traced(arguments, own, **kwargs)
        self.assert_same(expected, found)
        return found

    def assert_whole(self, file, rows=None):
        """Every event is a row of the file, once, in order."""
        self.assertEqual(file.messages, "")
        self.assertEqual((file.headers, file.footers), (1, 1))
        self.assertEqual(file.unordered, 0)
        self.assertEqual(file.footer.dropped, 0)
        self.assertEqual(file.footer.lost_on_write, 0)
        self.assertEqual(file.rows, file.footer.events)
        self.assertEqual(file.next_number, file.footer.events)
        self.assertEqual(file.footer.rows, file.rows)
        if rows is not None:
            self.assertEqual(file.rows, rows)
