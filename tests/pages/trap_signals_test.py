"""SIGTRAP is the program's as under the interpreter itself, although page events
come by it: scripts that handle, ignore, block, await, inherit it print the same
and end the same, with pages touched all the while."""
import ctypes
import os
import re
import signal
import subprocess
import unittest

import support
from waiting import PATIENCE_S

TRACED = [support.PYMEMRUN, "--trace", "pages", "--page-period", "1", "--quiet",
          "--force", "-o"]

PRELUDE = """
import faulthandler, os, signal, subprocess, sys, threading, time
from signal import SIGTRAP
def touch(pages=50): return len(bytearray(pages * 4096))
def say(*words): touch(); print(*words, flush=True)
def mask(how, signals=(SIGTRAP,)): say(SIGTRAP in signal.pthread_sigmask(how, signals))
def handler(number, frame): say("handler", number)
def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
STATUS = ["/bin/grep", "-E", "^(Sig(Pnd|Blk|Ign)|ShdPnd)", "/proc/self/status"]
touch(500)
"""

ACTIONS = {
    "default, raise": "signal.raise_signal(SIGTRAP)",
    "default, kill": "os.kill(os.getpid(), SIGTRAP); say('here')",
    "default, in a thread": "in_thread(lambda: signal.raise_signal(SIGTRAP))",
    "ignored": """
say(signal.signal(SIGTRAP, signal.SIG_IGN))
signal.raise_signal(SIGTRAP); os.kill(os.getpid(), SIGTRAP)
say(signal.getsignal(SIGTRAP))
say(signal.signal(SIGTRAP, signal.SIG_DFL))
signal.raise_signal(SIGTRAP)
""",
    "handler": """
say(signal.getsignal(SIGTRAP), signal.signal(SIGTRAP, handler))
for i in range(3):
    signal.raise_signal(SIGTRAP); os.kill(os.getpid(), SIGTRAP); touch()
in_thread(lambda: signal.raise_signal(SIGTRAP))
say(signal.getsignal(SIGTRAP) is handler)
say(signal.signal(SIGTRAP, signal.SIG_DFL) is handler)
os.kill(os.getpid(), SIGTRAP)
""",
    "handler that raises": """
def fail(*_): raise KeyError("from the handler")
signal.signal(SIGTRAP, fail)
signal.raise_signal(SIGTRAP)
say("not here")
""",
    "interrupted calls": """
signal.signal(SIGTRAP, handler)
ends = os.pipe()
def later():
    time.sleep(0.2); os.kill(os.getpid(), SIGTRAP)
    time.sleep(0.2); os.write(ends[1], b"x")
thread = threading.Thread(target=later); thread.start()
say(os.read(ends[0], 1)); thread.join()
signal.siginterrupt(SIGTRAP, False)
thread = threading.Thread(target=later); thread.start()
say(os.read(ends[0], 1)); thread.join()
""",
    "faulthandler": """
faulthandler.enable()
def deep(n):
    touch()
    return deep(n - 1) if n else faulthandler.dump_traceback()
deep(5)
faulthandler.register(SIGTRAP)
signal.raise_signal(SIGTRAP)
say(faulthandler.unregister(SIGTRAP))
signal.signal(SIGTRAP, handler)
faulthandler.register(SIGTRAP, all_threads=False, chain=True)
signal.raise_signal(SIGTRAP)
signal.raise_signal(SIGTRAP)
say(faulthandler.unregister(SIGTRAP))
signal.signal(SIGTRAP, signal.SIG_DFL)
faulthandler.register(SIGTRAP, chain=True)
signal.raise_signal(SIGTRAP)
say("not here")
""",
    "wakeup descriptor": """
ends = os.pipe(); os.set_blocking(ends[1], False)
say(signal.set_wakeup_fd(ends[1]))
signal.signal(SIGTRAP, handler)
touch(300)
signal.raise_signal(SIGTRAP)
os.write(ends[1], b"end"); say(os.read(ends[0], 99))
""",
    "asyncio": """
import asyncio
async def main():
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(SIGTRAP, done.set)
    loop.call_later(0.05, os.kill, os.getpid(), SIGTRAP)
    touch(300)
    await asyncio.wait_for(done.wait(), 20)
    say("done", loop.remove_signal_handler(SIGTRAP))
asyncio.run(main())
""",
}

