"""Which Python runs where none is named by an option, and under which name."""
import os
import subprocess
import unittest

import ordinary_user
import support

WHERE = "import sys; print(sys.executable, open('/proc/self/comm').read().strip())\n"


class WhichPythonTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.venv = os.path.join(cls.folder, "venv")
        subprocess.run([support.PYTHON, "-m", "venv", "--without-pip", cls.venv],
                       check=True)
        cls.tool = cls.venv + "/bin/tool"
        with open(cls.tool, "w") as file:
            file.write(f"#!{cls.venv}/bin/python\nimport sys; "
                       "print(sys.argv, sys.executable)\n")
        os.chmod(cls.tool, 0o755)

    def traced(self, *words, folder=None, **variables):
        path = os.path.join(self.folder, "run.pb")
        done = subprocess.run(
            [support.PYMEMRUN, "--quiet", "--force", "-o", path, *words],
            env=dict({"PATH": os.environ["PATH"]}, **variables), capture_output=True,
            text=True, stdin=subprocess.DEVNULL, cwd=folder or self.folder)
        return done.returncode, done.stdout, done.stderr

    def on_path(self):
        return f"{self.venv}/bin:{os.environ['PATH']}"

    def test_the_process_is_named_as_under_python(self):
        plain = subprocess.run([support.PYTHON, "-c", WHERE], check=True,
                               capture_output=True, text=True).stdout
        for delivery in "auto", "preload":
            self.assertEqual(self.traced("--delivery", delivery, "-c", WHERE),
                             (0, plain, ""))

    def test_an_environment_on_path_alone_runs(self):
        self.assertEqual(self.traced("-c", WHERE, PATH=self.on_path()),
                         (0, self.venv + "/bin/python3 python3\n", ""))

    def test_a_program_is_found_by_its_name(self):
        expected = 0, f"['{self.tool}', 'a', '--light'] {self.venv}/bin/python", ""
        for words, variables in ((("tool",), {"PATH": self.on_path()}),
                                 (("tool",), {"VIRTUAL_ENV": self.venv}),
                                 (("--python", self.venv, "tool"), {})):
            status, out, said = self.traced(*words, "a", "--light", **variables)
            self.assertEqual((status, out.replace("python3", "python").strip(), said),
                             expected)
        for word, why in (("tool", "no program tool in .* or on PATH; "),
                          ("ls", "/ls is not a Python program; ")):
            status, out, said = self.traced(word)
            self.assertEqual((status, out), (2, ""))
            self.assertRegex(said, rf"\Apymemrun: .*{why}a module runs with -m {word}\n\Z")

    def test_a_python_before_the_script_is_no_script(self):
        script = self.write("x.py", "import sys; print(sys.argv, sys.flags.dev_mode)\n")
        expected = 0, f"['{script}', '--light'] True\n", ""
        for python in "python", "python3", support.PYTHON, self.venv + "/bin/python":
            self.assertEqual(
                self.traced(python, "-X", "dev", script, "--light"), expected)
        self.assertEqual(self.traced("--python", self.venv, self.venv + "/bin/python",
                                     script)[0], 2)

    @unittest.skipIf(ordinary_user.why_not(), str(ordinary_user.why_not()))
    def test_another_users_environment_is_left_out(self):
        shared = os.path.join(self.folder, "shared")
        os.makedirs(shared + "/deep")
        os.rename(self.venv, shared + "/.venv")
        self.addCleanup(os.rename, shared + "/.venv", self.venv)
        python = shared + "/.venv/bin/python"
        own = self.traced("-c", WHERE, folder=shared + "/deep")
        self.assertEqual(own, (0, python + " python\n", ""))
        os.chmod(shared, 0o777)
        status, out, said = self.traced("-c", WHERE, folder=shared + "/deep")
        self.assertEqual((status, out), (0, support.PYTHON + " python3\n"))
        self.assertRegex(said, rf"\Apymemrun: {shared}/.venv is ignored, because other "
                               rf"users may change {shared} .*; {support.PYTHON} runs\n\Z")


if __name__ == "__main__":
    unittest.main()
