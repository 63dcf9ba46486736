#!/usr/bin/env python3
"""The launcher is a drop-in for python: a table of command lines and ends of
programs, each run under the interpreter itself and under `pymemrun`, compared.

    launcher_table_test.py --pymemrun PATH [unittest arguments]
"""
import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from launcher_programs import (COMMAND_LINES, EXITS, NO_RUN_FILE, PROBE,
                               make_files)
from waiting import PATIENCE_S, shortest

PYMEMRUN = ""
PYMEMREPORT = os.environ.get("PYMEMREPORT_BIN", "pymemreport")
PYTHON = ""  # the interpreter that this pymemrun is built with
# Becomes a child subreaper (PR_SET_CHILD_SUBREAPER), then its arguments.
ADOPT = ("import ctypes, os, sys\n"
         "ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n"
         "os.execv(sys.argv[1], sys.argv[1:])")


def run(program, arguments, cwd, env=None, stdin="", own=(), **kwargs):
    variables = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    variables.update(env or {})
    return subprocess.run([program, *own, *arguments], cwd=cwd, env=variables,
                          input=stdin.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE_S, **kwargs)


def without_our_signals(text):
    """Page events catch SIGTRAP, and requests for dumps come by a signal that is
    libc's own. /proc/PID/status alone shows that."""
    ours = 1 << signal.SIGTRAP - 1 | 1 << 32 - 1
    return re.sub(rb"(SigCgt:\\t)([0-9a-f]{16})", lambda found: found[1] +
                  b"%016x" % (int(found[2], 16) & ~ours), text)


class LauncherTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="launcher_table_")
        cls.runs = tempfile.mkdtemp(prefix="launcher_runs_")
        make_files(cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        shutil.rmtree(cls.runs)

    def own(self, *more):
        for name in os.listdir(self.runs):
            os.unlink(os.path.join(self.runs, name))
        return ["--quiet", "-o", self.runs + "/{pid}.pb", *more]

    def python(self, arguments, env=None, stdin="", program=None, **kwargs):
        return run(program or PYTHON, arguments, self.folder, env, stdin,
                   **kwargs)

    def traced(self, arguments, env=None, stdin="", own=(), **kwargs):
        return run(PYMEMRUN, arguments, self.folder, env, stdin,
                   self.own(*own), **kwargs)

    def same(self, expected, found):
        def text(result):
            # Times and addresses differ from run to run.
            clean = [re.sub(rb"0x[0-9a-f]+", b"0x", without_our_signals(part))
                     for part in (result.stdout, result.stderr)]
            return result.returncode, *clean
        self.assertEqual(text(expected), text(found))

    def test_command_lines(self):
        self.assertGreaterEqual(len(COMMAND_LINES), 40)
        for arguments, env, stdin in COMMAND_LINES:
            arguments = [a.format(cwd=self.folder) if a == "{cwd}/s.py" else a
                         for a in arguments]
            with self.subTest(arguments=arguments, env=env):
                self.same(self.python(arguments, env, stdin),
                          self.traced(arguments, env, stdin))

    def test_dashes_are_ours_and_the_grammar_goes_on(self):
        for arguments in (["s.py", "--"], ["-m", "pkg"], ["-O", "s.py"],
                          ["-c", PROBE]):
            with self.subTest(arguments=arguments):
                self.same(self.python(arguments),
                          self.traced(["--", *arguments]))
        self.same(self.python(["--", "-m"]), self.traced(["--", "--", "-m"]))
        found = self.traced(["-I", "--context", "2", "-O", "--", "-B",
                             "--stacks", "s.py", "--stacks"])
        self.same(self.python(["-I", "-O", "-B", "s.py", "--stacks"]), found)

    def test_no_run_file_where_no_user_code_runs(self):
        for arguments in NO_RUN_FILE:
            with self.subTest(arguments=arguments):
                self.traced(arguments)
                self.assertEqual(os.listdir(self.runs), [])
        self.traced(["s.py"])
        self.assertEqual(len(os.listdir(self.runs)), 1)

    def test_ends(self):
        for name, code in EXITS.items():
            with self.subTest(name):
                self.same(self.python(["-c", code]), self.traced(["-c", code]))

    def test_closed_standard_streams(self):
        for closing in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            shell = ["-c", 'exec "$@" ' + closing, "sh"]
            with self.subTest(closing):
                expected = run("/bin/sh", [*shell, PYTHON, "state.py"],
                               self.folder)
                found = run("/bin/sh", [*shell, PYMEMRUN, *self.own(),
                                        "state.py"], self.folder)
                self.same(expected, found)

    def test_inherited_signal_state(self):
        def change():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK,
                                   [signal.SIGUSR1, signal.SIGCHLD])
        self.same(self.python(["state.py"], preexec_fn=change),
                  self.traced(["state.py"], preexec_fn=change))

    def test_few_descriptors(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))
        self.same(self.python(["state.py"], preexec_fn=limit),
                  self.traced(["state.py"], preexec_fn=limit))

    def test_virtual_environment(self):
        venv = os.path.join(self.folder, "venv")
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv],
                       check=True)
        python = venv + "/bin/python"
        expected = self.python(["s.py"], program=python)
        self.assertIn(b"prefix " + venv.encode(), expected.stdout)
        self.same(expected, self.traced(["s.py"], own=["--python", python]))
        active = {"VIRTUAL_ENV": venv}
        self.same(self.python(["s.py"], active, program=python),
                  self.traced(["s.py"], active))
        link = venv + "/bin/pymemrun"
        os.symlink(PYMEMRUN, link)
        self.same(expected,
                  run(link, ["s.py"], self.folder, own=self.own()))
        os.rename(venv + "/pyvenv.cfg", venv + "/was")
        with open(venv + "/was") as old, open(venv + "/pyvenv.cfg", "w") as new:
            new.write(re.sub(r"version = .*", "version = 3.2.1", old.read()))
        found = self.traced(["s.py"], active, own=["--delivery", "embed"])
        self.assertEqual((found.returncode, found.stdout), (2, b""))
        self.assertRegex(found.stderr, rb"^pymemrun: .*3\.2; .* 3\.\d+\.\S+\n$")

    def test_an_environment_of_another_patch_is_refused(self):
        venv = os.path.join(self.folder, "other")
        os.makedirs(venv + "/bin")
        os.makedirs(self.folder + "/opt/lib/python" + self.version)
        open(self.folder + "/opt/lib/python%s/os.py" % self.version, "w").close()
        os.symlink(PYTHON, venv + "/bin/python")
        for home, status in ((self.folder + "/opt/bin", 2),
                             (os.path.dirname(PYTHON), 0)):
            os.makedirs(home, exist_ok=True)
            with open(venv + "/pyvenv.cfg", "w") as config:
                config.write("home = %s\nversion = %s.99\n" % (home, self.version))
            found = self.traced(["s.py"], {"VIRTUAL_ENV": venv},
                                own=["--delivery", "embed"])
            self.assertEqual(found.returncode, status, found.stderr)
            if status:
                self.assertRegex(found.stderr, rb"^pymemrun: .*3\.\d+\.99; .* "
                                               rb"3\.\d+\.\S+\n$")

    def test_usage_errors_start_nothing(self):
        os.mkfifo(os.path.join(self.folder, "fifo"))
        os.symlink("s.py", os.path.join(self.folder, "link"))
        lines = [["--min-drs", "1"], ["--min-drss", "big"], ["--native", "--heap=off"],
                 ["--heap=stats", "--native"], ["--heap", "on"],
                 ["-o", "/nowhere/x.pb"], ["-o", "s.py"],
                 ["-o", "fifo", "--force"], ["-o", "dir", "--force"],
                 ["-o", "link", "--force"], ["--python", "/nowhere"],
                 ["--python", "/bin/ls"], ["--output"]]
        for own in lines:
            with self.subTest(own):
                found = run(PYMEMRUN, [*own, "s.py"][:len(own) + 1],
                            self.folder)
                if own == ["--output"]:
                    found = run(PYMEMRUN, own, self.folder)
                self.assertEqual(found.returncode, 2)
                self.assertEqual(found.stdout, b"")
                self.assertRegex(found.stderr, rb"^pymemrun: [^\n]+\n$")

    def test_a_missing_collector_is_said_and_the_program_runs(self):
        for collector in ("/nowhere", "s.py"):
            found = self.traced(["s.py"], {"PYMEMRUN_COLLECTOR": collector})
            expected = self.python(["s.py"])
            self.assertEqual(found.stdout, expected.stdout)
            self.assertRegex(found.stderr, rb"^pymemrun: .*untraced\n$")
            self.assertEqual(os.listdir(self.runs), [])

    def test_a_collector_that_cannot_live_delays_nothing(self):
        # As one that finds no room under a limit of the address space.
        dead = os.path.join(self.runs, "dead")
        expected = self.python(["s.py"])
        for end in ("exit 1", "kill -9 $$"):
            own = self.own()
            with open(dead, "w") as file:
                file.write("#!/bin/sh\n" + end + "\n")
            os.chmod(dead, 0o755)

            def attempt():
                start = time.monotonic()
                found = run(PYMEMRUN, ["s.py"], self.folder,
                            {"PYMEMRUN_COLLECTOR": dead}, own=own)
                took = time.monotonic() - start
                self.assertEqual((found.returncode, found.stdout),
                                 (expected.returncode, expected.stdout))
                self.assertRegex(found.stderr, rb"^pymemrun: .*untraced\n$")
                return took
            # It is waited for 2 s where it may yet come.
            self.assertLess(shortest(attempt, 1.5), 1.5)

    def test_children_run_the_interpreter_or_for_tests_the_launcher(self):
        code = "import sys; print(sys.executable)"
        self.assertEqual(self.traced(["-c", code]).stdout.decode().strip(),
                         self.python(["-c", code]).stdout.decode().strip())
        variables = {"PYMEMRUN_TEST_SYS_EXECUTABLE": "launcher"}
        found = self.traced(["-c", code], variables)
        self.assertEqual(found.stdout.decode().strip(),
                         os.path.realpath(PYMEMRUN))

    def adopting(self, arguments):
        """Runs them as a child subreaper, as a container's init may."""
        return run("/usr/bin/python3", ["-c", ADOPT, *arguments], self.folder)

    def test_adopting_orphans(self):
        wait = ("import os\ntry: print(os.wait())\n"
                "except ChildProcessError: print('no child')\n")
        for name, end in EXITS.items():
            with self.subTest(name):
                self.same(run(PYTHON, ["-c", wait + end], self.folder),
                          self.adopting([PYMEMRUN, *self.own(), "-c",
                                         wait + end]))

    def test_as_process_1(self):
        unshare = ["--pid", "--fork"]
        if run("unshare", [*unshare, "true"], "/").returncode != 0:
            self.skipTest("no PID namespace can be made here")
        wait = ("import os\ntry: print(os.wait())\n"
                "except ChildProcessError: print('no child')\n")
        for code, status in ((wait, 0), (wait + "os._exit(4)", 4),
                             (wait + "os.kill(os.getpid(), 15)", 143)):
            found = run("unshare", [*unshare, PYMEMRUN, *self.own(), "-c",
                                    code], self.folder)
            self.assertEqual((found.returncode, found.stderr), (status, b""))
            self.assertIn(found.stdout, (b"no child\n", b""))

    def test_in_a_pid_namespace_whose_proc_is_an_outer_one(self):
        unshare = ["--pid", "--fork"]
        if run("unshare", [*unshare, "true"], "/").returncode != 0:
            self.skipTest("no PID namespace can be made here")
        # Here another process has the number that the program has there.
        own = self.own("--trace", "pages")
        found = run("unshare", [*unshare, PYMEMRUN, *own, "-c", "b'x' * 10**7"],
                    self.folder)
        if found.stderr:
            self.skipTest(found.stderr)
        path, = (os.path.join(self.runs, name) for name in os.listdir(self.runs))
        text = subprocess.run([PYMEMREPORT, "resident", path, "--by", "mapping"],
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("pymemrun\n", text)
        self.assertIn("<anonymous>", text)

    def test_signals_reach_the_program_under_the_small_init(self):
        code = ("import signal, time\n"
                "signal.signal(15, lambda *a: (print('got it'), exit(11)))\n"
                "print('ready', flush=True); time.sleep(30)")
        with subprocess.Popen(["/usr/bin/python3", "-c", ADOPT, PYMEMRUN,
                               *self.own(), "-c", code], cwd=self.folder,
                              stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.terminate()
            self.assertEqual(process.stdout.read(), b"got it\n")
        self.assertEqual(process.returncode, 11)

    def test_a_program_that_ends_at_once_does_not_leave_the_small_init(self):
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        # The launcher sleeps before each change of a signal's action; meanwhile
        # the program, which is not delayed, ends.
        slow = ["strace", "-D", "-o", "/dev/null", "-e",
                "inject=rt_sigaction:delay_enter=2000000"]
        found = self.adopting(["/usr/bin/env", *slow, PYMEMRUN, *self.own(),
                               "-c", "import os; os._exit(7)"])
        self.assertEqual((found.returncode, found.stdout), (7, b""))

    def test_the_small_init_ends_by_a_signal_while_it_waits_for_a_collector(self):
        stuck = os.path.join(self.runs, "stuck")
        own = self.own()
        with open(stuck, "w") as file:
            file.write("#!/bin/sh\nexec sleep 30\n")
        os.chmod(stuck, 0o755)
        code = "import os; print(os.getpid(), flush=True); os._exit(9)"

        def attempt():
            with subprocess.Popen(
                    ["/usr/bin/python3", "-c", ADOPT, PYMEMRUN, *own,
                     "-c", code], cwd=self.folder, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env={**os.environ, "PYMEMRUN_COLLECTOR": stuck}) as process:
                program = int(process.stdout.readline())
                while os.path.exists("/proc/%d" % program):
                    time.sleep(0.01)
                start = time.monotonic()
                process.terminate()
                process.wait()
                took = time.monotonic() - start
            self.assertEqual(process.returncode, 9)
            return took
        # Without a signal it waits for 5 s.
        self.assertLess(shortest(attempt, 4), 4)

    def test_exports_and_libraries_are_the_interpreters(self):
        if self.link != "static":
            self.skipTest("a shared libpython")

        def libraries(path):
            return sorted(line.split()[0] for line in subprocess.run(
                ["ldd", path], capture_output=True,
                text=True).stdout.splitlines())

        def names(path):
            output = subprocess.run(["nm", "-D", "--defined-only", path],
                                    capture_output=True, text=True).stdout
            return {line.split()[-1] for line in output.splitlines()}

        self.assertEqual(libraries(PYTHON), libraries(PYMEMRUN))
        source = os.path.join(os.path.dirname(__file__), "..", "..", "launcher",
                              "interposed_symbols.txt")
        with open(source) as file:
            interposed = {line.split("#")[0].strip() for line in file} - {""}
        self.assertEqual(names(PYTHON) | interposed, names(PYMEMRUN))


def main():
    global PYMEMRUN, PYTHON
    parser = argparse.ArgumentParser()
    parser.add_argument("--pymemrun", required=True)
    options, rest = parser.parse_known_args()
    PYMEMRUN = os.path.abspath(options.pymemrun)
    version = subprocess.run([PYMEMRUN, "--version"], capture_output=True,
                             text=True, check=True).stdout
    LauncherTest.version, PYTHON, LauncherTest.link = re.search(
        r"CPython (\d+\.\d+).*, (/.*), (\w+)\)", version).groups()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