MASKS = {
    "blocked": """
signal.signal(SIGTRAP, handler)
mask(signal.SIG_BLOCK)
say(signal.sigpending())
signal.raise_signal(SIGTRAP); os.kill(os.getpid(), SIGTRAP)
say(signal.sigpending())
mask(signal.SIG_UNBLOCK)
say(signal.sigpending())
mask(signal.SIG_SETMASK, signal.valid_signals())
signal.raise_signal(SIGTRAP)
say(signal.sigpending(), sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())))
mask(signal.SIG_SETMASK, ())
mask(signal.SIG_BLOCK, ())
""",
    "blocked, then the default": """
mask(signal.SIG_BLOCK)
signal.raise_signal(SIGTRAP)
say("here")
mask(signal.SIG_UNBLOCK)
say("not here")
""",
    "sigwait": """
signal.pthread_sigmask(signal.SIG_BLOCK, {SIGTRAP, signal.SIGUSR1})
os.kill(os.getpid(), SIGTRAP)
say(signal.sigwait({SIGTRAP}))
def kill(number): time.sleep(0.1); touch(); os.kill(os.getpid(), number)
for number in SIGTRAP, signal.SIGUSR1, SIGTRAP:
    thread = threading.Thread(target=kill, args=(number,)); thread.start()
    say(signal.sigwait({SIGTRAP, signal.SIGUSR1})); thread.join()
say(signal.sigtimedwait({SIGTRAP}, 0.05))
say(signal.sigtimedwait({SIGTRAP}, 0))
signal.raise_signal(SIGTRAP)
info = signal.sigwaitinfo({SIGTRAP})
say(info.si_signo, info.si_code, info.si_pid == os.getpid())
""",
    "a thread that waits for all": """
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
taken = threading.Semaphore(0)
def wait():
    touch()
    for i in range(3):
        say(signal.sigwait(signal.valid_signals()))
        taken.release()
thread = threading.Thread(target=wait); thread.start()
for number in SIGTRAP, signal.SIGUSR2, SIGTRAP:
    time.sleep(0.1); os.kill(os.getpid(), number)
    taken.acquire()  # before the next: a signal is pending once
thread.join()
say(signal.sigpending())
""",
    "a worker with all signals blocked": """
def work():
    mask(signal.SIG_BLOCK, signal.valid_signals())
    say(sum(touch(200) for i in range(50)))
    mask(signal.SIG_BLOCK, ())
    inner = threading.Thread(target=lambda: mask(signal.SIG_BLOCK, ()))
    inner.start(); inner.join()
    signal.pthread_kill(threading.get_ident(), SIGTRAP)
    say(signal.sigpending())
in_thread(work)
mask(signal.SIG_BLOCK, ())
os.kill(os.getpid(), SIGTRAP)
""",
}

