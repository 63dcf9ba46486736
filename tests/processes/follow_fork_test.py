"""--follow fork: each forked child that runs Python code has a run file of its
own, with its own rows, whatever way it was forked."""
import json
import os
import unittest

from process_support import EVERYTHING, ProcessesTest, ProcessRun

WAIT = "pid and print(os.waitpid(pid, 0)[1])\n"


class WaysToForkTest(ProcessesTest):
    def assert_one_child(self, text, *options, **kwargs):
        first, children = self.run_family(text, *EVERYTHING, *options, files=1,
                                          **kwargs)
        (child,) = children.values()
        self.assertIn("in_child", child.functions())
        self.assertNotIn("in_child", first.functions())
        self.assertNotIn("in_parent", child.functions())
        return first, child

    def test_a_child_has_a_file_of_its_own(self):
        first, child = self.assert_one_child("""
in_parent()
pid = os.fork()
if pid == 0:
    in_child()
    os._exit(3)
print(pid, os.waitpid(pid, 0)[1])
""")
        pid, status = map(int, self.result.stdout.split())
        self.assertEqual(status, 3 << 8)
        self.assertEqual(os.path.basename(child.path), f"run.{pid}.pb")
        self.assertEqual(os.stat(child.path).st_mode & 0o777, 0o600)
        header = child.header
        self.assertEqual(header.pid, pid)
        self.assertTrue(header.forked)
        self.assertEqual(header.parent_pid, first.header.pid)
        self.assertEqual(header.parent_start_ticks,
                         first.header.process_start_ticks)
        self.assertGreaterEqual(header.process_start_ticks,
                                first.header.process_start_ticks)
        self.assertGreater(first.header.process_start_ticks, 0)
        self.assertEqual(list(header.argv), list(first.header.argv))
        self.assertEqual(first.footer.untraced_children, 0)

    def test_its_rows_are_numbered_anew_and_whole(self):
        _, child = self.assert_one_child("""
in_parent()
if (pid := os.fork()) == 0:
    in_child()
    os._exit(0)
os.wait()
""")
        rows = child.rows()
        self.assert_nothing_lost(child, rows)
        self.assertEqual((rows[0]["what"], rows[0]["function"]),
                         ("CALL", "in_child"))
        self.assertEqual(child.header.first_rss_bytes, rows[0]["rss_bytes"])

    def test_a_child_that_calls_nothing(self):
        # The call of a type is no event, nor is a comprehension from 3.12 on.
        for code in ("held = [bytearray(1 << 20) for _ in range(40)]",
                     "for held in [[]] * 40: held += [bytearray(1 << 20)]"):
            for options in (), ("--heap", "all"):
                with self.subTest(code=code, options=options):
                    _, children = self.run_family(f"""
if (pid := os.fork()) == 0:
    {code}
    os._exit(0)
""" + WAIT, *options, files=1)
                    (child,) = children.values()
                    lines = json.loads(child.report("heap", "--json", "--at",
                                                    "exit", "--limit", "1"))
                    self.assertIn("script.py", lines[0]["file"])
                    self.assertGreater(lines[0]["live_bytes"], 30 << 20)

    def test_a_child_that_ends_by_itself_says_nothing(self):
        _, child = self.assert_one_child("""
if (pid := os.fork()) == 0:
    in_child()
    sys.exit(5)
""" + WAIT, )
        self.assertEqual(self.result.stdout, f"{5 << 8}\n")
        self.assertEqual(self.result.stderr, "")
        self.assertEqual(child.footer.exit_status, 5)
        self.assertGreater(child.footer.own_bytes, 0)  # it said its end

    def test_a_child_that_is_killed(self):
        _, child = self.assert_one_child("""
import signal
if (pid := os.fork()) == 0:
    in_child()
    os.kill(os.getpid(), signal.SIGKILL)
""" + WAIT)
        self.assertEqual(self.result.stdout, "9\n")
        self.assertEqual(child.footer.end, child.footer.SIGNAL)

    def test_a_child_whose_parent_waits_late(self):
        """So it is a zombie until its file has an end."""
        for status in 0, 4:
            _, child = self.assert_one_child(f"""
if (pid := os.fork()) == 0:
    in_child()
    os._exit({status})
import time; time.sleep(1.5)
""" + WAIT)
            self.assertEqual(self.result.stdout, f"{status << 8}\n")
            self.assertEqual((child.footer.end, child.footer.exit_status),
                             (child.footer.EXIT, status))

    def test_from_a_thread(self):
        self.assert_one_child("""
def work():
    pid = os.fork()
    if pid == 0:
        in_child()
        os._exit(0)
    print(os.waitpid(pid, 0)[1])
thread = threading.Thread(target=work)
thread.start(); thread.join()
""")

    def test_forkpty(self):
        first, child = self.assert_one_child("""
pid, fd = os.forkpty()
if pid == 0:
    in_child()
    os._exit(0)
""" + WAIT, "--trace", "calls,pages")
        self.assertEqual([fork.child_pid for fork in first.records("fork")],
                         [child.header.pid])

    def test_no_collector_is_the_programs_to_reap(self):
        """As a subreaper it is given its orphans: they are its own alone."""
        first, _ = self.run_family("""
import ctypes
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
if os.fork() == 0:
    in_child()
    if os.fork() == 0:
        in_child()
        os._exit(4)
    os._exit(3)
ends = []
try:
    while True: ends.append(os.wait()[1] >> 8)
except ChildProcessError: print(sorted(ends))
""", *EVERYTHING, files=0)
        self.assertEqual(self.result.stdout, "[3, 4]\n")
        self.assertEqual(self.result.stderr, "")
        self.assertEqual(first.footer.untraced_children, 1)

    def test_a_child_under_the_programs_own_profiler(self):
        self.run_family("""
seen = []
sys.setprofile(lambda *event: seen.append(event[1]))
if (pid := os.fork()) == 0:
    del seen[:]
    in_child()
    sys.setprofile(None)
    in_child()
    os._exit("call" not in seen or "return" not in seen)
sys.setprofile(None)
""" + WAIT, *EVERYTHING, files=1)
        self.assertEqual(self.result.stdout, "0\n")

    def test_a_module(self):
        # The user's code ends in the child where it ends in the parent.
        self.write("package/__init__.py", "")
        self.write("package/tool.py", """import os
def in_child(): return 1
if os.fork() == 0: in_child()
else: os.wait()
""")
        run = self.pymemrun("--quiet", *EVERYTHING, "-m", "package.tool")
        folder, name = os.path.split(run.path)
        self.here = folder
        stem = name.removesuffix(".pb")
        (path,) = [p for p in os.listdir(folder) if p.startswith(stem + ".")
                   and p != name]
        rows = ProcessRun(os.path.join(folder, path)).rows()
        self.assertEqual({row["function"] for row in rows} - {"getpid"},
                         {"in_child", "<module>"})
        os.unlink(os.path.join(folder, path))

    def test_daemon(self):
        # The program and the child between end first.
        first, children = self.run_family("""
if os.fork() > 0: sys.exit(0)
os.setsid()
if os.fork() > 0: os._exit(0)
def late():
    os.read(0, 1)
    in_child()
late()
open("done", "w").close()
""", *EVERYTHING, files=1)
        (daemon,) = children.values()
        self.assertIn("in_child", daemon.functions())
        # The child between ran no code of its own.
        self.assertEqual(daemon.header.parent_pid, first.header.pid)

    def test_grandchildren_name_their_parents(self):
        first, children = self.run_family("""
in_parent()
if os.fork() == 0:
    in_child()
    if os.fork() == 0:
        in_child()
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
""", *EVERYTHING, files=2)
        parents = {pid: child.header.parent_pid
                   for pid, child in children.items()}
        (child,) = [p for p, q in parents.items() if q == first.header.pid]
        (grandchild,) = [p for p, q in parents.items() if q == child]
        self.assertEqual(
            children[grandchild].header.parent_start_ticks,
            children[child].header.process_start_ticks)

    def test_multiprocessing(self):
        for way, files in (("fork", 2), ("forkserver", 2)):
            with self.subTest(way):
                first, children = self.run_family(f"""
import multiprocessing as mp
def task(n):
    return len(in_child()) + n
if __name__ == "__main__":
    with mp.get_context({way!r}).Pool(2) as pool:
        print(pool.map(task, range(4)))
""", *EVERYTHING, files=files if way == "fork" else None)
                self.assertEqual(self.result.stdout,
                                 "[100, 101, 102, 103]\n")
                if way == "fork":
                    seen = [child for child in children.values()
                            if "in_child" in child.functions()]
                    self.assertGreaterEqual(len(seen), 1)

    def test_what_calls_are_traced_does_not_matter(self):
        for options in (("--trace", "none", "--heap", "all"),
                        ("--trace", "pages", "--heap", "off"),
                        ("--light",)):
            with self.subTest(options):
                self.run_family("""
if (pid := os.fork()) == 0:
    held = in_child()
    os._exit(0)
""" + WAIT, *options, files=1, env={"PYMEMRUN_TRACE": ""})

    def test_a_paused_parent_has_paused_children(self):
        _, children = self.run_family("""
import pymemrun
for begins in (False, True):
    if (pid := os.fork()) == 0:
        in_parent()
        if begins:
            pymemrun.start()
            in_child()
        os._exit(0)
    os.waitpid(pid, 0)
""", "--paused", *EVERYTHING, files=2)
        self.assertEqual(
            sorted(len(child.rows()) > 0 for child in children.values()),
            [False, True])
        for child in children.values():
            self.assertNotIn("in_parent", child.functions())


