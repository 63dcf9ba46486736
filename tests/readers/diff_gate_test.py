#!/usr/bin/env python3
"""`pymemreport diff --fail-if` as a gate: 2 % more of the exact heap peak is
always found, and a program that did not change never fails."""
import os
import subprocess
import unittest

import support

PROGRAM = os.path.join(support.SOURCE, "examples", "questions", "regression.py")
PLANTED = int(os.environ.get("PYMEMRUN_TEST_PLANTED", "1"))
UNCHANGED = int(os.environ.get("PYMEMRUN_TEST_UNCHANGED", "2"))
# What a user would choose who wants to know of 2 %.
LIMIT = "heap>+1%"


class DiffGateTest(support.ProgramTest):
    def run_version(self, number, text, *options):
        """In a folder of its own, with lines moved by its number."""
        path = self.write(f"checkout{number}/regression.py", "#\n" * number + text)
        return self.pymemrun("--quiet", *options, path, env=support.USUAL).path

    def diff(self, *arguments):
        return subprocess.run([support.PYMEMREPORT, "diff", *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def check(self, *options):
        with open(PROGRAM) as file:
            text = file.read()
        old = self.run_version(0, text, *options)
        peak = self.peak(old)
        planted = text + f"\nplanted = bytes({peak // 50})\n"
        found, alarms, spread = 0, 0, 0
        for number in range(UNCHANGED):
            new = self.run_version(number, text, *options)
            done = self.diff(old, new, "--fail-if", LIMIT)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            alarms += done.returncode == 3
            spread = max(spread, abs(self.peak(new) / peak - 1))
        for number in range(PLANTED):
            new = self.run_version(number, planted, *options)
            done = self.diff(old, new, "--fail-if", LIMIT)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            found += done.returncode == 3
            row = done.stdout.split("Live bytes at their peak\n")[1].splitlines()[1]
            line = number + planted[:planted.index("planted =")].count("\n") + 1
            self.assertEqual(row.split()[0], str(line), done.stdout)
        print(f"{' '.join(options)}: {LIMIT} found {found} of {PLANTED} planted, "
              f"{alarms} false alarms in {UNCHANGED}; unchanged peaks differed by "
              f"at most {100 * spread:.4f} % of {peak} bytes")
        self.assertEqual((found, alarms), (PLANTED, 0))

    def peak(self, path):
        lines = self.diff(path, path, "--format", "bmf").stdout.splitlines()
        heap, = (line for line in lines if '"heap":' in line)
        return int(heap.split('"value": ')[1].rstrip("},"))

    def test_of_pythons_allocations(self):
        self.check("--trace", "none", "--heap", "all", "--no-native")

    def test_of_all_allocations(self):
        self.check("--full")


if __name__ == "__main__":
    unittest.main()
