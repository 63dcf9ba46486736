"""Children, places and identities of a traced program: children run safely,
their parent's file stays whole, and what the program does to its folders and
rights harms neither it nor the run. What children's files hold is in
processes/."""
import os
import socket
import subprocess
import unittest

import perf_support
from fault_support import (CHILD, FaultTest, NOBODY, can_be_nobody,
                           can_unshare, is_root, run,
                           wait_for_collector_to_end)
from waiting import PATIENCE_S


class ChildTest(FaultTest):
    def same_and_whole(self, code, own=(), **kwargs):
        """Runs as under python3. The file holds every event of the program, no
        event of its children, and what happens after `code`."""
        script = self.script(CHILD + code + "\ntraced_still()\n")
        self.same([script], own, **kwargs)
        file = self.run_file()
        self.assert_whole(file)
        self.assertNotIn("only_in_a_child", file.names)
        self.assertEqual(file.rows_named("counted"), 2000)
        return file

    def test_many_forks_from_allocating_threads(self):
        file = self.same_and_whole("""
import random, signal, time
signal.alarm(280)
FORKS = 500
todo = iter(range(FORKS))
statuses = []
def one_child(i):
    pid = os.fork()
    if pid == 0:
        signal.alarm(200)
        held = [bytearray(random.randrange(1, 100000)) for _ in range(20)]
        only_in_a_child()
        if i % 8 == 0: os.execv("/bin/true", ["true"])
        if i % 8 == 1: sys.exit(7)
        if i % 8 == 2:
            thread = threading.Thread(target=only_in_a_child)
            thread.start()
            thread.join()
        os._exit(7)
    statuses.append((i, os.waitpid(pid, 0)[1]))
def work():
    chance = random.Random(1)
    held = []
    for i in todo:
        held.append(bytearray(chance.randrange(1, 300000)))
        del held[:-50]
        one_child(i)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
wrong = [s for s in statuses if s[1] != (0 if s[0] % 8 in (0, 1) else 7 << 8)]
# sys.exit in a thread ends that thread, and the child by its last thread.
wrong = [s for s in wrong if s[0] % 8 != 1]
print(len(statuses), wrong)
""")
        self.assertEqual(file.footer.untraced_children, 0)

    def test_a_child_that_tries_several_folders_is_one(self):
        file = self.same_and_whole("""
import os, subprocess
os.environ["PATH"] = "/n1:/n2:/n3:/usr/bin:/bin"
print(subprocess.run(["true"]).returncode)
""")
        self.assertEqual(file.footer.untraced_children, 1)

    def test_whatever_starts_a_program_is_counted(self):
        ways = {
            "vfork": "subprocess.run(['true'])",
            "spawn": "subprocess.run(['/bin/true'], close_fds=False)",
            "posix_spawnp": "os.waitpid(os.posix_spawnp('true', ['true'], os.environ), 0)",
            "system": "os.system('true')",
            "popen": "libc.pclose(libc.popen(b'true', b'r'))",
        }
        for name, way in ways.items():
            with self.subTest(name):
                file = self.same_and_whole(f"""
import ctypes, os, subprocess
libc = ctypes.CDLL(None)
libc.popen.restype = ctypes.c_void_p
libc.pclose.argtypes = [ctypes.c_void_p]
for i in range(2): {way}
try:
    subprocess.run(['/no/such'], close_fds=False)
except FileNotFoundError:
    pass
""")
                self.assertEqual(file.footer.untraced_children, 2)

    def test_many_subprocesses(self):
        file = self.same_and_whole("""
import subprocess
for i in range(1000):
    subprocess.run(["true"], close_fds=True, check=True)
blocks = [bytearray(1 << 20) for _ in range(8)]
""")
        # The gauge goes on: it sees the last blocks come.
        self.assertGreater(file.footer.max_rss_bytes,
                           file.header.first_rss_bytes + (4 << 20))

    def test_multiprocessing(self):
        self.same_and_whole("""
import multiprocessing as mp
def task(n):
    only_in_a_child()
    return n * n
def every_way():
    for way in ("fork", "spawn", "forkserver"):
        with mp.get_context(way).Pool(2) as pool:
            print(way, pool.map(task, range(5)))
if __name__ == "__main__":
    every_way()
""")

    def test_executor(self):
        self.same_and_whole("""
from concurrent.futures import ProcessPoolExecutor
def task(n):
    only_in_a_child()
    return n * n
def every():
    with ProcessPoolExecutor(2) as pool: print(list(pool.map(task, range(9))))
if __name__ == "__main__": every()
""")

    def test_every_way_to_make_a_child(self):
        ways = {
            "forkpty": "pid, fd = os.forkpty()",
            "raw fork": "import ctypes; pid = ctypes.CDLL(None).syscall(57)",
            "raw clone": "import ctypes; pid = ctypes.CDLL(None).syscall("
                         "56, 17, None, None, None, None)",
        }
        for name, way in ways.items():
            if name.startswith("raw") and os.uname().machine != "x86_64":
                continue
            with self.subTest(name):
                self.same_and_whole(way + """
if pid == 0:
    only_in_a_child()
    os._exit(7)
print(os.waitpid(pid, 0)[1])
""")

    def test_posix_spawn_and_vfork(self):
        self.same_and_whole("""
import subprocess
pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 7"], {})
print(os.waitpid(pid, 0)[1])
print(os.spawnv(os.P_WAIT, "/bin/true", ["true"]), os.system("exit 3"))
assert subprocess._USE_VFORK
for i in range(20):
    try: subprocess.run(["/nowhere/at/all"])
    except FileNotFoundError: pass
""")

    def test_a_child_may_do_anything(self):
        self.same_and_whole("""
def child():
    try: import pymemrun
    except ImportError: pymemrun = None
    if pymemrun:
        pymemrun.start(); only_in_a_child()
        pymemrun.mark("child"); pymemrun.stop(); pymemrun.start()
        with pymemrun.trace(): only_in_a_child()
    thread = threading.Thread(target=only_in_a_child)
    thread.start(); thread.join()
    seen = []
    sys.setprofile(lambda *a: seen.append(a[1]))
    only_in_a_child()
    sys.setprofile(None)
    only_in_a_child()
    if os.fork() == 0:
        only_in_a_child()
        os._exit(3)
    print(len(seen), sys.getprofile(), os.wait()[1])
    sys.stdout.flush()
    os.closerange(3, 4096)
for i in range(3):
    if os.fork() == 0:
        child()
        sys.exit(5)
    print(os.wait()[1], flush=True)
""", ["--quiet"])

    @unittest.skipUnless(can_unshare("--pid", "--fork"),
                         "may not make a PID namespace")
    def test_a_child_with_the_programs_number(self):
        # In a PID namespace of its own, whose first process sets the number.
        self.same_and_whole("""
import ctypes
number = os.getpid()
if ctypes.CDLL(None).unshare(0x20000000) != 0: sys.exit("unshare")
if os.fork() == 0:
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(number - 1))
    if os.fork() == 0:
        assert os.getpid() == number
        only_in_a_child()
        os.close(os.open("/dev/null", os.O_RDONLY))
        try: os.execv("/nowhere/at/all", ["x"])
        except FileNotFoundError: pass
        sys.exit(5)
    os._exit(os.wait()[1] >> 8)
print(os.wait()[1] >> 8)
# No more children: their namespace has ended with its first process.
""")

    def test_the_child_outlives_the_program(self):
        # It keeps neither the run file open nor its end waiting.
        script = self.script(CHILD + """
if os.fork() == 0:
    only_in_a_child()
    os.read(0, 1)  # for as long as we hold the other end
    os._exit(0)
traced_still()
""")
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                result = subprocess.run(
                    self.command([script], ["--quiet"]), stdin=theirs,
                    cwd=self.folder, timeout=PATIENCE_S)
            self.assertEqual(result.returncode, 0)
            wait_for_collector_to_end(self.output)
            file = self.run_file()
        self.assert_whole(file)
        self.assertNotIn("only_in_a_child", file.names)

    def test_a_child_that_may_not_poll(self):
        # Its filter of system calls binds its collector, too.
        script = self.script(CHILD + f"""
sys.path.insert(0, {os.path.dirname(perf_support.__file__)!r})
import perf_support
perf_support.refuse_poll()
child = os.fork()
if child == 0:
    only_in_a_child()
    os._exit(7)
print(child, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
        result = self.traced([script], ["--quiet"])
        child, status = result.stdout.split()
        self.assertEqual((int(status), result.stderr), (7, b""))
        path = self.output.replace(".pb", f".{int(child)}.pb")
        wait_for_collector_to_end(path)
        self.assertIn("only_in_a_child", self.run_file(path).names)


class PlaceTest(FaultTest):
    def test_changing_the_folder(self):
        self.same([self.script(CHILD + """
os.mkdir("deep") if not os.path.exists("deep") else None
os.chdir("deep")
print(os.getcwd())
os.chdir("/")
traced_still()
""")])
        self.assert_whole(self.run_file())

    def test_relative_output(self):
        script = self.script(CHILD + "os.chdir('/')\ntraced_still()\n")
        found = run(self.command([script], output="here.pb"), cwd=self.folder)
        self.assertEqual(found.returncode, 0)
        self.assert_whole(self.run_file(self.path("here.pb")))

    def test_renaming_the_run_file(self):
        output = self.new_run()
        script = self.script(CHILD + f"""
os.rename({output!r}, "elsewhere.pb")
traced_still()
""")
        found = run(self.command([script], output=output), cwd=self.folder)
        self.assertEqual((found.returncode, found.stdout), (0, b""))
        self.assertFalse(os.path.exists(output))
        self.assert_whole(self.run_file(self.path("elsewhere.pb")))

    def test_removing_the_run_file(self):
        output = self.new_run()
        script = self.script(CHILD + f"os.unlink({output!r})\ntraced_still()\n")
        found = run(self.command([script], output=output), cwd=self.folder)
        self.assertEqual((found.returncode, found.stdout), (0, b""))
        self.assertFalse(os.path.exists(output))

    @is_root
    def test_dropping_privileges(self):
        self.same([self.script(CHILD + f"""
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
print(os.getuid())
held = [bytearray(1 << 20) for _ in range(16)]
os.closerange(3, 65536)
more = [bytearray(1 << 20) for _ in range(16)]
traced_still()
""")])
        file = self.run_file()
        self.assert_whole(file)
        self.assertEqual(file.rows_named("counted"), 2000)

    @is_root
    def test_exec_after_dropping_privileges(self):
        # Nobody's program may not be looked into; the footer comes all the
        # same, not only at its end.
        script = self.script(CHILD + f"""
os.setuid({NOBODY})
traced_still()
os.execv("/bin/echo", ["echo", "new"])
""")
        self.same([script])
        file = self.run_file()
        self.assert_whole(file)
        self.assertEqual(file.end()[0], "EXEC")

    @can_be_nobody
    def test_as_nobody(self):
        self.same([self.script(CHILD + "traced_still()")], ordinary=True)
        self.assert_whole(self.run_file())
        self.assertEqual(os.stat(self.output).st_mode & 0o777, 0o600)

    def test_mode_is_0600_whatever_the_umask(self):
        for mask in (0, 0o77, 0o777):
            self.traced([self.script("pass")],
                        preexec_fn=lambda: os.umask(mask))
            self.assertEqual(os.stat(self.output).st_mode & 0o777, 0o600)


class DepthTest(FaultTest):
    def test_recursion(self):
        for limit in ("", "sys.setrecursionlimit(50000)"):
            with self.subTest(limit):
                self.same([self.script("import sys\n" + limit + """
depth = 0
def f():
    global depth
    depth += 1
    f()
try: f()
except RecursionError as error: print(depth, error)
class Odd:
    def __repr__(self):
        global depth
        depth += 1
        return repr(self) if depth < 300 else "x"
depth = 0
print(repr(Odd()), depth)
""")])
                self.assert_whole(self.run_file())


if __name__ == "__main__":
    unittest.main()