class NoFileTest(ProcessesTest):
    def assert_no_child(self, text, *options, **kwargs):
        first, _ = self.run_family(text, *EVERYTHING, *options, files=0,
                                   **kwargs)
        return first

    def test_children_that_run_no_python(self):
        first = self.assert_no_child("""
import logging, random, subprocess, threading  # which heed forks
for way in range(9):
    pid = os.fork()
    if pid == 0:
        if way == 0: os._exit(0)
        if way == 1: os.execv("/bin/true", ["true"])
        if way == 2: os.execlp("true", "true")
        if way == 3: os.execl("/bin/true", "true")
        if way == 4: os.execle("/bin/true", "true", {})
        if way == 5: os.execlpe("true", "true", {"PATH": "/no:/bin"})
        if way == 6: os.execvpe("true", ["true"], os.environ)
        if way == 7: os.execve("/bin/true", ["true"], {})
        os.close(0); os.setsid(); os.execvp("true", ["true"])
    print(os.waitpid(pid, 0)[1])
print(subprocess.run(["true"], preexec_fn=in_parent).returncode)
""")
        self.assertEqual(self.result.stdout, "0\n" * 10)
        self.assertEqual(first.footer.untraced_children, 10)

    def test_none_is_followed_where_none_is_wished(self):
        first = self.assert_no_child("""
if (pid := os.fork()) == 0:
    in_child()
    os._exit(0)
""" + WAIT, "--follow", "none")
        self.assertEqual(first.footer.untraced_children, 1)

    @unittest.skipUnless(os.uname().machine == "x86_64", "another number")
    def test_a_child_that_the_interpreter_does_not_know_of(self):
        self.assert_no_child("""
import ctypes
if (pid := ctypes.CDLL(None).syscall(57)) == 0:
    in_child()
    os._exit(0)
""" + WAIT)

    def test_a_child_without_room_for_its_file_runs_on(self):
        self.run_family("""
os.rename(os.path.dirname(__file__), os.path.dirname(__file__) + "-moved")
if (pid := os.fork()) == 0:
    in_child()
    if os.fork() == 0:
        in_child()
        os._exit(7)
    os._exit(os.wait()[1] >> 8)
print(os.waitpid(pid, 0)[1] >> 8)
os.rename(os.path.dirname(__file__) + "-moved", os.path.dirname(__file__))
""", files=0)
        self.assertEqual(self.result.stdout, "7\n")
        self.assertIn("it runs untraced", self.result.stderr)
        self.assertEqual(self.result.stderr.count("\n"), 1)


