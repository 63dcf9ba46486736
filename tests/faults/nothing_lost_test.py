"""However a program ends, the run file holds its events: all of them, or after
a kill all but the last few; and it ends as it does under python3."""
import os
import random
import resource
import signal
import subprocess
import time
import unittest

import fault_support
from fault_support import (FaultTest, LITTLE_KILOBYTES, PYMEMRUN, can_unshare,
                           collectors, run, wait_for_collector_to_end, wait_until)

KILLS = int(os.environ.get("PYMEMRUN_TEST_KILLS", "20"))
AT_MOST_LOST = 64  # of each thread
LOST_WITH_COLLECTOR_S = 0.250

# Each thread counts the calls that it has made, in a file that outlives it;
# what it does for that causes no events.
COUNTING = """
import _thread, mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR)
done = memoryview(mmap.mmap(file, 8 * 64)).cast("Q")
def f(): pass
def work(slot):
    n = 0
    while True:
        f()
        n += 1
        done[slot] = n
threads = int(sys.argv[2])
for slot in range(1, threads):
    _thread.start_new_thread(work, (slot,))
work(0)
"""

# As above; also keeps how many calls had been made in each 10 ms.
CLOCKED = """
import mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR)
done = memoryview(mmap.mmap(file, 8 * 4096)).cast("Q")
now = time.monotonic
def f(): pass
def work():
    n = 0
    while True:
        f()
        n += 1
        done[int(now() * 100) % 4096] = n
work()
"""

CALLS = 5000
BEFORE = f"""
import ctypes, os, signal, sys, time
def counted(): pass
for i in range({CALLS}): counted()
"""

# The end of a program -> how the footer says it ended, from a kernel that
# tells a process's status to those who are not its parent.
ENDS = {
    "os._exit(4)": ("EXIT", 4),
    "ctypes.string_at(0)": ("SIGNAL", signal.SIGSEGV),
    "os.kill(os.getpid(), signal.SIGTERM)": ("SIGNAL", signal.SIGTERM),
    "os.kill(os.getpid(), signal.SIGHUP)": ("SIGNAL", signal.SIGHUP),
    "os.kill(os.getpid(), signal.SIGKILL)": ("SIGNAL", signal.SIGKILL),
    "os.kill(os.getpid(), signal.SIGINT); time.sleep(900)":
        ("SIGNAL", signal.SIGINT),
    "os.abort()": ("SIGNAL", signal.SIGABRT),
    "ctypes.CDLL(None).quick_exit(7)": ("EXIT", 7),
    "ctypes.CDLL(None).exit(6)": ("EXIT", 6),
    "1/0": ("EXIT", 1),
    "sys.exit(3)": ("EXIT", 3),
    "sys.exit('bye')": ("EXIT", 1),
    "pass": ("EXIT", 0),
}
TOLD_LITTLE = ("KILLED_OR_EXITED", 0)


