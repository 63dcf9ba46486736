"""What the tests of child processes share: the run files that a program and its
children leave in a folder."""
import glob
import os
import subprocess
import unittest

from google.protobuf.message import DecodeError

import heap_decoder
import support
from fault_support import collectors
from waiting import wait_until

# A child says its number, and which function its file is to name.
PREAMBLE = """import os, sys, threading
def in_parent():
    return [bytearray(5000) for _ in range(100)]
def in_child():
    return [bytearray(5000) for _ in range(100)]
"""
EVERYTHING = ("--min-drss", "0")


def records_so_far(path):
    """The records of a run file that is still written, or not there yet."""
    if not os.path.exists(path):
        return
    data = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    Record = support.trace_pb2().Record
    for message in support.delimited(data):
        try:
            yield Record.FromString(message)
        except DecodeError:
            return  # cut off


class ProcessRun(support.Run):
    """One process's run file."""

    def __init__(self, path):
        self.path = path
        self._records = None

    def functions(self):
        """Names of the Python functions with rows or stacks."""
        return {code.name.decode() for code in self.records("code")}

    def heap(self):
        return heap_decoder.HeapRun(self).events


class ProcessesTest(support.ProgramTest):
    """Runs programs in a folder each, with all their children's run files."""

    def run_family(self, text, *options, status=0, files=None, output="run.pb",
                   **kwargs):
        """Runs the text; returns the program's own run, and its children's by
        their numbers. `files`: how many children are to have one."""
        type(self)._runs += 1
        folder = os.path.join(self.folder, f"family{self._runs}")
        os.mkdir(folder)
        if kwargs.get("ordinary"):
            os.chmod(folder, 0o777)
        script = os.path.join(folder, "script.py")
        with open(script, "w") as file:
            file.write(PREAMBLE + text)
        self.result = self.pymemrun(
            "--quiet", "-o", os.path.join(folder, output), *options, script,
            status=status, **kwargs)
        self.here = folder
        return self.family(files)

    def wait_for_collectors(self, paths):
        self.assertTrue(wait_until(
            lambda: not any(collectors(path) for path in paths)))

    def family(self, files):
        """Once all have ended. `files`: as run_family()."""
        paths = glob.glob(self.here + "/*.pb")
        self.wait_for_collectors(paths)
        runs = [ProcessRun(path) for path in paths]
        for run in runs:
            self.assertEqual(len(run.records("header")), 1, run.path)
            self.assertEqual(len(run.records("footer")), 1, run.path)
        first = [run for run in runs if not run.header.forked]
        self.assertEqual(len(first), 1, paths)
        children = {run.header.pid: run for run in runs if run.header.forked}
        if files is not None:
            self.assertEqual(len(children), files, paths)
        return first[0], children


main = unittest.main
