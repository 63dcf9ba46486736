#!/usr/bin/env python3
"""The wheel that scripts/wheel makes, in clean environments of all Pythons here.

PYMEMRUN_WHEEL names one that is there already. Skipped where pip has no index.
"""
import glob
import os
import re
import subprocess
import sys
import time
import unittest
import zipfile

import support

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
# What runs a whole-program test of ours with the tools that are installed.
TOOLS = {"PYMEMCAT_BIN": "pymemcat", "PYMEMREPORT_BIN": "pymemreport",
         "PYMEMRUN_TEST_PYTHON": "python"}


def run(*command, **options):
    options.setdefault("env", clean_environment())
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}")
    return done.stdout


def clean_environment(**variables):
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("PYMEMRUN_", "PYTHON", "VIRTUAL_ENV"))} | variables


def pythons():
    """One path of each exact version that is here and can make environments."""
    found = {}
    for path in ["/usr/bin/python3", *sorted(glob.glob("/usr/local/bin/python3.*[0-9]")),
                 *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))]:
        tried = subprocess.run(
            [path, "-IS", "-c", "import sys, ensurepip; print('%d.%d.%d' % sys.version_info[:3])"],
            capture_output=True, text=True)
        if tried.returncode == 0:
            found.setdefault(tuple(map(int, tried.stdout.split("."))), path)
    return {version: path for version, path in found.items() if version >= (3, 9)}


def make_wheel():
    run("/usr/bin/python3", "-m", "venv", "index")
    tried = subprocess.run(
        ["index/bin/pip", "download", "--no-deps", "-d", "index", "auditwheel"],
        capture_output=True, text=True)
    if tried.returncode != 0:
        raise unittest.SkipTest("pip finds no package index: " + tried.stderr[-200:])
    says = run(os.path.join(support.SOURCE, "scripts", "wheel"), cwd=support.SOURCE)
    wheel, = glob.glob(os.path.join(support.SOURCE, "dist", "*.whl"))
    return wheel, says


class WheelTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.wheel, cls.says = os.environ.get("PYMEMRUN_WHEEL"), None
        if not cls.wheel:
            cls.wheel, cls.says = make_wheel()
        with zipfile.ZipFile(cls.wheel) as file:
            cls.traced = set(re.findall(r"pymemrun-tracer-(\d+\.\d+)\.so",
                                        " ".join(file.namelist())))

    def environment(self, version, python):
        folder = os.path.join(self.folder, "-".join(map(str, version)))
        run(python, "-m", "venv", folder)
        start = time.monotonic()
        run(folder + "/bin/pip", "install", "--no-index", self.wheel)
        return folder, time.monotonic() - start

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
        found = pythons()
        self.assertTrue(found)
        for version, python in found.items():
            with self.subTest(version=version):
                environment, took_s = self.environment(version, python)
                print(f"{version}: installed in {took_s:.1f} s", file=sys.stderr)
                self.assertLess(took_s, MOST_INSTALL_S)
                if "%d.%d" % version[:2] in self.traced:
                    self.check_works(environment, version)

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
        self.check_events(bin_folder, folder)

    def check_events(self, bin_folder, folder):
        """They are the recorder's. An installed pymemrun refuses a test's variable."""
        launcher = folder + "/launcher"
        with open(launcher, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nunset PYMEMRUN_TEST_PYTHON\n"
                       f"exec {bin_folder}pymemrun \"$@\"\n")
        os.chmod(launcher, 0o755)
        tools = {name: bin_folder + tool for name, tool in TOOLS.items()}
        test = os.path.join(support.SOURCE, "tests", "calls", "events_exact_test.py")
        run("/usr/bin/python3", os.path.join(support.SOURCE, "tests/support/run_test.py"),
            test, cwd=folder,
            env=clean_environment(PYMEMRUN_SOURCE_DIR=support.SOURCE,
                                  PYMEMRUN_BIN=launcher, **tools))

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
