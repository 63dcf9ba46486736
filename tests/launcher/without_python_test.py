#!/usr/bin/env python3
"""The launcher that has no interpreter inside, laid out as a wheel installs it."""
import glob
import os
import re
import shutil
import subprocess
import unittest

import support

BUILT = os.path.dirname(support.PYMEMRUN)
LAUNCHER = os.environ["PYMEMRUN_WITHOUT_PYTHON_BIN"]
COLLECTOR = os.environ["PYMEMRUN_COLLECTOR_BIN"]
WHERE = "import sys; print(sys.executable)"


class WithoutPythonTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.home = os.path.join(cls.folder, "home")
        for place, *files in (("bin", LAUNCHER), ("libexec/pymemrun", COLLECTOR),
                              ("lib/pymemrun", *glob.glob(BUILT + "/*.so"))):
            os.makedirs(os.path.join(cls.home, place))
            for file in files:
                shutil.copy(file, os.path.join(cls.home, place))
        cls.launcher = cls.home + "/bin/pymemrun"
        cls.on_path = os.path.join(cls.folder, "path")
        os.mkdir(cls.on_path)
        os.symlink(support.PYTHON, cls.on_path + "/python3")

    def outcome(self, *words, launcher=None, folder=None, **variables):
        done = subprocess.run([launcher or self.launcher, *words],
                              cwd=folder or self.folder, env=variables,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def python_of(self, **kwargs):
        """The Python that runs where none is named, traced."""
        path = os.path.join(self.folder, "where.pb")
        if os.path.exists(path):
            os.remove(path)
        status, out, said = self.outcome("--quiet", "--trace", "none", "-o", path,
                                         "-c", WHERE, **kwargs)
        self.assertEqual((status, said), (0, ""))
        self.assertTrue(os.path.getsize(path))
        return out.strip()

    def environment(self, name):
        folder = os.path.join(self.folder, name)
        subprocess.run([support.PYTHON, "-m", "venv", "--without-pip", folder],
                       check=True)
        return folder

    def test_the_python_is_that_on_path(self):
        self.assertEqual(self.python_of(PATH=self.on_path),
                         self.on_path + "/python3")
        status, out, said = self.outcome("-c", WHERE, PATH="/nowhere")
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(said, r"\Apymemrun: there is no python3 on PATH.*\n\Z")

    def test_a_wrapper_on_path_is_refused_by_its_name(self):
        shims = os.path.dirname(self.write("shims/python3", "#!/bin/sh\n"))
        os.chmod(shims + "/python3", 0o755)
        status, _, said = self.outcome("-c", WHERE, PATH=shims)
        self.assertEqual(status, 2)
        self.assertRegex(said, rf"\Apymemrun: .*{shims}/python3 is not a Python.*\n\Z")

    def test_the_python_beside_it_comes_first(self):
        tools = self.environment("tools")
        for place in "bin", "lib", "libexec":
            shutil.copytree(os.path.join(self.home, place), os.path.join(tools, place),
                            dirs_exist_ok=True)
        beside = tools + "/bin/pymemrun"
        self.assertEqual(self.python_of(launcher=beside, PATH=self.on_path),
                         tools + "/bin/python")
        # Before both comes the project's.
        project = os.path.dirname(self.environment("project/.venv"))
        self.assertEqual(
            self.python_of(launcher=beside, folder=project, PATH=self.on_path),
            project + "/.venv/bin/python")
        self.assertEqual(
            self.python_of(launcher=beside, VIRTUAL_ENV=project + "/.venv"),
            project + "/.venv/bin/python")
        # And where only a link is on PATH, nobody means the tool's own.
        os.makedirs(self.folder + "/links")
        link = self.folder + "/links/pymemrun"
        os.symlink(beside, link)
        self.assertEqual(self.python_of(launcher=link, PATH=self.on_path),
                         self.on_path + "/python3")

    def test_nothing_can_be_embedded(self):
        for words, variables in ((["--delivery", "embed"], {}),
                                 ([], {"PYMEMRUN_DELIVERY": "embed"})):
            status, out, said = self.outcome(*words, "-c", WHERE, PATH=self.on_path,
                                             **variables)
            self.assertEqual((status, out), (2, ""))
            self.assertRegex(said, r"\Apymemrun: .*no built-in interpreter\n\Z")

    def test_the_version_tells_the_delivery_and_what_can_be_traced(self):
        status, out, said = self.outcome("--version", PATH=self.on_path)
        self.assertEqual((status, said), (0, ""))
        versions = sorted((re.search(r"tracer-(.*)\.so", path)[1] for path in
                           glob.glob(BUILT + "/pymemrun-tracer-*.so")),
                          key=lambda text: (text == "any", len(text.strip("t")), text))
        self.assertRegex(out, r"\Apymemrun \d+\.\d+\.\d+ \(CPython .*, preloaded\)\n"
                              rf"preloads into CPython {', '.join(versions)}\n\Z")

    def test_it_needs_libc_alone(self):
        needed = subprocess.run(["readelf", "-d", LAUNCHER], check=True,
                                capture_output=True, text=True).stdout
        self.assertLessEqual(set(re.findall(r"NEEDED.*\[(.*)\]", needed)),
                             {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"})


if __name__ == "__main__":
    unittest.main()
