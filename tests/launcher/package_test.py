#!/usr/bin/env python3
"""The package `pymemrun`, under the tracer and without it."""
import os
import subprocess
import unittest

import support

PACKAGE = os.path.join(support.SOURCE, "launcher", "package")
USES = r"""
import pymemrun
print(sorted(name for name in dir(pymemrun) if name[0] != "_" and name != "os"))
before = pymemrun.is_tracing()
pymemrun.stop()
print(before, pymemrun.is_tracing())
pymemrun.start()
with pymemrun.trace() as traced:
    pymemrun.mark("here")
try:
    pymemrun.mark(1)
except TypeError as error:
    print(error)
print(1_000_000 < pymemrun.rss() < 1_000_000_000, pymemrun.is_tracing())
block = bytearray(b"x") * 30_000_000
high = pymemrun.rss() - 5_000_000
del block
print(pymemrun.rss() < high < pymemrun.rss_peak() < 1_000_000_000)
class Adder:
    @pymemrun.trace()
    def add(self, *, by):
        "Adds."
        return 1 + by, pymemrun.is_tracing()
print(Adder().add(by=2)[0], Adder.add.__name__, Adder.add.__doc__)
async def wait(): pass
def each(): yield
for wrong in wait, each, 3:
    try:
        pymemrun.trace()(wrong)
    except TypeError as error:
        print(str(error)[:27])
"""
MORE = "True\n3 add Adds.\n" + "trace() decorates functions\n" * 3
NAMES = ["counter", "dump_objects", "gather_stats", "is_tracing", "load_ipython_extension",
         "mark", "rss", "rss_peak", "run_file", "start", "stop", "trace"]
SAYS = f"{NAMES}\n%s False\nlabel must be a str, not int\nTrue %s\n" + MORE
SAYS_NOTHING = ("pymemrun: nothing is recorded: this Python does not run under pymemrun; "
                "start it with `pymemrun script.py`\n")


class PackageTest(support.ProgramTest):
    def plain(self, *words, **variables):
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": PACKAGE}
        return subprocess.run([support.PYTHON, *words], cwd=self.folder,
                              env=environment | variables, capture_output=True,
                              text=True)

    def test_the_same_names_with_and_without_the_tracer(self):
        done = self.plain("-W", "error", self.write("uses.py", USES))
        self.assertEqual((done.stdout, done.stderr),
                         (SAYS % (False, False), SAYS_NOTHING))
        for delivery in "embed", "preload":
            run = self.run_script(USES, "--delivery", delivery,
                                  env={"PYTHONPATH": PACKAGE})
            self.assertEqual(run.stdout, SAYS % (True, True))
            self.assertEqual([mark.label for mark in run.records("mark")],
                             [b"here"])
        run = self.run_script("import pymemrun; print(pymemrun.is_tracing())",
                              "--paused", "--delivery", "embed")
        self.assertEqual(run.stdout, "False\n")

    def test_a_decorated_function_is_traced_in_a_paused_run(self):
        run = self.run_script(
            "import pymemrun\n"
            "@pymemrun.trace()\n"
            "def inside(depth=1):\n"
            "    if depth: inside(depth - 1)\n"
            "    return pymemrun.is_tracing()\n"
            "def outside(): pass\n"
            "outside(); print(inside(), pymemrun.is_tracing()); outside()\n",
            "--paused", "--min-drss", "0")
        self.assertEqual(run.stdout, "True False\n")
        names = [row["function"] for row in run.rows() if row["what"] == "CALL"]
        self.assertEqual(names.count("inside"), 2)
        self.assertNotIn("outside", names)

    def test_the_run_file_and_the_packages_modules(self):
        """The package is found where nothing names it: beside the launcher."""
        uses = ("import pymemrun, pymemrun.jupyter.tools as tools\n"
                "print(pymemrun.run_file(), tools.find('pymemcat'))")
        done = self.plain(self.write("uses.py", "import pymemrun; print(pymemrun.run_file())"))
        self.assertEqual(done.stdout, "None\n")
        for delivery in "embed", "preload":
            run = self.run_script(uses, "--delivery", delivery)
            self.assertEqual(run.stdout, f"{run.path} {support.PYMEMCAT}\n")
        renamed = os.path.join(self.folder, "renamed.pb")
        run = self.run_script(f"import pymemrun; pymemrun.start(output={renamed!r})\n"
                              "print(pymemrun.run_file())", "--paused")
        self.assertEqual(run.stdout, renamed + "\n")

    def test_python_m_pymemrun_kernel(self):
        done = self.plain("-m", "pymemrun", "kernel", "remove", "--prefix", self.folder,
                          PATH=os.path.dirname(support.PYMEMRUN))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^pymemrun kernel: .*/kernels/pymemrun: there is no such "
                                      "kernel\n$")

    def test_python_m_pymemrun_starts_the_launcher(self):
        path = os.path.join(self.folder, "m.pb")
        script = self.write("says.py", "import sys\n"
                            "print(sys.executable, sys.argv[1:], sys.dont_write_bytecode)")
        words = ["-B", "-m", "pymemrun", "--quiet", "-o", path, script, "a b"]
        done = self.plain(*words, PATH=os.path.dirname(support.PYMEMRUN))
        self.assertEqual((done.stdout, done.stderr),
                         (f"{support.PYTHON} ['a b'] True\n", ""))
        self.assertTrue(os.path.getsize(path))
        done = self.plain(*words, PATH="/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^pymemrun: the launcher .*PATH\n$")

    def test_python_m_pymemrun_under_what_env_has_set(self):
        path = os.path.join(self.folder, "own.pb")
        commands = subprocess.run([support.PYMEMRUN, "env", "-o", self.folder + "/env.pb"],
                                  check=True, capture_output=True, text=True).stdout
        done = subprocess.run(
            ["bash", "-c", f"{commands}\nexec {support.PYTHON} -m pymemrun --quiet "
             f"-o {path} -c 'print(7)'"], capture_output=True, text=True,
            env={"PATH": os.path.dirname(support.PYMEMRUN) + ":" + os.environ["PATH"],
                 "PYTHONPATH": PACKAGE})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "7\n", ""))
        self.assertTrue(os.path.getsize(path))
        self.assertFalse(os.path.exists(self.folder + "/env.pb"))


if __name__ == "__main__":
    unittest.main()
