#!/usr/bin/env python3
"""What `pymemrun env` prints does no harm to programs that are no Python, nor to
Pythons that cannot be traced, or not wholly."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import fault_support
import ordinary_user
import support

PYTHON = os.environ.get("PYMEMRUN_TEST_PYTHON", "/usr/bin/python3")
FOLDER = os.path.dirname(support.PYMEMRUN)
# Those that this machine has are tried.
PROGRAMS = (["ls", "/"], ["bash", "-c", "echo $((1 + 2))"], ["cat", "/etc/hostname"],
            ["perl", "-e", "print 3"], ["node", "-e", "console.log(3)"],
            ["java", "-version"], ["go", "version"], ["gcc", "--version"],
            ["git", "--version"])
# For an ordinary user the dynamic linker takes no preloads of theirs.
SET_USER_ID = (["su", "--version"], ["sudo", "--version"], ["mount", "--version"],
               ["passwd", "--help"])
VERSION = 'const char *Py_GetVersion(void) { return "%s"; }\n'
MAIN = """
int Py_BytesMain(int, char **);
int main(int argc, char **argv) { return Py_BytesMain(argc, argv); }
"""
MEASURES = '''
import os
kept = [bytearray(1 << 20) for n in range(20)]
os.environ.get("x")
'''

# A child, one of its own, and one from a thread.
FORKS = '''
import os, threading
def fork(work):
    if (pid := os.fork()) == 0:
        kept = bytearray(20 << 20)
        work()
        os._exit(len(kept) >> 20)
    print(pid, os.getpid(), os.waitpid(pid, 0)[1] >> 8, flush=True)
fork(lambda: fork(int))
thread = threading.Thread(target=fork, args=(int,))
thread.start(); thread.join()
'''


class EnvironmentTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.variables = cls.activation("run.{pid}.pb")

    @classmethod
    def activation(cls, output, *options, pymemrun=support.PYMEMRUN):
        """The environment with what `pymemrun env` exports."""
        text = subprocess.run([pymemrun, "env", "--force", *options, "-o",
                               os.path.join(cls.folder, output)], check=True,
                              capture_output=True, text=True).stdout
        shown = subprocess.run(["bash", "-c", text + "exec env -0"], check=True,
                               capture_output=True, text=True,
                               env={"PATH": os.environ["PATH"]}).stdout
        return dict(variable.split("=", 1) for variable in shown.split("\0")[:-1])

    def build(self, name, source, *flags, compiler="cc"):
        path = os.path.join(self.folder, name)
        subprocess.run([compiler, "-x", "c", "-", "-o", path, *flags], check=True,
                       input=source, text=True)
        return path

    def assert_unharmed(self, command, **options):
        def run(variables):
            done = subprocess.run(command, env=variables, capture_output=True,
                                  cwd="/", timeout=support.PATIENCE_S, **options)
            return done.returncode, done.stdout, done.stderr
        self.assertEqual(run(self.variables), run({"PATH": os.environ["PATH"]}))

    def test_other_programs(self):
        for command in PROGRAMS:
            if shutil.which(command[0]):
                with self.subTest(command[0]):
                    self.assert_unharmed(command)

    def test_a_python_that_prints_and_ends_leaves_no_run(self):
        before = os.listdir(self.folder)
        for option in ("--version", "--help", "--help-env", "--help-xoptions",
                       "--help-all", "-V", "-h", "--quiet"):
            with self.subTest(option):
                self.assert_unharmed([PYTHON, option])
        self.assertEqual(os.listdir(self.folder), before)

    def test_options_of_both_are_the_pythons(self):
        script = self.write("both.py", "print(3)")
        variables = self.activation("both.pb")
        words = [PYTHON, "--check-hash-based-pycs", "always", script, "--version"]
        done = subprocess.run(words, env=variables, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("3\n", ""))
        path = os.path.join(self.folder, "both.pb")
        fault_support.wait_for_collector_to_end(path)
        self.assertEqual([word.decode() for word in support.Run(path, done).header.argv],
                         words)

    def test_a_static_program(self):
        for flag in "-static", "-static-pie":
            self.assert_unharmed([self.build(
                "static", '#include <stdio.h>\nint main() { puts("ran"); }', flag)])

    @unittest.skipIf(ordinary_user.why_not(), str(ordinary_user.why_not()))
    def test_set_user_id_programs(self):
        for command in SET_USER_ID:
            if shutil.which(command[0]):
                with self.subTest(command[0]):
                    self.assert_unharmed(command, preexec_fn=ordinary_user.become)

    @unittest.skipUnless(shutil.which("musl-gcc"), "needs musl-gcc")
    def test_programs_that_need_musl(self):
        source = '#include <stdio.h>\nint main() { puts("ran"); }'
        self.assert_unharmed([self.build("plain", source, compiler="musl-gcc")])
        python = self.build("python", VERSION % "3.11.2 (main" + source, "-rdynamic",
                            compiler="musl-gcc")
        done = subprocess.run([python], env=self.variables, capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "ran\n"))
        self.assertRegex(done.stderr, "^pymemrun: .*glibc; the program runs "
                                      "untraced\n$")

    def live_bytes(self, run):
        shown = json.loads(run.report("snapshot", "--json", "--at", "peak"))
        return sum(entry["live_bytes"] for entry in shown)

    def traced_as(self, version, *options):
        """A run of a CPython that says it is another version."""
        done, path = self.run_as(version, MEASURES, *options)
        return done, support.Run(path, done)

    def run_as(self, version, program, *options):
        """What is said by a CPython that says it is another version, and the path of
        its run file."""
        library = self.run_python("-c", "import sysconfig\n"
                                  "print(*map(sysconfig.get_config_var,\n"
                                  "           ('LIBDIR', 'LDLIBRARY')), sep='/')").strip()
        if not os.path.exists(library):
            self.skipTest(f"no {library}")
        python = self.build("python3", VERSION % version + MAIN, "-rdynamic",
                            "-Wl,--no-as-needed", "-xnone", library,
                            "-Wl,-rpath," + os.path.dirname(library))
        done = subprocess.run([python, "-c", program], capture_output=True, text=True,
                              env=self.activation("as.pb", *options))
        return done, os.path.join(self.folder, "as.pb")

    def test_newer_versions_have_pages_and_native_heap(self):
        for version, why in (("3.99.1 (main", "newer than this pymemrun supports"),
                             ("3.8.1 free-threading build (main",
                              "free-threaded")):
            with self.subTest(version):
                done, run = self.traced_as(version, "--heap", "all")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(why, run.header.not_recorded)
                self.assertIn("not recorded    Python's calls",
                              run.report("summary"))
                self.assertTrue(run.header.calls_off and run.header.heap_native)
                # The arrays' memory, which comes from malloc.
                self.assertGreater(int(self.live_bytes(run)), 20 << 20)

    def test_children_of_a_newer_version_have_files_of_their_own(self):
        done, path = self.run_as("3.99.1 (main", FORKS, "--heap", "all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        forked = [list(map(int, line.split())) for line in done.stdout.splitlines()]
        self.assertEqual([status for _, _, status in forked], [20] * 3)
        parents = {}
        for pid, parent, _ in forked:
            child = support.Run(path.replace(".pb", f".{pid}.pb"), done)
            fault_support.wait_for_collector_to_end(child.path)
            self.assertEqual((child.header.pid, child.header.forked), (pid, True))
            self.assertIn("newer than this pymemrun", child.header.not_recorded)
            self.assertEqual(child.footer.exit_status, 20)
            self.assertGreater(int(self.live_bytes(child)), 20 << 20)
            parents[pid] = child.header.parent_pid
        self.assertEqual(parents, {pid: parent for pid, parent, _ in forked})
        self.assertEqual(support.Run(path, done).footer.untraced_children, 0)

    def test_only_those_without_the_environment_are_untraced(self):
        code = '''
import subprocess, sys
for close_fds in True, False:
    subprocess.run([sys.executable, "-c", "pass"], close_fds=close_fds)
    subprocess.run([sys.executable, "-c", "pass"], close_fds=close_fds, env={})
subprocess.run(["true"], preexec_fn=int)
'''
        done = subprocess.Popen([PYTHON, "-c", code], stderr=subprocess.PIPE, text=True,
                                env=self.activation("only.{pid}.pb"))
        self.assertEqual((done.communicate()[1], done.returncode), ("", 0))
        path = os.path.join(self.folder, f"only.{done.pid}.pb")
        fault_support.wait_for_collector_to_end(path)
        self.assertEqual(support.Run(path, done).footer.untraced_children, 2)

    def test_they_have_none_where_forks_are_not_followed(self):
        done, path = self.run_as("3.99.1 (main", FORKS, "--follow", "none")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        children = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual(len(children), 3)
        for pid in children:
            self.assertFalse(os.path.exists(path.replace(".pb", f".{pid}.pb")))

    def test_calls_alone_of_a_newer_version_are_refused(self):
        done, _ = self.traced_as("3.99.1 (main", "--trace", "calls")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "^pymemrun: --trace calls: CPython 3.99 is "
                                      "newer than this pymemrun supports; the program "
                                      "runs untraced\n$")

    def test_older_versions_run_untraced(self):
        done, _ = self.traced_as("3.8.1 (main")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "^pymemrun: cannot trace CPython 3.8.1; "
                                      "the program runs untraced\n$")

    def test_pymemrun_in_a_folder_with_space_and_colon(self):
        with tempfile.TemporaryDirectory(prefix="a b:c ") as folder:
            for tool in ("launcher/pymemrun", "launcher/pymemrun-preload.so",
                         "collector/pymemrun-collector"):
                target = os.path.join(folder, tool)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(os.path.join(FOLDER, "..", tool), target)
            for name in os.listdir(FOLDER):
                if name.startswith("pymemrun-tracer-"):
                    shutil.copy(os.path.join(FOLDER, name), folder + "/launcher")
            script = self.write("starts.py", "import os, subprocess, sys\n"
                                "print(os.environ.get('LD_PRELOAD', ''), flush=True)\n"
                                "if len(sys.argv) < 2:\n"
                                "    subprocess.run([sys.executable, __file__, 1 * 'x'])"
                                "\n")
            own = folder + "/launcher/pymemrun"
            path = os.path.join(self.folder, "plain.pb")
            done = subprocess.run([own, "--quiet", "--delivery", "preload", "--python",
                                   PYTHON, "-o", path, script], text=True,
                                  capture_output=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, "\n\n", ""))
            self.assertEqual(support.Run(path, done).footer.exit_status, 0)
            variables = self.activation("each.{pid}.pb", pymemrun=own)
            done = subprocess.run([PYTHON, script], env=variables, text=True,
                                  capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, 2 * (variables["LD_PRELOAD"] + "\n"))
            self.assertEqual(sum(name.startswith("each.")
                                 for name in os.listdir(self.folder)), 2)
            link = os.path.dirname(variables["LD_PRELOAD"])
            self.assertEqual(os.readlink(link), folder + "/launcher")
            os.unlink(link)


if __name__ == "__main__":
    unittest.main()
