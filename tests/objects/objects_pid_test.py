#!/usr/bin/env python3
"""`pymemreport objects --pid`: a program that runs is asked for a dump from
outside. It goes on as without, and each thing that goes wrong has one line."""
import os
import re
import signal
import subprocess
import unittest

import object_dump
import ordinary_user
import support
from fault_support import can_unshare
from waiting import PATIENCE_S, wait_until

# The program that `python3` runs as well. It says "ready" and works until its
# input ends.
BUSY = """
import sys, threading
class Planted: pass
kept = [Planted() for i in range(77)]
ended = []
threading.Thread(target=lambda: ended.append(sys.stdin.read())).start()
print("ready", flush=True)
while not ended:
    sum(range(1000))
print("bye", len(kept))
"""
DUMPED = re.compile(r"(?P<path>/.*\.pb): [\d,]+ objects, [\d.]+ \w+, the program paused "
                    r"[\d.]+ s, complete after [\d.]+ s\n")


class Job:
    """A program under pymemrun that goes on beside the test."""

    def __init__(self, test, text, *options, path=None):
        type(test).jobs += 1  # they share a folder
        name = f"job{test.jobs}"
        self.path = path or os.path.join(test.folder, name + ".pb")
        script = test.write(name + ".py", text)
        self.process = subprocess.Popen(
            [support.PYMEMRUN, "--quiet", "-o", self.path, *options, script],
            cwd=test.folder, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTHON")})
        test.addCleanup(self.stop)
        self.pid = self.process.pid
        self.first = self.process.stdout.readline().strip()

    def stop(self):
        self.process.kill()
        self.process.communicate()

    def finish(self):
        """What it prints until its end, on both streams, and its exit code."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return out, err, self.process.returncode


class ObjectsPidTest(support.ProgramTest):
    jobs = 0

    def command(self, *arguments):
        return [support.PYMEMREPORT, "objects", *map(str, arguments)]

    def ask(self, pid, *options, status=0):
        result = subprocess.run(self.command("--pid", pid, *options), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                timeout=PATIENCE_S)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def dump(self, pid, *options):
        """Of a dump that was asked for: the file, complete."""
        result = self.ask(pid, *options)
        self.assertEqual(result.stderr, "")
        found = DUMPED.fullmatch(result.stdout)
        self.assertIsNotNone(found, result.stdout)
        return self.read(found["path"])

    def read(self, path):
        dump = object_dump.Dump(path)
        dump.path = path
        self.assertEqual(dump.end.outcome, dump.end.COMPLETE)
        self.assertEqual(dump.begin.reason, support.trace_pb2().OBJECTS_OUTSIDE)
        return dump

    def refused(self, pid, expected, *options, status=1):
        result = self.ask(pid, *options, status=status)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Apymemreport: [^\n]*" + expected + r"[^\n]*\n\Z")

    def count(self, dump, type_):
        return sum(node.type == type_ for node in dump.nodes)

    def test_a_program_is_dumped_as_often_as_one_asks_and_goes_on(self):
        for options in ((), ("--light",), ("--full",), ("--objects", "every:300ms")):
            with self.subTest(options):
                job = Job(self, BUSY, *options)
                stem = job.path[:-3]
                paths = []
                for i in range(3):
                    dump = self.dump(job.pid)
                    self.assertEqual(self.count(dump, "Planted"), 77)
                    paths.append(dump.path)
                self.assertEqual(len(set(paths)), 3)
                if "--objects" not in options:
                    self.assertEqual(paths, [stem + ".obj.pb", stem + ".obj-1.pb",
                                             stem + ".obj-2.pb"])
                self.assertEqual(job.finish(), ("bye 77\n", "", 0))
                facts = [record.objects_dumped for record in support.file_records(job.path)
                         if record.WhichOneof("kind") == "objects_dumped"]
                outside = [fact for fact in facts
                           if fact.reason == support.trace_pb2().OBJECTS_OUTSIDE]
                self.assertEqual([fact.file.decode() for fact in outside],
                                 list(map(os.path.basename, paths)))
                self.assertEqual({fact.problem for fact in facts}, {b""})

    def test_two_who_ask_at_once_get_dumps_from_after_that(self):
        job = Job(self, BUSY)
        asking = [subprocess.Popen(self.command("--pid", job.pid), text=True,
                                   stdout=subprocess.PIPE) for i in range(6)]
        for one in asking:
            out, _ = one.communicate(timeout=PATIENCE_S)
            self.assertEqual(one.returncode, 0)
            self.assertEqual(self.count(self.read(DUMPED.fullmatch(out)["path"]), "Planted"), 77)
        self.assertEqual(job.finish(), ("bye 77\n", "", 0))

    # What the main thread waits in; with the thread that ends it.
    WAITS = {
        "sleep": ("time.sleep(4)", "pass"),
        "read": ("os.read(r, 1)", "os.write(w, b'x')"),
        "select": ("select.select([r], [], [])", "os.write(w, b'x')"),
        "select_timeout": ("select.select([r], [], [], 4)", "pass"),
        "poll": ("poller.poll(4000)", "pass"),
        "epoll": ("epoll.poll(4)", "pass"),
        "lock": ("lock.acquire()", "lock.release()"),
        "event": ("event.wait()", "event.set()"),
        "join": ("thread.join()", "pass"),
        "input": ("sys.stdin.readline()", "pass"),
        "accept": ("server.accept()", "socket.create_connection(server.getsockname())"),
        "waitpid": ("os.waitpid(child, 0)", "os.kill(child, signal.SIGKILL)"),
    }
    WAITING = """
import os, select, signal, socket, subprocess, sys, threading, time
class Planted: pass
kept = Planted()
r, w = os.pipe()
poller = select.poll(); poller.register(r)
epoll = select.epoll(); epoll.register(r)
lock = threading.Lock(); lock.acquire()
event = threading.Event()
server = socket.create_server(("127.0.0.1", 0))
child = subprocess.Popen(["sleep", "1000"]).pid if "{name}" == "waitpid" else 0
def end():
    while not os.path.exists("end"): time.sleep(0.01)
    {end}
thread = threading.Thread(target=end)
thread.start()
begin = time.monotonic()
print("ready", flush=True)
{wait}
print("woke", time.monotonic() - begin > 3.9 if "4" in "{wait}" else "")
thread.join()
"""

    def test_one_that_waits_is_dumped_and_waits_on(self):
        end = os.path.join(self.folder, "end")
        for name, (wait, ending) in self.WAITS.items():
            with self.subTest(name):
                job = Job(self, self.WAITING.format(name=name, wait=wait, end=ending))
                self.assertTrue(wait_until(lambda: self.sleeps(job.pid)))
                dump = self.dump(job.pid)
                self.assertEqual(self.count(dump, "Planted"), 1)
                timed = "4" in wait
                self.assertIsNone(job.process.poll())
                open(end, "w").close()
                self.assertEqual(job.finish(),
                                 (f"woke {True if timed else ''}\n", "", 0))
                os.remove(end)

    def sleeps(self, pid):
        with open(f"/proc/{pid}/task/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "S"

    SIGNALS = """
import ctypes, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ulong * 16),
                ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]