class KillTest(FaultTest):
    def kill_once(self, threads, delay, from_start):
        counts = self.path("counts")
        with open(counts, "wb") as file:
            file.write(bytes(8 * 64))

        def done():
            with open(counts, "rb") as file:
                return memoryview(file.read()).cast("Q")[:threads].tolist()
        program = subprocess.Popen(
            self.command([self.counting, counts, str(threads)]),
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if not from_start:
            self.assertTrue(wait_until(lambda: all(done())))
        time.sleep(delay)
        program.kill()
        stderr = program.communicate()[1]
        self.assertEqual(program.returncode, -signal.SIGKILL)
        self.assertEqual(stderr, b"")
        wait_for_collector_to_end(self.output)
        calls = done()
        if not sum(calls) and not (os.path.exists(self.output) and
                                   os.path.getsize(self.output)):
            return  # killed before its run began
        file = self.run_file()
        self.assertEqual((file.returncode, file.headers, file.unordered),
                         (0, 1, 0))
        if not sum(calls):
            return
        # The event under way has its number, perhaps not yet its row.
        self.assertEqual((file.messages, file.footers), ("", 1))
        self.assertEqual(file.rows, file.next_number)
        self.assertEqual(file.rows, file.footer.rows)
        self.assertIn(file.footer.events - file.rows, range(2))
        self.assertEqual(file.footer.dropped, 0)
        self.assertIn(file.end(), [("SIGNAL", signal.SIGKILL), TOLD_LITTLE])
        # Thread by thread: the counts belong to the threads in some order.
        # Besides its calls a thread has only its beginning, with the imports.
        rows_of_thread = sorted(file.rows_of_thread.values())
        rows_of_thread = [0] * (threads - len(rows_of_thread)) + rows_of_thread
        for count, rows in zip(sorted(calls), rows_of_thread):
            self.assertGreaterEqual(rows, 2 * count - AT_MOST_LOST)
            self.assertLessEqual(rows, 2 * count + 1000)

    def test_killed_at_any_moment(self):
        self.counting = self.script(COUNTING)
        for i in range(KILLS):
            seed = random.randrange(1 << 30)
            chance = random.Random(seed)
            delay = chance.uniform(0, 0.3)
            threads = 1 + 2 * (i % 2)
            with self.subTest(seed=seed, threads=threads, delay=delay):
                self.kill_once(threads, delay, from_start=i % 4 == 3)


class EndTest(FaultTest):
    def test_every_end_keeps_every_event(self):
        for end, expected in ENDS.items():
            with self.subTest(end):
                self.same([self.script(BEFORE + end + "\n")])
                file = self.run_file()
                self.assert_whole(file)
                self.assertEqual(file.rows_named("counted"), 2 * CALLS)
                if expected[0] == "EXIT" and "quick" not in end:
                    self.assertEqual(file.end(), expected)
                else:
                    self.assertIn(file.end(), [expected, TOLD_LITTLE])

    def exec_ended(self, code):
        """Runs `code`, which becomes a sleep; the footer must not wait."""
        program = subprocess.Popen(
            self.command([self.script(BEFORE + code)], ["--quiet"]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)

        def sleeps():
            with open(f"/proc/{program.pid}/comm") as file:
                return file.read() == "sleep\n"
        self.assertTrue(wait_until(sleeps))
        wait_for_collector_to_end(self.output)
        self.assertIsNone(program.poll())
        file = self.run_file()
        self.assert_whole(file)
        self.assertEqual(file.rows_named("counted"), 2 * CALLS)
        self.assertEqual(file.end()[0], "EXEC")

    def test_exec(self):
        for call in ("os.execv('/bin/sleep', ['sleep', '1000'])",
                     "os.execvpe('sleep', ['sleep', '1000'], {'PATH': '/bin'})",
                     "ctypes.CDLL(None).execl(b'/bin/sleep', b'sleep', b'1000', "
                     "ctypes.c_void_p())"):
            with self.subTest(call):
                self.exec_ended(call)

    @unittest.skipUnless(os.uname().machine == "x86_64", "numbers of x86-64")
    def test_exec_by_a_raw_system_call(self):
        self.exec_ended("""
argv = (ctypes.c_char_p * 3)(b"sleep", b"1000")
ctypes.CDLL(None).syscall(59, b"/bin/sleep", argv, ctypes.c_void_p())
""")

    def test_exec_from_another_thread(self):
        self.exec_ended("""
import threading
threading.Thread(target=os.execv, args=("/bin/sleep", ["sleep", "1000"])).start()
time.sleep(900)
""")

    def test_a_failed_exec_changes_nothing(self):
        self.same([self.script(BEFORE + """
try:
    os.execv("/nowhere/at/all", ["x"])
except FileNotFoundError as error:
    print(error)
for i in range(1000): counted()
""")])
        file = self.run_file()
        self.assert_whole(file)
        self.assertEqual(file.rows_named("counted"), 2 * CALLS + 2000)
        self.assertEqual(file.end(), ("EXIT", 0))

    def test_the_program_execs_itself_traced_anew(self):
        again = self.path("again.pb")
        result = self.traced([self.script(BEFORE + f"""
if len(sys.argv) == 1:
    os.execv({PYMEMRUN!r}, ["pymemrun", "--quiet", "--min-drss", "0", "-o",
                            {again!r}, sys.argv[0], "x"])
print("end")
""")])
        self.assertEqual(result[:3], (0, b"end\n", b""))
        wait_for_collector_to_end(again)
        for path, end in ((self.output, "EXEC"), (again, "EXIT")):
            file = self.run_file(path)
            self.assertEqual(file.rows_named("counted"), 2 * CALLS)
            self.assertEqual(file.end()[0], end)

    def test_little_address_space(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (300000 << 10,) * 2)
        code = BEFORE + """
held = []
try:
    while True: held.append(bytearray(1 << 20))
except MemoryError:
    del held
    print("no more memory")
"""
        expected = self.plain([self.script(code)], preexec_fn=limit)
        found = self.traced([self.path("s.py")], preexec_fn=limit)
        self.assertEqual(found[:2], expected[:2])
        if found.stderr:
            self.assertRegex(found.stderr,
                             rb"\Apymemrun: [^\n]* runs untraced\n\Z")
            return
        file = self.run_file()
        self.assert_whole(file)
        self.assertEqual(file.rows_named("counted"), 2 * CALLS)

    def test_address_space_for_the_interpreter_only(self):
        for kilobytes in (17000, LITTLE_KILOBYTES, 30000, 40000):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (kilobytes << 10,) * 2)
            with self.subTest(kilobytes):
                script = self.script("print(1)")
                expected = self.plain([script], preexec_fn=limit)
                found = self.traced([script], preexec_fn=limit)
                if expected.returncode == 0:
                    self.assertEqual(found[:2], expected[:2])
                    self.assertLessEqual(found.stderr.count(b"\n"), 1)

    def test_a_thread_that_outlives_main(self):
        # The main thread leaves by pthread_exit: that is no end of the program.
        found = self.traced([self.script(BEFORE + """
import threading
def later():
    time.sleep(0.5)
    for i in range(1000): counted()
    os._exit(5)
threading.Thread(target=later).start()
ctypes.CDLL(None).syscall(60, 0)
""")])
        self.assertEqual(found.returncode, 5)
        file = self.run_file()
        self.assert_whole(file)
        self.assertEqual(file.rows_named("counted"), 2 * CALLS + 2000)


@unittest.skipUnless(can_unshare("--pid", "--fork", "--mount-proc"),
                     "may not make a PID namespace")
class NamespaceTest(FaultTest):
    def unshared(self, *command):
        return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
                *command]

    def test_pid_1_waits_for_nobody_but_its_children(self):
        script = self.script(BEFORE + """
print(os.getpid() < 3)
try: print(os.wait())
except ChildProcessError: print("no child")
if os.fork() == 0:
    if os.fork() == 0: os._exit(0)  # an orphan
    os._exit(7)
print(os.wait()[1] >> 8)
sys.exit(9)
""")
        found = run(self.unshared(*self.command([script], ["--quiet"])))
        self.assertEqual(found[:3], (9, b"True\nno child\n7\n", b""))
        file = self.run_file()
        self.assert_whole(file)
        self.assertEqual(file.rows_named("counted"), 2 * CALLS)
        self.assertEqual(file.end(), ("EXIT", 9))

    def test_pid_1_whose_program_is_killed(self):
        script = self.script(
            BEFORE + "os.kill(os.getpid(), signal.SIGKILL)")
        found = run(self.unshared(*self.command([script], ["--quiet"])))
        self.assertEqual(found[:3], (128 + 9, b"", b""))
        file = self.run_file()
        self.assert_whole(file)
        self.assertEqual(file.rows_named("counted"), 2 * CALLS)

    def test_pid_1_passes_signals_on(self):
        script = self.script(BEFORE + """
def ended(*a):
    print("told"); sys.exit(4)
signal.signal(signal.SIGTERM, ended)
print("ready", flush=True)
while True: time.sleep(0.05)
""")
        program = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--mount-proc",
             *self.command([script], ["--quiet"])], stdout=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), b"ready\n")
        children = f"/proc/{program.pid}/task/{program.pid}/children"
        with open(children) as file:
            os.kill(int(file.read()), signal.SIGTERM)
        self.assertEqual(program.communicate()[0], b"told\n")
        self.assertEqual(program.returncode, 4)
        self.assert_whole(self.run_file())

    def torn_down(self):
        """Seconds of the program that are not in the file."""
        counts = self.path("counts")
        with open(counts, "wb") as file:
            file.write(bytes(8 * 4096))
        script = self.script(CLOCKED)
        program = subprocess.Popen(
            self.unshared(*self.command([script, counts], ["--quiet"])),
            stderr=subprocess.DEVNULL)
        def done():
            with open(counts, "rb") as file:
                return memoryview(file.read()).cast("Q").tolist()
        self.assertTrue(wait_until(lambda: any(done())))
        time.sleep(random.uniform(0.5, 1.5))
        children = f"/proc/{program.pid}/task/{program.pid}/children"
        with open(children) as file:
            os.kill(int(file.read()), signal.SIGKILL)
        end = time.monotonic()
        program.wait()
        file = self.run_file()
        self.assertEqual(file.returncode, 0)
        self.assertEqual((file.footers, file.unordered), (0, 0))
        self.assertEqual(file.rows, file.next_number)
        calls = file.rows_named("f") // 2
        missing = [slot for slot, n in enumerate(done()) if n > calls]
        # The program may have run on for a moment after `end`.
        ages = [(int(end * 100) - slot + 100) % 4096 - 100 for slot in missing]
        return max(ages, default=0) / 100

    def test_torn_down_with_its_collector(self):
        # On a busy machine the collector may come to run late: the best of
        # some counts, and none is far off.
        missing = [self.torn_down() for _ in range(4)]
        self.assertLessEqual(min(missing), LOST_WITH_COLLECTOR_S, missing)
        self.assertLessEqual(max(missing), 1, missing)