CHILDREN = {
    "exec": "os.execv(STATUS[0], STATUS)",
    "blocked, exec": """
mask(signal.SIG_BLOCK, signal.valid_signals())
touch(300)
os.execve(STATUS[0], STATUS, os.environ)
""",
    "ignored, pending, exec": """
signal.signal(SIGTRAP, signal.SIG_IGN)
mask(signal.SIG_BLOCK)
signal.raise_signal(SIGTRAP)
os.execvp("grep", STATUS)
""",
    "handled, exec": """
signal.signal(SIGTRAP, handler)
os.execvpe("grep", STATUS, {"PATH": "/bin:/usr/bin"})
""",
    "exec from a thread": """
in_thread(lambda: (touch(300), os.execv(STATUS[0], STATUS)))
""",
    "exec of an interpreter": """
os.execv(sys.executable, [sys.executable, "-c",
    "import signal; print(signal.getsignal(5), signal.sigpending())"])
""",
    "exec that fails": """
signal.signal(SIGTRAP, handler)
for i in range(3):
    try: os.execv("/nonexistent", ["x"])
    except OSError as e: say(e)
    signal.raise_signal(SIGTRAP)
mask(signal.SIG_BLOCK)
signal.raise_signal(SIGTRAP)
def fail():
    try: os.execvp("nonexistent", ["x"])
    except OSError as e: say(e)
fail(); in_thread(fail)
say(signal.sigpending())
mask(signal.SIG_UNBLOCK)
""",
    "subprocess": """
def runs():
    for restore in True, False:
        for first in None, touch, lambda: signal.signal(SIGTRAP, signal.SIG_DFL):
            touch()
            say(subprocess.run(STATUS, restore_signals=restore,
                               preexec_fn=first, stdout=subprocess.PIPE).stdout)
runs()
signal.signal(SIGTRAP, handler); runs()
signal.signal(SIGTRAP, signal.SIG_IGN); runs()
mask(signal.SIG_BLOCK); runs()
signal.signal(SIGTRAP, signal.SIG_DFL); runs()
in_thread(runs)
say(os.system("grep '^Sig[BI]' /proc/self/status >&2"))
say(os.popen("grep '^Sig[BI]' /proc/self/status").read())
mask(signal.SIG_BLOCK, ())
say(signal.getsignal(SIGTRAP), signal.sigpending())
""",
    "posix_spawn": """
def spawn(**kwargs):
    touch()
    pid = os.posix_spawn(STATUS[0], STATUS, os.environ, **kwargs)
    say(os.waitpid(pid, 0)[1])
def spawns():
    spawn()
    spawn(setsigmask=())
    spawn(setsigmask=[SIGTRAP])
    spawn(setsigdef=[SIGTRAP])
    spawn(setsigmask=[signal.SIGUSR1], setsigdef=[SIGTRAP, signal.SIGPIPE])
spawns()
signal.signal(SIGTRAP, signal.SIG_IGN); spawns()
mask(signal.SIG_BLOCK); spawns()
signal.signal(SIGTRAP, handler); spawns()
mask(signal.SIG_UNBLOCK)
signal.raise_signal(SIGTRAP)
""",
    "fork": """
def child(number):
    pid = os.fork()
    if pid == 0:
        say(signal.getsignal(SIGTRAP), signal.sigpending())
        mask(signal.SIG_BLOCK, ())
        signal.raise_signal(SIGTRAP)
        mask(signal.SIG_UNBLOCK)
        signal.signal(SIGTRAP, signal.SIG_DFL)
        os.kill(os.getpid(), SIGTRAP)
        os._exit(3)
    say(number, os.waitpid(pid, 0)[1])
for number, action in enumerate((signal.SIG_DFL, signal.SIG_IGN)):
    signal.signal(SIGTRAP, action); child(number)
signal.signal(SIGTRAP, lambda *_: say("handled")); os.register_at_fork(
    after_in_child=lambda: touch(100))
if os.fork() == 0: signal.raise_signal(SIGTRAP); say("child"); os._exit(0)
os.wait()
mask(signal.SIG_BLOCK); signal.raise_signal(SIGTRAP)
if os.fork() == 0:
    say(signal.sigpending()); os.execv(STATUS[0], STATUS)
os.wait(); say(signal.sigpending())
mask(signal.SIG_UNBLOCK)
""",
    "multiprocessing": """
import multiprocessing
def work(n): signal.signal(SIGTRAP, handler); signal.raise_signal(SIGTRAP); return touch(n)
with multiprocessing.get_context("fork").Pool(1) as pool:
    say(pool.map(work, range(3)))
""",
}

