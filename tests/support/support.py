"""What the whole-program tests share: runs a script under pymemrun in a folder
of its own, and reads the run file by pymemcat, or by the .proto alone."""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import ordinary_user
from waiting import PATIENCE_S

# The interpreter embedded, which is the oracle.
PYTHON = os.environ.get("PYMEMRUN_TEST_PYTHON", "/usr/bin/python3")
*VERSION, FREE_THREADED = map(int, subprocess.run(
    [PYTHON, "-c", "import sys, sysconfig; print(*sys.version_info[:2],\n"
     "    sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"], check=True,
    stdout=subprocess.PIPE).stdout.split())
VERSION = tuple(VERSION)
# Whether the script's own profilers leave us every event (CPython 3.12 on).
PROFILERS_SHARE = VERSION >= (3, 12)
PYMEMRUN = os.environ.get("PYMEMRUN_BIN", "pymemrun")
PYMEMCAT = os.environ.get("PYMEMCAT_BIN", "pymemcat")
PYMEMREPORT = os.environ.get("PYMEMREPORT_BIN", "pymemreport")
PYMEMOBJ = os.environ.get("PYMEMOBJ_BIN", "pymemobj")
SOURCE = os.environ.get("PYMEMRUN_SOURCE_DIR",
                        os.path.dirname(os.path.dirname(os.path.dirname(
                            os.path.abspath(__file__)))))
PAGE = os.sysconf("SC_PAGESIZE")

# Numbers that pymemcat prints as text in CSV.
INTEGERS = ("event", "devent", "line", "rss_bytes", "drss_bytes", "pid")

_trace_pb2 = None


def protos():
    """The names of format/trace.proto and of the files that it imports."""
    return sorted(name for name in os.listdir(os.path.join(SOURCE, "format"))
                  if name.endswith(".proto"))


def trace_pb2():
    """The messages as protoc makes them from format/trace.proto."""
    global _trace_pb2
    if _trace_pb2 is None:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["protoc", "--python_out=" + folder, "-I",
                            os.path.join(SOURCE, "format"), *protos()],
                           check=True)
            sys.path.insert(0, folder)
            import trace_pb2 as module
            sys.path.remove(folder)
        _trace_pb2 = module
    return _trace_pb2


def delimited(data):
    """The messages of a stream, each after its length as a varint."""
    at = 0
    while at < len(data):
        size = shift = 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        yield data[at:at + size]
        at += size


def file_records(path):
    """The records of a run file, by zstd and protobuf alone."""
    data = subprocess.run(["zstd", "-dc", path], check=True,
                          stdout=subprocess.PIPE).stdout
    Record = trace_pb2().Record
    return (Record.FromString(message) for message in delimited(data))


class Run:
    """A program that has run under pymemrun, and its run file."""

    def __init__(self, path, result):
        self.path = path
        self.returncode = result.returncode
        self.stdout = result.stdout
        self.stderr = result.stderr
        self._records = None

    def cat(self, *options):
        return subprocess.run([PYMEMCAT, self.path, *options], check=True,
                              stdout=subprocess.PIPE).stdout

    def rows(self, *options):
        """Rows as dicts; `--raw-text`, so names are as the program had them."""
        text = self.cat("--csv", "--raw-text", *options)
        found = list(csv.DictReader(io.StringIO(
            text.decode("utf-8", "surrogatepass"), newline="")))
        found = [row for row in found if row["event"] != "" and
                 row["what"] not in ("MARK", "LOSS")]
        for row in found:
            for name in INTEGERS:
                row[name] = int(row[name] or 0)
        return found

    def json_rows(self, *options):
        return [json.loads(line)
                for line in self.cat("--jsonl", *options).splitlines()]

    def records(self, kind=None):
        """The file's records; with `kind`, only those."""
        if self._records is None:
            self._records = list(file_records(self.path))
        if kind is None:
            return self._records
        return [getattr(r, kind) for r in self._records
                if r.WhichOneof("kind") == kind]

    @property
    def header(self):
        return self.records("header")[0]

    @property
    def footer(self):
        return self.records("footer")[-1]

    def report(self, *arguments):
        return subprocess.run([PYMEMREPORT, *arguments, self.path], check=True,
                              stdout=subprocess.PIPE).stdout.decode()

    def threads(self):
        """{native id: [row...]} in the order of the rows."""
        found = {}
        for row in self.rows():
            found.setdefault(int(row["thread"].rpartition("#")[2]),
                             []).append(row)
        return found