def state():
    told = []
    for number in range(1, signal.NSIG):
        action = Action()
        done = libc.sigaction(number, None, ctypes.byref(action))
        told.append((number, done, ctypes.get_errno() if done else 0,
                     action.handler if (action.handler or 0) < 2 else "function",
                     action.flags, list(action.mask)[:1]))
        if number in signal.valid_signals():
            told.append(repr(signal.getsignal(number)).split(" at ")[0])
    told.append(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    told.append(sorted(signal.sigpending()))
    for number in (32, 33):
        try: signal.signal(number, signal.SIG_DFL)
        except OSError as e: told.append(e.errno)
    return told
ours, theirs = socket.socketpair()
ours.setblocking(False); theirs.setblocking(False)
signal.set_wakeup_fd(theirs.fileno())
print(state(), flush=True)
sys.stdin.readline()
print(state())
try: print(ours.recv(100))
except BlockingIOError: print("no byte")
signal.signal(signal.SIGUSR1, lambda *a: print("usr1"))
signal.raise_signal(signal.SIGUSR1)
print(ours.recv(100))
os.write(1, b"written\\n")
"""

    def test_the_programs_signals_are_as_under_python(self):
        path = self.write("signals.py", self.SIGNALS)
        expected = self.run_python(path, stdin="\n")
        job = Job(self, self.SIGNALS)
        first = job.first
        for i in range(2):
            self.dump(job.pid)
        job.process.stdin.write("\n")
        out, err, code = job.finish()
        self.assertEqual((first + "\n" + out, err, code), (expected, "", 0))

    def test_a_forked_child_is_asked_by_its_own_number(self):
        job = Job(self, """
import os, sys
class Child: pass
class Parent: pass
kept = Parent()
pid = os.fork()
if pid == 0:
    kept = [Child() for i in range(5)]
    print(os.getpid(), flush=True)
    sys.stdin.read()
    os._exit(7)
print("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""")
        child = int(job.first)
        self.assertEqual(self.count(self.dump(child), "Child"), 5)
        self.assertEqual(self.count(self.dump(job.pid), "Child"), 0)
        self.assertEqual(self.count(self.dump(child), "Child"), 5)
        self.assertEqual(job.finish(), ("child 7\n", "", 0))

    @unittest.skipUnless(can_unshare("--mount"), "may not make a mount")
    def test_a_disk_without_room_is_told_long_before_the_time_is_over(self):
        folder = os.path.join(self.folder, "full")
        os.mkdir(folder)
        script = self.write("full.py", "import os\nprint(os.getpid())\n"
                            "many = [str(i) for i in range(200000)]\n" + BUSY)
        found = subprocess.run(
            ["unshare", "--mount", "bash", "-c", """
mount -t tmpfs -o size=256k none "$1" && mkfifo "$1.in" && exec 3<>"$1.in" || exit
"$2" --quiet -o "$1/run.pb" "$3" <&3 >"$1.out" &
until grep -q ready "$1.out"; do kill -0 $! || exit; sleep 0.05; done
read -r pid <"$1.out"
"$4" objects --pid "$pid" --timeout 200 2>&1
echo "code $?"
kill -KILL "$pid" """, "-", folder, support.PYMEMRUN, script, support.PYMEMREPORT],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        self.assertRegex(found.stdout, r"\Apymemreport: .*full/run(\.obj)?\.pb: "
                                       r"No space left on device\ncode 1\n\Z", found.stderr)

    def test_dumps_lie_where_the_run_file_was_made(self):
        folder = os.path.join(self.folder, "sub")
        os.mkdir(folder)
        job = Job(self, 'import os\nos.chdir("/")\n' + BUSY,
                  path=os.path.join(folder, "run.pb"))
        os.unlink(job.path)
        self.assertEqual(self.dump(job.pid).path, os.path.join(folder, "run.obj.pb"))
        os.unlink(os.path.join(folder, "run.obj.pb"))
        os.rmdir(folder)
        self.refused(job.pid, r"/sub/run\.obj-1\.pb: No such file or directory")
        self.assertEqual(job.finish(), ("bye 77\n", "", 0))

    def test_one_in_a_long_c_call_answers_late_or_not_at_all(self):
        job = Job(self, """
import itertools, os
# It says so from within.
ready = map(os.write, [1], [b"ready\\n"])
sum(itertools.chain(ready, itertools.repeat(1, 10**13)))
""")
        self.refused(job.pid, r"expected a dump within 1s, found none: ", "--timeout", 1)
        asking = subprocess.Popen(self.command("--pid", job.pid), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(wait_until(lambda: self.holds_run(asking.pid, job.path)))
        os.kill(job.pid, signal.SIGKILL)
        out, err = asking.communicate(timeout=PATIENCE_S)
        self.assertEqual((out, asking.returncode), ("", 1))
        self.assertRegex(err, r"\Apymemreport: \d+: the program ended before it made the dump\n\Z")

    def holds_run(self, pid, path):
        folder = f"/proc/{pid}/fd"
        try:
            return path in [os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]
        except FileNotFoundError:
            return False

    def test_another_dump_under_way_is_waited_for(self):
        job = Job(self, """
import os, sys, time, pymemrun
kept = [dict(i=i) for i in range(1000000)]
path = pymemrun.dump_objects()
class Late: pass
late = Late()
print(path, flush=True)
while not os.path.exists("go"): time.sleep(0.01)
""")
        self.assertEqual(self.count(self.dump(job.pid), "Late"), 1)
        open(os.path.join(self.folder, "go"), "w").close()
        self.assertEqual(job.finish(), ("", "", 0))
        first = object_dump.Dump(job.first)
        self.assertEqual(first.end.outcome, first.end.COMPLETE)
        self.assertEqual(self.count(first, "Late"), 0)

    def test_a_dump_that_is_cut_off_is_said(self):
        job = Job(self, """
import ctypes, gc, sys
class Broken: pass
kept = [Broken()]
gc.disable()
ctypes.c_void_p.from_address(id(Broken) + 23 * 8).value = 16  # tp_traverse
print("ready", flush=True)
import os; sys.stdin.read(); os._exit(3)
""")
        self.refused(job.pid, r"\.obj\.pb: .*cut off.* signal 11")
        self.assertEqual(job.finish()[2], 3)

    def test_one_that_execs_is_not_hit(self):
        job = Job(self, """
import os, sys
left = int(os.environ.get("LEFT", "30"))
if left == 30: print("ready", flush=True)
if left == 0:
    print("done")
else:
    os.environ["LEFT"] = str(left - 1)
    os.execv(sys.executable, [sys.executable, *sys.argv])
""", "--follow", "all")
        while job.process.poll() is None:
            subprocess.run(self.command("--pid", job.pid, "--timeout", "0.05"),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(job.finish(), ("done\n", "", 0))

    def test_what_cannot_be_asked_has_one_line(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        self.refused(ended.pid, f"{ended.pid}: expected a process, found none")
        self.refused(os.getpid(), r"expected (a process|one of your processes) that pymemrun is tracing")
        for word in ("x", "0", "-3", "1.5", "99999999999"):
            self.refused(word, r"--pid: ", status=2)
        result = subprocess.run(self.command(), text=True, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--pid is required", result.stderr)
        job = Job(self, BUSY)
        self.refused(job.pid, r"--timeout: ", "--timeout", "soon", status=2)
        if os.geteuid() == 0:
            command, options = ordinary_user.as_ordinary(
                self.command("--pid", job.pid), {})
            result = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, cwd="/", **options)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertRegex(result.stderr, r"\Apymemreport: \d+: expected a process of your "
                                            r"own, found another user's\n\Z")
        self.assertEqual(job.finish(), ("bye 77\n", "", 0))


if __name__ == "__main__":
    unittest.main()