class SubreaperTest(FaultTest):
    WAITS = """
try: print(os.wait())
except ChildProcessError: print("no child")
if os.fork() == 0: os._exit(7)
print(os.wait()[1] >> 8)
"""

    def test_started_as_a_subreaper(self):
        script = self.script(BEFORE + self.WAITS + "sys.exit(9)")
        become = ("import ctypes, os, sys\n"
                  "ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n"
                  "os.execv(sys.argv[1], sys.argv[1:])\n")
        found = run([fault_support.PYTHON, "-c", become,
                     *self.command([script], ["--quiet"])])
        self.assertEqual(found[:3], (9, b"no child\n7\n", b""))
        self.assert_whole(self.run_file())

    def test_becomes_a_subreaper(self):
        script = self.script(BEFORE +
                             "ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n" +
                             self.WAITS)
        self.same([script])
        self.assert_whole(self.run_file())

    def test_below_a_subreaper(self):
        # The collector is then the subreaper's child, not the program's.
        script = self.script(BEFORE + self.WAITS)
        adopt = ("import ctypes, os, subprocess, sys\n"
                 "ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n"
                 "print(subprocess.call(sys.argv[1:]))\n")
        found = run([fault_support.PYTHON, "-c", adopt,
                     *self.command([script], ["--quiet"])])
        self.assertEqual(found[:3], (0, b"no child\n7\n0\n", b""))
        wait_for_collector_to_end(self.output)
        self.assert_whole(self.run_file())


if __name__ == "__main__":
    unittest.main()
