#!/usr/bin/env python3
"""The wheel that scripts/wheel makes, in clean environments of all Pythons here.

PYMEMRUN_WHEEL names one that is there already. Skipped where pip has no index.
"""
import os
import re
import sys
import unittest

import support
import wheel_support
from wheel_support import run

sys.path.insert(0, os.path.join(support.SOURCE, "tests", "tree"))
import markdown_text

MOST_BYTES = 15_000_000
MOST_INSTALL_S = 20
USES = """\
import sys
import pymemrun
pymemrun.mark("here")
print(sys.version_info[:2], sys.prefix, pymemrun.is_tracing())
"""
READS = """\
import pymemrun, pymemrun_reader, sys
with pymemrun_reader.open(sys.argv[1]) as run:
    print(pymemrun.is_tracing(), run.torn, any(run.events("calls")))
"""
FINDS = "import pymemrun.jupyter.tools as tools; print(tools.find('pymemreport'))"


class WheelTest(wheel_support.WheelTest):
    def test_it_is_one_for_all_and_not_large(self):
        self.assertRegex(os.path.basename(self.wheel),
                         r"^pymemrun-[\d.]+-py3-none-manylinux_2_\d+_x86_64\.whl$")
        self.assertLess(os.path.getsize(self.wheel), MOST_BYTES)

    def test_auditwheel_finds_nothing_else_to_want(self):
        if self.says is None:
            self.skipTest("the wheel was made before")
        tag = re.search(r"manylinux_2_\d+_x86_64", os.path.basename(self.wheel))[0]
        self.assertIn(f'platform tag: "{tag}"', " ".join(self.says.split()))

    def test_it_installs_and_works_everywhere(self):
        found = [python for python in wheel_support.pythons()
                 if python.pip and not python.free_threaded]
        self.assertTrue(found)
        for python in found:
            with self.subTest(python):
                environment, _, took_s = self.environment(python)
                print(f"{python.name}: installed in {took_s:.1f} s", file=sys.stderr)
                self.assertLess(took_s, MOST_INSTALL_S)
                if python.series in self.traced:
                    self.check_works(environment, python.version)

    def check_works(self, environment, version):
        folder = os.path.join(environment, "work")
        os.mkdir(folder)
        script = os.path.join(folder, "script.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(USES)
        bin_folder = environment + "/bin/"
        expected = f"{version[:2]} {environment} True\n"
        for command in ([bin_folder + "pymemrun"], [bin_folder + "python", "-m", "pymemrun"]):
            self.assertEqual(run(*command, "--quiet", script, cwd=folder), expected)
        report = run(bin_folder + "pymemreport", "run.pb", cwd=folder)
        self.assertIn("script.py", report)
        self.assertIn("preload", run(bin_folder + "pymemreport", "summary", "run.pb",
                                     cwd=folder))
        self.assertEqual(
            run(bin_folder + "python", "-c", READS, "run.pb", cwd=folder),
            "False False True\n")
        self.assertEqual(
            run(bin_folder + "pymemrun", "--quiet", "--force", "-o", "tools.pb", "-c", FINDS,
                cwd=folder), bin_folder + "pymemreport\n")
        done = wheel_support.installed_test(environment, "calls/events_exact_test.py")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_readmes_words(self):
        """Its first block of commands, in the shell, in an active environment."""
        block = next(block for block in markdown_text.blocks(markdown_text.read("README.md"))
                     if block.kind == "code")
        self.assertIn("pip install dist/pymemrun-*.whl", block.text)
        environment = os.path.join(self.folder, "readme")
        run("/usr/bin/python3", "-m", "venv", environment)
        os.makedirs(self.folder + "/place")
        os.symlink(os.path.dirname(self.wheel), self.folder + "/place/dist")
        with open(self.folder + "/place/script.py", "w", encoding="utf-8") as file:
            file.write("kept = [str(n) for n in range(100000)]\n")
        says = run("bash", "-ec", f". {environment}/bin/activate\n{block.text}",
                   cwd=self.folder + "/place")
        self.assertIn("Peak ", says)
        self.assertTrue(os.path.exists(self.folder + "/place/run.pb"))


if __name__ == "__main__":
    unittest.main()
