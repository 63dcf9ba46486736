#!/usr/bin/env python3
"""How long each thread held the GIL, waited for it and was without, against two accounts
of take_gil and drop_gil. The kernel's, by uprobes (gil_probes.c), needs root, and a CPython
whose library has these symbols: $PYMEMRUN_TEST_GIL_PYTHON, or one of pyenv's. The other is
of a CPython that notes the times itself (build_timed_python), in $PYMEMRUN_TEST_TIMED_PYTHON
or built in a folder beside the tests."""
import glob
import json
import os
import re
import struct
import subprocess
import unittest

import support

HERE = os.path.dirname(os.path.abspath(__file__))
POINTS = 2  # of a hundred, of a thread's time
# Who is inside for less did not wait: so long do the probes themselves take.
QUICK_NS = 10000

# Threads that compute; and beside one, two in C code of the standard library that
# lets go of the GIL, as numpy's does.
EXAMPLE_2 = r'''
import threading, time
def some_work():
    total = 0
    for i in range(4_000_000): total += i
    return total
threads = [threading.Thread(target=some_work) for n in range(2)]
for thread in threads: thread.start()
time.sleep(0.2)
for thread in threads: thread.join()
'''
EXAMPLE_3 = r'''
import hashlib, threading
data = bytes(32 << 20)
def some_computation():
    for i in range(16): hashlib.sha1(data)
threads = [threading.Thread(target=some_computation) for n in range(2)]
for thread in threads: thread.start()
total = 0
for i in range(4_000_000): total += i
for thread in threads: thread.join()
'''


def python():
    """(interpreter, library, its symbols' offsets in the file), or None."""
    given = os.environ.get("PYMEMRUN_TEST_GIL_PYTHON")
    folder = os.path.expanduser("~/.pyenv/versions/%d.%d.*/bin/python3" % support.VERSION)
    for path in [given] if given else sorted(glob.glob(folder)):
        libraries = glob.glob(os.path.join(os.path.dirname(path), "../lib/libpython*.so.1.0"))
        for library in [*map(os.path.realpath, libraries), os.path.realpath(path)]:
            symbols = subprocess.run(["nm", library], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True).stdout
            found = dict(re.findall(r"^([0-9a-f]+) t (take_gil|drop_gil)$", symbols, re.M))
            offsets = {name: offset_of(library, int(at, 16)) for at, name in found.items()}
            if len(offsets) == 2:
                return path, library, offsets
    return None


def offset_of(library, address):
    segments = subprocess.run(["readelf", "-lW", library], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    for offset, begin, size in re.findall(
            r"LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)", segments):
        at = address - int(begin, 16)
        if 0 <= at < int(size, 16):
            return int(offset, 16) + at
    raise ValueError(library)


class Account:
    """What the kernel saw of one thread from `begin_ns` on."""

    def __init__(self, begin_ns, is_held):
        self.state = "held" if is_held else "without"
        self.since = self.begin = begin_ns
        self.last = begin_ns
        self.spent = {"held": 0, "waiting": 0, "without": 0}

    def enter(self, state, now_ns):
        spent = max(0, now_ns - self.since)
        quick = self.state == "waiting" and spent < QUICK_NS
        self.spent["without" if quick else self.state] += spent
        self.since, self.state = max(now_ns, self.since), state

    def take(self, now_ns, what):
        # Inside of either function it is the GIL that keeps the thread.
        self.enter({"take": "waiting", "taken": "held", "drop": "waiting",
                    "dropped": "without"}[what], now_ns)
        self.last = now_ns


class GilOracleTest(support.ProgramTest):
    """Of an interpreter, with events [(time_ns, thread, what)] of somebody else."""
    python = None
    what = "?"

    def events_of(self, command):
        """Runs it, and returns (its result, events)."""
        raise NotImplementedError

    def run_both(self, text):
        path = os.path.join(self.folder, "run.pb")
        result, events = self.events_of(
            [support.PYMEMRUN, "--quiet", "--force", "-o", path, "--python", self.python, "--delivery", "preload",
             "--trace", "gil", "--heap", "off", self.write("program.py", text)])
        self.assertEqual(result.returncode, 0, result.stderr)
        return support.Run(path, result), sorted(events)

    def accounts(self, run, events):
        begin = run.header.start_monotonic_ns
        end = begin + run.footer.end_us * 1000
        main = run.header.pid
        found = {main: Account(begin, True)}
        for time_ns, thread, what in events:
            if not begin <= time_ns <= end:
                continue
            if thread not in found:
                found[thread] = Account(time_ns, False)
            found[thread].take(time_ns, what)
        found[main].enter("held", end)
        found[main].last = end
        return found

    def check(self, text):
        run, events = self.run_both(text)
        table = json.loads(run.report("gil", "--json", "--limit", "0"))
        expected = self.accounts(run, events)
        rows = {int(row["thread"].rpartition("#")[2]): row for row in table}
        self.assertEqual(set(rows), set(expected))
        for thread, account in expected.items():
            total = account.last - account.begin
            row = rows[thread]
            for name, cell in (("held", "held_s"), ("waiting", "waiting_s"),
                               ("without", "without_s")):
                found = 100e9 * row[cell] / total
                known = 100 * account.spent[name] / total
                print(f"{row['thread']}: {name} {found:.2f} %, {self.what} {known:.2f} %")
                self.assertLess(abs(found - known), POINTS, (name, row))


class Examples:
    def test_example_2(self):
        self.check(EXAMPLE_2)

    def test_example_3(self):
        self.check(EXAMPLE_3)


@unittest.skipUnless(os.geteuid() == 0, "uprobes need root")
class KernelsOracleTest(Examples, GilOracleTest):
    what = "kernel"

    @classmethod
    def setUpClass(cls):
        found = python()
        if found is None:
            raise unittest.SkipTest("no CPython with symbols is here")
        super().setUpClass()
        cls.python, cls.binary, cls.offsets = found
        cls.probes = os.path.join(cls.folder, "gil_probes")
        subprocess.run(["cc", "-O1", "-o", cls.probes, os.path.join(HERE, "gil_probes.c")],
                       check=True)

    def events_of(self, command):
        path = os.path.join(self.folder, "events")
        result = subprocess.run(
            [self.probes, self.binary, str(self.offsets["take_gil"]),
             str(self.offsets["drop_gil"]), path, *command], cwd=self.folder,
            stderr=subprocess.PIPE)
        if result.returncode == 77:
            self.skipTest(result.stderr.decode())
        with open(path, encoding="ascii") as lines:
            return result, [(int(time_ns), int(thread), what)
                            for time_ns, thread, what in map(str.split, lines)]


class TimedPythonsOracleTest(Examples, GilOracleTest):
    what = "CPython"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.python = os.environ.get("PYMEMRUN_TEST_TIMED_PYTHON") or subprocess.run(
            [os.path.join(HERE, "build_timed_python"), os.path.join(cls.folder, "timed")],
            check=True, text=True, stdout=subprocess.PIPE).stdout.strip()

    def events_of(self, command):
        path = os.path.join(self.folder, "times")
        result = subprocess.run(command, cwd=self.folder, stderr=subprocess.PIPE,
                                env=dict(os.environ, GIL_TIMES=path))
        with open(path, "rb") as file:
            entries = struct.iter_unpack("=QII", file.read())
        os.remove(path)
        names = ("take", "taken", "drop", "dropped")
        return result, [(time_ns, thread, names[what])
                        for time_ns, thread, what in entries if time_ns != 0]


if __name__ == "__main__":
    unittest.main()
