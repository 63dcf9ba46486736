"""Preloaded libraries run before pymemrun does, and call what it interposes:
from constructors, from resolvers before anything is relocated, from inside of
dlsym. Each program does under pymemrun what it does under python3, and is
traced."""
import csv
import io
import os
import re
import shutil
import subprocess
import unittest

import support
from waiting import PATIENCE_S

EARLY_CALLS = os.environ["PYMEMRUN_EARLY_CALLS"]
OWN_MALLOC = os.environ["PYMEMRUN_OWN_MALLOC"]
PROGRAM = """
import ctypes, os, subprocess, sys, threading
def work(n): return [bytearray(5000) for _ in range(n)]
kept = work(200)
thread = threading.Thread(target=work, args=(50,))
thread.start(); thread.join()
print(len(kept), subprocess.run(["true"]).returncode, os.system("exit 3"))
print(max(map(len, kept)), end="")
"""
CALLS = 2  # of work()


def library_of_gcc(name):
    """The path of a library that gcc has; a bare name where it has none."""
    return subprocess.run(["gcc", "-print-file-name=" + name], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


class PreloadedTest(support.ProgramTest):
    def both(self, library, *arguments, **env):
        """What python3 and pymemrun do with the library preloaded."""
        env = {**os.environ, "LD_PRELOAD": library, **env}
        plain = subprocess.run([support.PYTHON, *arguments], env=env,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, timeout=PATIENCE_S, cwd=self.folder)
        return plain, self.pymemrun("--quiet", *arguments, env=env)

    def assert_traced(self, run):
        """The run file is whole, its times are those of a short run."""
        self.assert_nothing_lost(run)
        calls = [row for row in run.rows()
                 if (row["what"], row["function"]) == ("CALL", "work")]
        self.assertEqual(len(calls), CALLS)
        times = [float(row["clock_s"]) for row in run.rows()]
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[0], 0)
        self.assertLess(times[-1], 60)

    def under(self, *tool, version=True):
        """The program under a tool, plain and traced."""
        if shutil.which(tool[0]) is None:
            self.skipTest("no " + tool[0])
        script = self.write("program.py", PROGRAM)
        plain = self.outcome(*tool, support.PYTHON, script)
        if plain.returncode != 0:
            self.skipTest("python3 does not run under %s: %s" %
                          (tool[0], plain.stderr))
        if version:
            found = self.outcome(*tool, support.PYMEMRUN, "--version")
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertIn("CPython", found.stdout)
        path = os.path.join(self.folder, "under.pb")
        found = self.outcome(*tool, support.PYMEMRUN, "--quiet", "--force", "-o",
                             path, "--min-drss", "0", script)
        self.assertEqual(found.returncode, 0, found.stderr)
        return plain, found, support.Run(path, found)

    def outcome(self, *command):
        return subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S,
                              cwd=self.folder)

    def check(self, *tool):
        plain, found, run = self.under(*tool)
        self.assertEqual(plain.stdout, found.stdout)
        self.assertEqual(plain.stderr, found.stderr)
        self.assert_traced(run)

    def test_every_interposed_function_called_early(self):
        plain, found = self.both(EARLY_CALLS, "-c", "print('ran')")
        self.assertEqual(plain.returncode, 0, plain.stderr)
        with open(support.SOURCE + "/launcher/interposed_symbols.txt") as file:
            names = {line.split("#")[0].strip() for line in file} - {""}
        called = set(re.findall(r"^constructor: (\w+) ", plain.stdout, re.M))
        self.assertEqual(called, names)
        early = set(re.findall(r"^resolver: (\w+) ", plain.stdout, re.M))
        self.assertGreaterEqual(len(early), len(names) - 5)
        self.assertEqual(plain.stdout, found.stdout)
        self.assertEqual(plain.stderr, found.stderr)

    def test_every_interposed_function_called_early_with_all_there_is(self):
        plain, _ = self.both(EARLY_CALLS, "-c", "print('ran')")
        found = self.pymemrun("--quiet", "--trace", "calls,pages", "--heap", "all",
                              "--native", "-c", "print('ran')",
                              env={"LD_PRELOAD": EARLY_CALLS})
        self.assertEqual(plain.stdout, found.stdout)

    def test_a_preloaded_allocator_wins(self):
        script = self.write("program.py", PROGRAM)
        counts = {}
        for name, arguments in (("python3", [support.PYTHON, script]), (
                "pymemrun", [support.PYMEMRUN, "--quiet", "--force", "-o", "own.pb",
                             "--min-drss", "0", "--native", script])):
            done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "LD_PRELOAD": OWN_MALLOC},
                                  cwd=self.folder, timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 0)
            *output, last = done.stdout.splitlines()
            # What the program printed last has no end of line.
            printed, allocated, freed, strange = re.fullmatch(
                r"(\d+)allocated (\d+) freed (\d+) strange (\d+)",
                last).groups()
            counts[name] = output, printed, int(strange)
            self.assertGreater(int(allocated), 1000)
            self.assertGreater(int(freed), 1000)
        self.assertEqual(counts["python3"], counts["pymemrun"])
        self.assertEqual(counts["pymemrun"][2], 0)
        self.assert_traced(support.Run(self.folder + "/own.pb", done))

    def test_fakeroot(self):
        self.check("fakeroot")

    def test_faketime(self):
        self.check("faketime", "2020-01-02 03:04:05")

    def test_page_events_under_faketime(self):
        # The kernel's samples have the true time, and need theirs.
        path = os.path.join(self.folder, "pages.pb")
        command = [support.PYMEMRUN, "--quiet", "--force", "-o", path, "--trace",
                   "pages", self.write("pages.py", "x = b'x' * (30 << 20)")]
        if shutil.which("faketime") is None:
            self.skipTest("no faketime")
        if self.outcome(*command).stderr:
            self.skipTest("no page events here")
        found = self.outcome("faketime", "2020-01-02 03:04:05", *command)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        report = support.Run(path, found).report("resident", "--csv")
        bytes_of = {row["function"]: int(row["resident_bytes"])
                    for row in csv.DictReader(io.StringIO(report))}
        self.assertGreater(bytes_of["<module>"], 29 << 20)

    def test_heaptrack(self):
        data = os.path.join(self.folder, "heaptrack")
        _, found, run = self.under("heaptrack", "-o", data)
        # heaptrack's own words are around the program's.
        self.assertIn("200 0 768\n5000", found.stdout)
        self.assert_traced(run)

    def sanitizer(self, library, *options):
        path = library_of_gcc(library)
        if not os.path.exists(path):
            self.skipTest("no " + library)
        self.check("env", "LD_PRELOAD=" + path, *options)

    def test_address_sanitizer(self):
        self.sanitizer("libasan.so", "ASAN_OPTIONS=detect_leaks=0")

    def test_a_leak_checker_finds_nothing_of_ours(self):
        path = library_of_gcc("libasan.so")
        if not os.path.exists(path):
            self.skipTest("no libasan.so")
        program = ["-c", "print(2)"]
        plain, ours = (
            self.outcome("env", "LD_PRELOAD=" + path, *command, *program)
            for command in ([support.PYTHON],
                            [support.PYMEMRUN, "--quiet", "--force", "-o",
                             os.path.join(self.folder, "own.pb"), "--"]))
        if plain.returncode != 0:
            self.skipTest("CPython's own memory counts as leaked")
        self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (0, "2\n", ""))

    def test_thread_sanitizer(self):
        self.sanitizer("libtsan.so")


if __name__ == "__main__":
    unittest.main()