class NamesTest(ProcessesTest):
    ONE = """
if (pid := os.fork()) == 0:
    in_child()
    os._exit(0)
print(pid, os.getpid())
os.wait()
"""

    def test_a_number_in_the_name(self):
        first, children = self.run_family(self.ONE, output="a{pid}-{name}.pb",
                                          files=1)
        child, own = self.result.stdout.split()
        self.assertEqual(
            sorted(os.listdir(self.here)),
            sorted([f"a{child}-script.pb", f"a{own}-script.pb", "script.py"]))

    def test_the_file_is_beside_the_first_ones_wherever_the_child_is(self):
        first, (child,) = self.run_family("os.chdir('/')\n" + self.ONE, files=1)
        self.assertEqual(sorted(os.listdir(self.here)),
                         sorted(["run.pb", f"run.{child}.pb", "script.py"]))

    def test_a_name_that_is_taken_is_left_alone(self):
        self.run_family("""
read, write = os.pipe()
if (pid := os.fork()) == 0:
    os.read(read, 1)
    in_child()
    os._exit(0)
with open(os.path.join(os.path.dirname(__file__), f"run.{pid}.pb"), "w"):
    pass
os.write(write, b"x")
os.wait()
os.unlink(os.path.join(os.path.dirname(__file__), f"run.{pid}.pb"))
""", "--force", files=1)
        (name,) = set(os.listdir(self.here)) - {"run.pb", "script.py"}
        self.assertTrue(name.endswith("-1.pb"), name)


if __name__ == "__main__":
    unittest.main()
