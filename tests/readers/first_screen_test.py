#!/usr/bin/env python3
"""The first screen of programs whose memory is known: most of it free, or a line that
grows, or lines that only seem to."""
import os
import re
import shlex
import subprocess
import unittest

import support

MIB = 1 << 20
# 1 of 40 rows stays, and with it the page that it is in.
FREE = """\
def rows(n):
    return [bytes(b'x') * 700 for _ in range(n)]  # pins
kept = rows(300_000)[::40]
part = bytearray(b'y') * 40_000_000  # part
"""
FREE_MIB, PART_MIB = 300_000 * 733 / MIB, 40e6 / MIB
# What happens to memory in a hundred steps, a line for each way.
STEPS = """\
import sys, time
way, kept = sys.argv[1], []
base = bytearray(b'b') * 20_000_000
begin = time.monotonic()
for i in range(100):
    if way == 'leaks': kept.append(bytearray(b'l') * 200_000)
    if way == 'late' and i > 60: kept.append(bytearray(b'l') * 400_000)
    if way == 'fills' and i < 50: kept.append(bytearray(b'l') * 1_000_000)
    if way == 'saws': kept.append(bytearray(b'l') * 400_000)
    if way == 'saws' and i % 10 == 9: kept.clear()
    if way == 'once' and i == 50: kept.append(bytearray(b'l') * 9_000_000)
    if way == 'flat': part = bytearray(b'l') * 400_000
    time.sleep(.03)
print((time.monotonic() - begin) / 100)
"""


# Holds 20 MB until it ends, if its argument comes as one word.
KEEPS = """\
import sys
assert sys.argv[1:] == ['a b']
kept = [bytes(b'x') * 1000 for _ in range(20_000)]
"""


def commands(text):
    """Those at the end of a screen, each on a line."""
    text = text.replace("\\\n", " ")
    return [line.split("  # ")[0].strip() for line in text.splitlines()
            if re.match(r"pymem(run|obj|report) ", line)]


def line_with(text, part):
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def mib(text):
    number, unit = text.split()
    return float(number) * {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}[unit]


class FirstScreenTest(support.ProgramTest):
    def screen(self, path):
        return subprocess.run([support.PYMEMREPORT, path], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def test_most_of_it_is_free(self):
        run = self.pymemrun("--quiet", self.write("free.py", FREE), env=support.USUAL)
        text = " ".join(self.screen(run.path).split())
        peak, free, share, place, held = re.search(
            r"Peak (\S+ \w+) at \S+ s\. (\S+ \w+) of it \((\d+) %\) is free memory that "
            r"allocators keep\. Among your lines, (\S+) holds (\S+ \w+) of it", text).groups()
        self.assertAlmostEqual(mib(free), FREE_MIB, delta=20, msg=text)
        self.assertAlmostEqual(int(share), 100 * mib(free) / mib(peak), delta=1.5)
        self.assertEqual(place, f"free.py:{line_with(FREE, '# part')}")
        self.assertAlmostEqual(mib(held), PART_MIB, delta=1, msg=text)
        # What would return it, and whose blocks keep it.
        left = re.search(r"Free at the end: (\S+ \w+) in malloc's heap "
                         r"\(ctypes\.CDLL\(None\)\.malloc_trim\(0\) ", text)
        self.assertAlmostEqual(mib(left[1]), FREE_MIB, delta=20, msg=text)
        self.assertIn(f"Live blocks of free.py:{line_with(FREE, '# pins')} keep these areas.", text)

    def test_which_lines_grow(self):
        script = self.write("steps.py", STEPS)
        ways = "leaks", "late", "fills", "saws", "once", "flat"
        programs = {way: subprocess.Popen(
            [support.PYMEMRUN, "--quiet", "-o", f"{self.folder}/{way}.pb", script, way],
            stdout=subprocess.PIPE, text=True) for way in ways}
        step_s = {way: float(program.communicate()[0]) for way, program in programs.items()}
        for way in ways:
            text = " ".join(self.screen(f"{self.folder}/{way}.pb").split())
            told = subprocess.run(
                [support.PYMEMREPORT, "processes", f"{self.folder}/{way}.pb"], check=True,
                text=True, stdout=subprocess.PIPE).stdout
            line = line_with(STEPS, f"way == '{way}'")
            growing = re.search(r"Growing at the end: steps\.py:(\d+), \+(\S+ \w+) "
                                r".*?in the last (\S+) s,", text)
            if way not in ("leaks", "late"):
                self.assertIsNone(growing, text)
                self.assertNotIn("grew all the time", told)
                continue
            self.assertEqual(int(growing[1]), line, text)
            # In a time of its choice.
            made_mib = ({"leaks": 200_000, "late": 400_000}[way] / MIB *
                        float(growing[3]) / step_s[way])
            self.assertGreater(float(growing[3]), 10 * step_s[way])
            self.assertAlmostEqual(mib(growing[2]), made_mib, delta=0.3 * made_mib, msg=text)
            if way == "leaks":
                self.assertRegex(told, rf"grew all the time.*most of it at .*steps\.py:{line}\n")

    def test_commands_run_it_again_as_it_was_run(self):
        script = self.write("keeps.py", KEEPS)
        run = self.pymemrun("--quiet", "--python", support.PYTHON, script, "a b",
                            env=support.USUAL | {"PYMEMRUN_HEAP": "all"})
        again = run.path.replace(".pb", "-again")
        record, show, *_ = commands(self.screen(run.path))
        self.assertEqual(shlex.split(record), [
            "pymemrun", "--python", support.PYTHON, "--heap", "all", "--objects", "exit",
            "--output", again + ".pb", "--force", script, "a b"])
        self.assertEqual(shlex.split(show), ["pymemobj", again + ".obj.pb", "suspects"])
        path = ":".join([os.path.dirname(support.PYMEMRUN), os.path.dirname(support.PYMEMOBJ),
                         os.environ["PATH"]])
        for command in record, show, record, show:
            printed = subprocess.run(
                ["bash", "-c", command], check=True, text=True, cwd=self.folder,
                env=os.environ | {"PATH": path}, stdout=subprocess.PIPE).stdout
        self.assertIn("sys.modules['__main__'].kept", printed)
        # Where a dump is, nothing need be recorded.
        self.assertEqual(commands(self.screen(again + ".pb"))[0], show)


if __name__ == "__main__":
    unittest.main()