DEBUGGED = """
import os, signal, sys
seen = []
signal.signal(signal.SIGTRAP, lambda *_: seen.append(1))
print("ready", flush=True)
sys.stdin.readline()
held = [bytes(b"x" * 5000) for i in range(500)]
for i in range(10):
    signal.raise_signal(signal.SIGTRAP); os.kill(os.getpid(), signal.SIGTRAP)
print(len(seen), sum(map(len, held)), flush=True)
signal.signal(signal.SIGTRAP, signal.SIG_DFL)
if sys.argv[1] == "dies": signal.raise_signal(signal.SIGTRAP)
"""


class TrapSignalsTest(support.PageEventsTest):
    def command(self, traced, *arguments):
        if not traced:
            return [support.PYTHON, *arguments]
        return [*TRACED, os.path.join(self.folder, "run.pb"), "--", *arguments]

    def end(self, traced, script, begin=None):
        found = subprocess.run(
            self.command(traced, script), cwd=self.folder, preexec_fn=begin,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S)
        # Addresses differ from run to run.
        return (found.returncode, *(
            re.sub(r"0x[0-9a-f]+", "0x", text.decode())
            for text in (found.stdout, found.stderr)))

    def same(self, scripts):
        for name, text in scripts.items():
            with self.subTest(name):
                script = self.write("script.py", PRELUDE + text)
                expected = self.end(False, script)
                self.assertNotIn("SyntaxError", expected[2])
                self.assertEqual(expected, self.end(True, script))

    def test_actions(self):
        self.same(ACTIONS)

    def test_death_is_by_the_signal(self):
        script = self.write("script.py", PRELUDE + ACTIONS["default, raise"])
        self.assertEqual(self.end(True, script), (-signal.SIGTRAP, "", ""))

    def test_masks_and_waiting(self):
        self.same(MASKS)

    def test_threads_and_children(self):
        self.same(CHILDREN)

    def test_what_the_program_begins_with(self):
        script = self.write("script.py", PRELUDE + """
say(signal.getsignal(SIGTRAP), signal.sigpending())
mask(signal.SIG_BLOCK, ())
subprocess.run(STATUS); os.execv(STATUS[0], STATUS)
""")

        def ignored():
            signal.signal(signal.SIGTRAP, signal.SIG_IGN)

        def blocked():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTRAP})
        for begin in ignored, blocked:
            self.assertEqual(self.end(False, script, begin),
                             self.end(True, script, begin))

    def test_exec_never_meets_a_page_signal(self):
        text = PRELUDE + """
import random
ballast = [bytes(random.randrange(9000)) for i in range(random.randrange(3000))]
if random.random() < 0.5: os.execv("/bin/true", ["true"])
in_thread(lambda: os.execvp("true", ["true"]))
"""
        script = self.write("script.py", text)
        for _ in range(20):
            self.assertEqual(self.end(True, script), (0, "", ""))

    def debugged(self, traced, argument):
        """The program's output and end, run under a debugger that passes every
        signal on; how many SIGTRAPs it saw."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                                ctypes.c_void_p]
        program = subprocess.Popen(
            self.command(traced, self.write("script.py", DEBUGGED), argument),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder)
        self.assertEqual(program.stdout.readline(), b"ready\n")
        attach, go_on = 16, 7
        self.assertEqual(libc.ptrace(attach, program.pid, None, None), 0,
                         os.strerror(ctypes.get_errno()))
        program.stdin.write(b"go\n")
        program.stdin.close()
        traps = 0
        while True:
            _, status = os.waitpid(program.pid, 0)
            if not os.WIFSTOPPED(status):
                break
            number = os.WSTOPSIG(status)
            traps += number == signal.SIGTRAP
            passed = 0 if number == signal.SIGSTOP else number
            libc.ptrace(go_on, program.pid, None, passed)
        program.returncode = status
        with program.stdout:
            return program.stdout.read(), status, traps

    def test_a_debugger_that_passes_signals_on(self):
        for argument in "lives", "dies":
            *plain, plain_traps = self.debugged(False, argument)
            *traced, traps = self.debugged(True, argument)
            self.assertEqual(plain, traced)
            self.assertGreater(traps, plain_traps + 100)


if __name__ == "__main__":
    unittest.main()
