#!/usr/bin/env python3
"""`pymemrun kernel`: what it writes where, and what it refuses."""
import json
import os
import shutil
import subprocess
import unittest

import support
from jupyter_support import kernel_command


class KernelSpecTest(support.ProgramTest):
    def setUp(self):
        # All that it asks of ipykernel is that it is there.
        self.write("packages/ipykernel/__init__.py", "")
        self.packages = os.path.join(self.folder, "packages")

    def kernel(self, *words, **more):
        return kernel_command(*words, folder=self.folder,
                              **{"PYTHONPATH": self.packages, **more})

    def install(self, folder, *words, **more):
        """The kernel.json that is then in the folder."""
        done = self.kernel("install", "--python", support.PYTHON, *words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(folder, done.stdout)
        self.assertEqual(os.listdir(folder), ["kernel.json"])
        with open(folder + "/kernel.json", encoding="utf-8") as file:
            return json.load(file)

    def refuse(self, says, *words, status=2, **more):
        done = self.kernel(*words, **more)
        self.assertEqual((done.returncode, done.stdout), (status, ""))
        self.assertRegex(done.stderr, r"^pymemrun[^\n]*: [^\n]*\n$")
        self.assertIn(says, done.stderr)

    def test_the_spec_starts_the_kernel_under_pymemrun(self):
        spec = self.install(self.folder + "/data/kernels/pymemrun", "--user")
        launcher, *words = spec["argv"]
        self.assertEqual(os.path.realpath(launcher), os.path.realpath(support.PYMEMRUN))
        output = os.path.join(self.folder, "pymemrun-kernel-{time}-{pid}.pb")
        self.assertEqual(words, ["--python", support.PYTHON, "--quiet", "--trace", "pages",
                                 "-o", output, "-m", "ipykernel_launcher", "-f",
                                 "{connection_file}"])
        self.assertEqual(spec["display_name"], "Python %d.%d, traced" % support.VERSION)
        self.assertEqual(spec["language"], "python")

    def test_where_it_goes(self):
        home = os.path.join(self.folder, "home")
        for folder, words, more in (
                (home + "/.local/share/jupyter", [], {}),
                (home + "/xdg/jupyter", ["--user"], {"XDG_DATA_HOME": home + "/xdg"}),
                (home + "/own", [], {"JUPYTER_DATA_DIR": home + "/own",
                                     "XDG_DATA_HOME": home + "/xdg"}),
                (home + "/p/share/jupyter", ["--prefix", home + "/p"], {})):
            with self.subTest(folder):
                more = {"HOME": home, "JUPYTER_DATA_DIR": "", **more}
                names = ["--name", "my-kernel", "--display-name", "Mine \u00fc"]
                spec = self.install(folder + "/kernels/my-kernel", *words, *names, **more)
                self.assertEqual(spec["display_name"], "Mine \u00fc")
                self.install(folder + "/kernels/my-kernel", *words, *names, **more)  # again
                done = self.kernel("remove", *words, "--name", "my-kernel", **more)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(os.listdir(folder + "/kernels"), [])

    def test_options_of_the_run(self):
        spec = self.install(self.folder + "/data/kernels/full", "--name", "full", "--",
                            "--full", "-o", "kernel.pb")
        self.assertEqual(spec["argv"][3:7], ["--quiet", "--full", "-o", "kernel.pb"])
        self.refuse("unknown option --fulll", "install", "--", "--fulll")
        self.refuse("takes no pymemrun options", "remove", "--", "--full")

    def test_what_is_refused(self):
        self.refuse("COMMAND")
        self.refuse("invalid choice: 'instal'", "instal")
        self.refuse("unrecognized arguments: --all", "install", "--all")
        self.refuse("not allowed with", "install", "--user", "--sys-prefix")
        self.refuse("found 'a/b'", "install", "--name", "a/b")
        self.refuse("found '..'", "remove", "--name", "..")
        self.refuse("no such kernel", "remove", "--name", "none", status=1)
        self.refuse("not an executable Python", "install", "--python", "/nowhere")
        self.refuse("has no ipykernel", "install", status=1, PYTHONPATH="")
        with open(self.folder + "/file", "w", encoding="utf-8"):
            pass
        self.refuse("Not a directory", "install", "--prefix", self.folder + "/file",
                    status=1)

    def test_kernels_of_others_stay(self):
        path = self.write("data/kernels/other/kernel.json", '{"argv": ["python3"]}')
        self.refuse("found another kernel", "remove", "--name", "other", status=1)
        self.refuse("found another kernel", "install", "--name", "other", status=1)
        self.assertTrue(os.path.exists(path))
        shutil.rmtree(os.path.dirname(path))

    def test_no_link_is_followed(self):
        folder = os.path.join(self.folder, "links/share/jupyter/kernels/pymemrun")
        self.write(folder + "/kernel.json", '{"argv": ["/x/pymemrun"]}')
        precious = self.write("precious", "precious")
        os.symlink(precious, folder + "/kernel.json.new")
        words = ["--prefix", self.folder + "/links", "--python", support.PYTHON]
        done = self.kernel("install", *words, "--display-name", "\x1b[31mred")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(": \\x1b[31mred, ", done.stdout)
        with open(precious, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        self.assertTrue(os.stat(folder + "/kernel.json").st_mode & 0o004)
        os.rename(folder, self.folder + "/elsewhere")
        os.symlink(self.folder + "/elsewhere", folder)
        for command in "install", "remove":
            self.refuse("found a symbolic link", command, *words, status=1)
        self.assertTrue(os.path.exists(self.folder + "/elsewhere/kernel.json"))

    def test_a_script_of_that_name_runs(self):
        self.write("kernel", "print('a script')")
        self.assertEqual(self.pymemrun("--quiet", "kernel").stdout, "a script\n")
        done = subprocess.run([support.PYMEMRUN, "./kernel"], cwd=self.folder, text=True,
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.stdout, "a script\n")


if __name__ == "__main__":
    unittest.main()
