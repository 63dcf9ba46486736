"""What pymemrun says where something is refused: one line, and it is true."""
import os
import resource
import shutil
import subprocess
import unittest

import support

SCRIPT = "print(sum(range(1000)))\n"
OWN = ["--quiet", "--trace", "calls,pages"]
# Every prctl() is refused.
REFUSED = ["strace", "-D", "-o", "/dev/null", "-e", "inject=prctl:error=EPERM"]


class LauncherMessagesTest(support.ProgramTest):
    def setUp(self):
        self.script = self.write("script.py", SCRIPT)
        self.path = os.path.join(self.folder, "refused.pb")
        self.addCleanup(lambda: os.path.exists(self.path) and os.unlink(self.path))

    def outcome(self, *command, **kwargs):
        return subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60,
                              cwd=self.folder, **kwargs)

    def traced(self, *before, **kwargs):
        return self.outcome(*before, support.PYMEMRUN, *OWN, "-o", self.path,
                            self.script, **kwargs)

    def need_strace(self):
        if shutil.which("strace") is None:
            self.skipTest("no strace")

    def test_a_module_that_cannot_be_imported_before_is_named(self):
        for delivery in "embed", "preload":
            run = self.run_script(
                "import sys; print('fractions' in sys.modules)\nimport fractions",
                "--import", "fractions,nowhere.at_all", "--min-drss", "0",
                "--delivery", delivery)
            self.assertEqual((run.returncode, run.stdout), (0, "True\n"))
            self.assertRegex(run.stderr, r"^pymemrun: --import nowhere.at_all: ModuleNotFound"
                             r"Error.*; the\s+program runs without\s+(pymemrun: )?it\n$")
            self.assertFalse([row for row in run.rows() if row["file"].endswith("fractions.py")])
        done = self.outcome(support.PYMEMRUN, "--import", "a,,b", self.script)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a list of modules' names", done.stderr)

    def test_with_few_descriptors(self):
        for most in range(4, 16):
            def limit(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            expected = self.outcome(support.PYTHON, self.script,
                                    preexec_fn=limit)
            if expected.stderr:
                continue  # too few for the interpreter's own start
            if os.path.exists(self.path):
                os.unlink(self.path)
            found = self.traced(preexec_fn=limit)
            with self.subTest(most=most, said=found.stderr):
                self.assertLessEqual(found.stderr.count("\n"), 1)
                if "untraced" in found.stderr:
                    outcome = (0, expected.stdout, False)
                else:
                    self.assertRegex(found.stderr, "^(.*; (calls are traced|pages are scanned, .*)\n)?$")
                    outcome = (0, expected.stdout, True)
                self.assertEqual((found.returncode, found.stdout,
                                  os.path.exists(self.path)), outcome)

    def test_a_program_that_becomes_another_one_says_what_is_not_recorded(self):
        script = self.write("becomes.py", '''
import os, sys
try:
    os.execv("/no/such", ["such"])
except FileNotFoundError:
    print("not there", flush=True)
if os.fork() == 0: os.execv("/bin/true", ["true"])
os.wait()
os.execv(sys.executable, [sys.executable, "-c", "print('there')"])
''')
        said = ["pymemrun: The program calls exec. The new program is not recorded;",
                "pymemrun:   --follow all records it if it is a Python.",
                f"pymemrun: Recorded so far: pymemreport {self.path}"]
        for options, expected in (([], said), (["--quiet"], []), (["--follow", "all"], [])):
            with self.subTest(options):
                found = self.outcome(support.PYMEMRUN, "--force", *options, "-o", self.path, script)
                self.assertEqual((found.returncode, found.stdout), (0, "not there\nthere\n"))
                self.assertEqual(found.stderr.splitlines(), expected)

    def test_help_is_a_screen_and_all_help_has_the_rest(self):
        first, whole = (self.outcome(support.PYMEMRUN, option)
                        for option in ("--help", "--help-all"))
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        self.assertEqual((whole.returncode, whole.stderr), (0, ""))
        self.assertLessEqual(len(first.stdout.splitlines()), 24)
        for line in (first.stdout + whole.stdout).splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertIn("pymemrun --help-all", first.stdout)
        self.assertIn("--page-period N", whole.stdout)

    def test_help_that_cannot_be_printed_is_a_failure(self):
        for option in ("--help", "--help-all"):
            with open("/dev/full", "w") as full:
                found = subprocess.run([support.PYMEMRUN, option], stdout=full,
                                       stderr=subprocess.PIPE, text=True)
            self.assertEqual((found.returncode, found.stderr),
                             (1, "pymemrun: standard output: No space left on "
                                 "device\n"), option)

    def test_a_refused_prctl_is_said_to_be_one(self):
        self.need_strace()
        if self.traced().stderr:
            self.skipTest("no page events here")
        os.unlink(self.path)
        found = self.traced(*REFUSED)
        self.assertEqual(found.stdout, self.outcome(support.PYTHON,
                                                    self.script).stdout)
        self.assertEqual(
            found.stderr, "pymemrun: page events: prctl: Operation not "
            "permitted; pages are scanned, and charged to the code that "
            "allocated them\n")

    def test_no_line_says_what_a_later_one_takes_back(self):
        self.need_strace()
        dead = self.write("dead", "#!/bin/sh\nexit 1\n")
        os.chmod(dead, 0o755)
        found = self.traced(*REFUSED, env={**os.environ,
                                           "PYMEMRUN_COLLECTOR": dead})
        self.assertEqual(found.stdout, self.outcome(support.PYTHON,
                                                    self.script).stdout)
        self.assertRegex(found.stderr, r"^pymemrun: [^\n]*untraced\n$")


if __name__ == "__main__":
    unittest.main()
