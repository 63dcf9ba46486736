"""--follow all: Pythons that the program or a child starts are traced, whatever
starts them, by either delivery; other programs run as ever."""
import glob
import os
import unittest

from process_support import EVERYTHING, ProcessRun, ProcessesTest

ALL = ("--follow", "all", *EVERYTHING)
CODE = "\"def in_child(): return 1\\nin_child()\""


class FollowAllTest(ProcessesTest):
    delivery = "embed"

    def run_all(self, text, files, *options, **kwargs):
        """The run files of all processes but the first, by their numbers."""
        self.run_family(text, *ALL, "--delivery", self.delivery, *options,
                        **kwargs)
        found = {run.header.pid: run for run in self.others()}
        self.assertEqual(len(found), files, found)
        return found

    def others(self):
        return [ProcessRun(path) for path in
                set(glob.glob(self.here + "/*.pb")) - {self.here + "/run.pb"}]

    def family(self, files):
        """Also of programs that were started."""
        runs = [ProcessRun(path) for path in glob.glob(self.here + "/*.pb")]
        self.wait_for_collectors([run.path for run in runs])
        for run in runs:
            self.assertEqual(len(run.records("footer")), 1, run.path)
        return runs, None

    def test_every_way_to_start_a_python(self):
        ways = {
            "subprocess": f"subprocess.run([sys.executable, '-c', {CODE}])",
            "a shell": f"subprocess.run(['sh', '-c', sys.executable + ' -c ' "
                       f"+ chr(39) + {CODE} + chr(39)])",
            "posix_spawn": "os.waitpid(os.posix_spawn(sys.executable, "
                           f"[sys.executable, '-c', {CODE}], os.environ), 0)",
            "fork and exec": "pid = os.fork()\nif pid == 0: os.execv("
                             f"sys.executable, ['python3', '-c', {CODE}])\n"
                             "os.wait()",
            "spawn": f"os.spawnv(os.P_WAIT, sys.executable, "
                     f"['python3', '-c', {CODE}])",
        }
        for name, way in ways.items():
            with self.subTest(name):
                (child,) = self.run_all("import subprocess\n" + way, 1).values()
                self.assertIn("in_child", child.functions())
                self.assertFalse(child.header.forked)
                self.assertEqual(
                    os.path.basename(child.path),
                    f"run.{child.header.pid}.pb")
                self.assertEqual(self.result.stderr, "")

    def test_parents_are_named(self):
        (child,) = self.run_all("""
import subprocess
print(os.getpid())
subprocess.run([sys.executable, '-c', 'pass'])
""", 1).values()
        self.assertEqual(child.header.parent_pid, int(self.result.stdout))
        self.assertGreater(child.header.parent_start_ticks, 0)

    def test_a_program_that_becomes_another_python(self):
        # The process is the same, and so is its number.
        (second,) = self.run_all(
            f"os.execv(sys.executable, ['python3', '-c', {CODE}])", 1).values()
        self.assertIn("in_child", second.functions())

    def test_one_that_does_so_twice(self):
        self.run_family(f"""
import subprocess
if len(sys.argv) < 3:
    os.execv(sys.executable, ["python3", __file__, *sys.argv[1:], "again"])
""", *ALL, "--delivery", self.delivery)
        own = [run.header.pid for run in self.others()]
        self.assertEqual(len(own), 2)
        self.assertEqual(len(set(own)), 1)
        self.assertEqual(
            sorted(os.path.basename(run.path) for run in self.others()),
            sorted([f"run.{own[0]}-1.pb", f"run.{own[0]}.pb"]))

    def test_children_of_started_programs(self):
        found = self.run_all("""
import subprocess
code = '''
import os
def in_child(): return 1
if os.fork() == 0:
    in_child()
    os._exit(0)
os.wait()
'''
subprocess.run([sys.executable, "-c", code])
""", 2)
        (forked,) = [run for run in found.values() if run.header.forked]
        self.assertIn(forked.header.parent_pid, found)

    def test_multiprocessing_spawn(self):
        found = self.run_all("""
import multiprocessing as mp
def task(n):
    return len(in_child()) + n
if __name__ == "__main__":
    with mp.get_context("spawn").Pool(1) as pool:
        print(pool.map(task, [1, 2]))
""", 2)  # the worker, and the resource tracker
        self.assertEqual(self.result.stdout, "[101, 102]\n")
        self.assertTrue(any("in_child" in run.functions()
                            for run in found.values()))

    def test_what_is_no_python_inherits_it(self):
        self.run_all("""
import subprocess
print(subprocess.check_output(["sh", "-c", "echo $0 ok"], text=True))
os.system("true")
""", 0)
        self.assertEqual(self.result.stdout, "sh ok\n\n")

    def test_the_programs_own_environment(self):
        self.run_all("""
import subprocess
subprocess.run([sys.executable, "-c", "pass"], env={"PATH": "/usr/bin:/bin"})
print(sorted(name for name in os.environ if "PRELOAD" in name))
""", 0)
        self.assertEqual(self.result.stdout,
                         "['LD_PRELOAD', 'PYMEMRUN_PRELOADED']\n")

    def test_only_with_all_does_it_change(self):
        self.run_family("""
import subprocess
subprocess.run([sys.executable, "-c", "pass"])
print(sorted(name for name in os.environ if "PRELOAD" in name))
""", "--delivery", self.delivery)
        self.assertEqual(self.result.stdout, "[]\n")
        self.assertEqual(self.others(), [])

    def test_a_number_in_the_name(self):
        found = self.run_all("""
import subprocess
os.chdir("/")
subprocess.run([sys.executable, "-c", "pass"])
os.rename(os.path.join(os.path.dirname(__file__), f"a{os.getpid()}.pb"),
          os.path.join(os.path.dirname(__file__), "run.pb"))
""", 1, output="a{pid}.pb")
        (child,) = found.values()
        self.assertEqual(os.path.basename(child.path),
                         f"a{child.header.pid}.pb")


class PreloadedTest(FollowAllTest):
    delivery = "preload"


if __name__ == "__main__":
    unittest.main()