def event_of(row):
    return row["what"], row["file"], row["line"], row["function"]


# What most tests are of, unless they say otherwise by options; with USUAL as
# `env` a test is of what `pymemrun` records by itself.
CALLS_ALONE = {"PYMEMRUN_TRACE": "calls", "PYMEMRUN_NO_NATIVE": "1"}
USUAL = dict.fromkeys(CALLS_ALONE, "")


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="pymemrun_")
        cls._runs = 0

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def pymemrun(self, *arguments, stdin="", status=0, env=None, timeout=PATIENCE_S,
                 preexec=None, ordinary=False):
        """Runs `pymemrun arguments` with a run file of its own. `preexec` is
        called in the child first. `ordinary`: an ordinary user runs it."""
        type(self)._runs += 1
        path = os.path.join(self.folder, f"run{self._runs}.pb")
        variables = {k: v for k, v in os.environ.items()
                     if not k.startswith(("PYTHON", "PYMEMRUN_TEST_PYTHON"))}
        variables.update(CALLS_ALONE | (env or {}))
        command = [PYMEMRUN, "-o", path, *arguments]
        options = {"env": variables, "preexec_fn": preexec}
        if ordinary:
            os.chmod(self.folder, 0o777)
            command, options = ordinary_user.as_ordinary(command, options)
        result = subprocess.run(
            command, cwd=self.folder, text=True, input=stdin, timeout=timeout,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        return Run(path, result)

    def run_script(self, text, *options, name="script.py", arguments=(),
                   **kwargs):
        """Runs the text as a script under pymemrun."""
        return self.pymemrun("--quiet", *options,
                             self.write(name, text), *arguments, **kwargs)

    def run_python(self, *arguments, stdin=""):
        """Runs python3 itself; returns what it prints."""
        variables = {k: v for k, v in os.environ.items()
                     if not k.startswith("PYTHON")}
        return subprocess.run([PYTHON, *arguments], cwd=self.folder, text=True,
                              input=stdin, check=True, env=variables,
                              stdout=subprocess.PIPE, timeout=PATIENCE_S).stdout

    def exact_sources(self):
        """The sources by which this machine knows RSS at every event."""
        run = self.run_script("pass", name="try.py")
        faults = run.header.rss_source == trace_pb2().FAULTS
        return ["faults"] * faults + ["rusage", "statm"]

    def need_counters(self):
        if "faults" not in self.exact_sources():
            self.skipTest("no page-fault counters here")

    def assert_nothing_lost(self, run, rows=None):
        """With everything logged: numbers without a gap, all accounted for."""
        rows = run.rows() if rows is None else rows
        footer = run.footer
        self.assertEqual(footer.dropped + footer.lost_on_write, 0)
        self.assertEqual([row["event"] for row in rows],
                         list(range(len(rows))))
        self.assertEqual(footer.rows, len(rows))
        self.assertEqual(footer.events, len(rows))


class PageEventsTest(ProgramTest):
    """Of runs with page events; skipped where the machine has none."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tried = subprocess.run(
            [PYMEMRUN, "--quiet", "-o", os.path.join(cls.folder, "try.pb"),
             "--trace", "pages", "-c", "pass"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        if tried.stderr:
            raise unittest.SkipTest(tried.stderr.strip())
