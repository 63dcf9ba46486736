#!/usr/bin/env python3
"""The tracer that is preloaded into an interpreter of its own."""
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

import support

PYTHON = os.environ.get("PYMEMRUN_TEST_PYTHON", "/usr/bin/python3")
FOLDER = os.path.dirname(support.PYMEMRUN)
TRACERS = sorted(re.search(r"tracer-(.*)\.so$", path)[1]
                 for path in glob.glob(FOLDER + "/pymemrun-tracer-*.so"))
VERSION = subprocess.run(
    [PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True,
    capture_output=True, text=True).stdout.strip()
INTERPOSED = [os.path.join(support.SOURCE, "launcher", f"interposed_{what}.txt")
              for what in ("symbols", "locks")]

SHOWS = r"""
import os, sys
print(sys.version, sys.argv, sys.executable, sys.prefix, sys.flags,
      sorted(os.environ), flush=True)
with open("/proc/self/environ", "rb") as file:
    print(sorted(x for x in file.read().split(b"\0") if x))
"""


class DeliveryTest(support.ProgramTest):
    def run_preloaded(self, script, *options, **kwargs):
        return self.run_script(script, "--delivery", "preload", *options, **kwargs)

    def test_the_program_sees_what_it_sees_without(self):
        script = self.write("shows.py", SHOWS)
        environment = {"PATH": "/usr/bin:/bin", "A": "b", "LAST": "z"}
        plain = subprocess.run([PYTHON, script, "x"], env=environment, check=True,
                               capture_output=True, text=True)
        traced = subprocess.run(
            [support.PYMEMRUN, "--delivery", "preload", "--python", PYTHON,
             "--quiet", "-o", self.folder + "/run.pb", script, "x"],
            env=environment, capture_output=True, text=True)
        self.assertEqual((traced.returncode, traced.stderr), (0, ""))
        self.assertEqual(traced.stdout, plain.stdout)

    def test_users_own_preloads_stay(self):
        other = self.build("int pymemrun_test_other = 1;", "other.so", "-shared",
                           "-fPIC")
        run = self.run_preloaded(
            "import os, ctypes\n"
            "print(os.environ['LD_PRELOAD'],\n"
            "      hasattr(ctypes.CDLL(None), 'pymemrun_test_other'))\n",
            env={"LD_PRELOAD": other})
        self.assertEqual(run.stdout, other + " True\n")

    def test_an_interrupt_ends_it_with_a_report(self):
        run = self.run_preloaded("import os, signal\n"
                                 "os.kill(os.getpid(), signal.SIGINT)\n",
                                 status=-2)
        self.assertEqual(run.footer.end, support.trace_pb2().Footer.SIGNAL)

    def test_the_end_is_that_of_the_programs_own_code(self):
        """After what it gave to atexit. Where it calls that itself, the end is no
        longer heard from 3.10 on."""
        for early in "", "atexit._run_exitfuncs()":
            run = self.run_preloaded(
                "import atexit, time\n" + early +
                "\natexit.register(time.sleep, 0.05)\n", "--trace", "none")
            self.assertEqual(run.footer.finalize_us > 50_000,
                             not early or support.VERSION < (3, 10))

    def test_the_end_is_told_where_nothing_is_given_to_atexit(self):
        run = self.run_preloaded("import sys, time\nprint('atexit' in sys.modules)\n"
                                 "time.sleep(0.05)\n", "--trace", "none")
        untouched = self.run_python("-c", "import sys; print('atexit' in sys.modules)")
        self.assertEqual(run.stdout, untouched)
        self.assertGreater(run.footer.finalize_us, 50_000)

    def test_the_environment_alone_starts_it(self):
        """Also in what bash and a traced Python start; a program may have no
        file to write."""
        script = self.write("starts.py", "import subprocess, sys\n"
                            "if len(sys.argv) < 2:\n"
                            "    subprocess.run([sys.executable, __file__, 'x'])\n"
                            "print('ran')\n")

        def commands(output):
            return subprocess.run(
                [support.PYMEMRUN, "env", "--trace", "none", "-o", output],
                check=True, capture_output=True, text=True).stdout

        def run(commands, path):
            done = subprocess.run(["bash", "-c", f"{commands}\nbash -c "
                                   f"'ls / >/dev/null; exec {PYTHON} {path}'"],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return done.stdout

        self.assertEqual(run(commands(self.folder + "/it's.{pid}.pb"), script),
                         "ran\nran\n")
        self.assertEqual(len(glob.glob(self.folder + "/it's.*.pb")), 2)
        for text, says in (
                (commands("/no/where/run.pb"), "/no/where/run.pb"),
                (commands("run.pb") + "PYMEMRUN_PRELOADED=x\n", "PYMEMRUN_PRELOADED"),
                (commands("run.pb") + "unset PYMEMRUN_PRELOADED\n",
                 "LD_PRELOAD .*PYMEMRUN_PRELOADED is not set"),
                (commands("run.pb") + "export PYMEMRUN_FOLLOW=some\n",
                 "PYMEMRUN_FOLLOW: 'some'")):
            done = subprocess.run(["bash", "-c", text + PYTHON + " -c 'print(3)'"],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, "3\n"))
            self.assertRegex(done.stderr, "^pymemrun: .*" + says +
                             ".*; the program runs untraced\n$")

    def test_env_has_a_help_of_its_own(self):
        for option in ("-h", "--help"):
            text = subprocess.run([support.PYMEMRUN, "env", option], check=True,
                                  capture_output=True, text=True).stdout
            self.assertIn('\nUsage: eval "$(pymemrun env [options])"\n', text)
            self.assertNotIn("export", text)

    def test_a_command_line_wins_over_what_env_has_set(self):
        out = os.path.join(self.folder, "by_env.{pid}.pb")
        direct = os.path.join(self.folder, "direct.pb")
        commands = subprocess.run(
            [support.PYMEMRUN, "env"], env={**os.environ, "PYMEMRUN_OUTPUT": out},
            check=True, capture_output=True, text=True).stdout
        self.assertIn(f"--output={out}", commands)
        done = subprocess.run(
            ["bash", "-c", f"{commands}\n{support.PYMEMRUN} --quiet --delivery preload "
             f"--python {PYTHON} -o {direct} --trace none -c 'print(1)'"],
            capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))
        self.assertTrue(os.path.exists(direct))
        self.assertEqual(glob.glob(self.folder + "/by_env.*"), [])

    def test_programs_that_are_no_python_do_not_notice(self):
        shim = os.path.join(FOLDER, "pymemrun-preload.so")
        for tracer in [shim] + glob.glob(FOLDER + "/pymemrun-tracer-*.so"):
            for command in (["/bin/true"], ["bash", "-c", "exit 0"], ["ls", "/"]):
                done = subprocess.run(command, env={"LD_PRELOAD": tracer,
                                                    "PATH": "/usr/bin:/bin"},
                                      capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), tracer)

    def test_tracers_need_libc_alone_and_show_what_they_interpose(self):
        allowed = {"__libc_start_main"}
        for path in INTERPOSED:
            with open(path) as file:
                allowed |= {line.strip() for line in file
                            if line[0].islower() or line[0] == "_"}
        for tracer in glob.glob(FOLDER + "/pymemrun-tracer-*.so"):
            symbols = subprocess.run(["nm", "-D", "--defined-only", tracer],
                                     check=True, capture_output=True, text=True)
            names = {line.split()[-1].partition("@")[0]
                     for line in symbols.stdout.splitlines()}
            self.assertEqual(names - allowed, set(), tracer)
            needed = subprocess.run(["objdump", "-p", tracer], check=True,
                                    capture_output=True, text=True).stdout
            self.assertLessEqual(
                set(re.findall(r"NEEDED +(\S+)", needed)),
                {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}, tracer)
            strong = subprocess.run(["nm", "-D", "--undefined-only", tracer],
                                    check=True, capture_output=True, text=True)
            self.assertNotRegex(strong.stdout, r"U _?Py")
            # Those are ours, and weak only by their name.
            self.assertNotIn(" w Pymemrun", strong.stdout, tracer)
            if tracer.endswith("-any.so"):  # it knows no version's insides
                private = re.findall(r" (_Py\w+)", strong.stdout)
                self.assertLessEqual(set(private), {"_Py_Dealloc", "_Py_NoneStruct"})

    def test_what_cannot_be_traced_is_refused(self):
        def refused(*options):
            done = subprocess.run(
                [support.PYMEMRUN, *options, "-o", self.folder + "/no.pb", "-c",
                 "print(1)"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertFalse(os.path.exists(self.folder + "/no.pb"))
            return done.stderr

        static = self.build("int main(){return 0;} char t[] = \"Py_BytesMain\";",
                            "python3", "-static")
        self.assertRegex(refused("--python", static),
                         r"^pymemrun: .* linked statically.*\n$")
        static_pie = self.build("int main(){return 0;} char t[] = \"Py_BytesMain\";",
                                "python3", "-static-pie")
        self.assertRegex(refused("--python", static_pie),
                         r"^pymemrun: .* linked statically.*\n$")
        musl = self.build("int main(){return 0;} char t[] = \"Py_BytesMain\";",
                          "python3", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
        self.assertRegex(refused("--python", musl),
                         r"^pymemrun: .* needs /lib/ld-musl-x86_64.so.1: only "
                         r"programs that use glibc can be traced\n$")
        environment = os.path.join(self.folder, "old")
        os.makedirs(environment + "/bin")
        shutil.copy(os.path.realpath(PYTHON), environment + "/bin/python")
        with open(environment + "/pyvenv.cfg", "w") as file:
            file.write("home = /nowhere\nversion = 3.7.9\n")
        self.assertRegex(refused("--python", environment),
                         r"^pymemrun: .*is Python 3.7, for which this pymemrun has "
                         rf"no tracer; it has tracers for (3\.\d+t?, )*{VERSION}\b")

    def test_where_files_say_another_version_the_interpreter_is_asked(self):
        # `any` has those that are newer than all that is known.
        other = next((v for v in TRACERS if v not in ("any", VERSION)), "3.15")
        environment = os.path.join(self.folder, "other")
        os.makedirs(environment + "/bin")
        os.symlink(os.path.realpath(PYTHON), environment + "/bin/python")
        with open(environment + "/pyvenv.cfg", "w") as file:
            file.write(f"home = {os.path.dirname(os.path.realpath(PYTHON))}\n"
                       f"version = {other.rstrip('t')}.0\n")
        run = self.run_preloaded(
            "import sys, os\n"
            "print(sys.prefix, 'LD_PRELOAD' in os.environ, sys.argv[1:])\n",
            "--python", environment)
        self.assertEqual(run.stdout, f"{environment} False []\n")
        self.assertTrue(run.header.python_version.startswith(VERSION.encode() + b"."))

    def build(self, source, name, *flags):
        path = os.path.join(self.folder, name)
        subprocess.run(["cc", "-x", "c", "-", "-o", path, *flags], check=True,
                       input=source, text=True)
        return path


if __name__ == "__main__":
    sys.exit(unittest.main())
