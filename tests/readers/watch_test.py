"""`pymemreport watch` on a terminal: keys, signals and sizes; the terminal is left
as it was. Attached again and again, the traced program loses nothing."""
import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

import support
from waiting import PATIENCE_S, wait_until

# Of TERM=xterm, as terminfo has them.
LEAVE_SCREEN = b"\x1b[?1049l"
SHOW_CURSOR, HIDE_CURSOR = b"\x1b[?25h", b"\x1b[?25l"
SCRIPT = """
import os, sys, time
held = []
def load():
    held.append(bytearray(1 << 20))
end = sys.argv[1]
while not os.path.exists(end):
    load()
    time.sleep(0.01)
    if len(held) > 20: held.clear()
print('the end')
"""
EXACT = """
import os, sys, time
def f(): pass
end = sys.argv[1]
while not os.path.exists(end): time.sleep(0.01)
for i in range(200000): f()
"""


class Screen:
    """A program on a terminal of its own."""

    def __init__(self, *words, rows=24, columns=80):
        self.ours, self.theirs = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.theirs)
        self.text = b""
        env = {"PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8",
               "TMPDIR": os.getcwd()}
        self.program = subprocess.Popen(
            words, stdin=self.theirs, stdout=self.theirs, stderr=subprocess.PIPE, env=env,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.set_blocking(self.ours, False)

    def resize(self, rows, columns):
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while True:
            try:
                piece = os.read(self.ours, 65536)
            except (BlockingIOError, OSError):
                return self.text
            if not piece:
                return self.text
            self.text += piece

    def shows(self, part):
        return wait_until(lambda: part in self.read())

    def key(self, key):
        os.write(self.ours, key)

    def end(self):
        # Nobody else takes what it writes: it may wait for that.
        deadline = time.monotonic() + PATIENCE_S
        while self.program.poll() is None and time.monotonic() < deadline:
            self.read()
            time.sleep(0.01)
        self.read()
        err = self.program.stderr.read().decode()
        self.program.stderr.close()
        return self.program.returncode, err

    def close(self):
        if self.program.poll() is None:
            self.program.kill()
            self.end()
        os.close(self.ours)
        os.close(self.theirs)


class WatchTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.here = tempfile.mkdtemp(dir=self.folder)

    def start(self, script, *options):
        """A program that runs until the file `end` is there."""
        path = self.write("job.py", script)
        self.last = os.path.join(self.here, "end")
        run = os.path.join(self.here, "run.pb")
        job = subprocess.Popen(
            [support.PYMEMRUN, "--quiet", "-o", run, *options, path, self.last],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(self.stop, job)
        self.assertTrue(wait_until(lambda: os.path.exists(run) and os.path.getsize(run)))
        return job, run

    def stop(self, job):
        job.kill()
        job.wait()
        job.stdout.close()

    def finish(self, job):
        open(self.last, "w").close()
        return job.wait(PATIENCE_S)

    def screen(self, *words, **size):
        screen = Screen(support.PYMEMREPORT, "watch", *words, **size)
        self.addCleanup(screen.close)
        return screen

    def check_left(self, screen):
        self.assertEqual(termios.tcgetattr(screen.theirs), screen.before)
        self.assertIn(LEAVE_SCREEN, screen.text)
        self.assertGreater(screen.text.rindex(LEAVE_SCREEN), screen.text.rindex(b"quit"))
        self.assertGreater(screen.text.rindex(SHOW_CURSOR), screen.text.rindex(HIDE_CURSOR))

    def test_q_leaves_the_terminal_as_it_was(self):
        job, run = self.start(SCRIPT)
        screen = self.screen(run)
        self.assertTrue(screen.shows(b"job.py"))
        self.assertTrue(screen.shows(b"load"))
        screen.key(b"q")
        code, err = screen.end()
        self.assertEqual((code, err), (0, ""))
        self.check_left(screen)
        self.assertEqual(self.finish(job), 0)

    def test_a_process_is_found_by_its_number(self):
        job, _ = self.start(SCRIPT)
        screen = self.screen(str(job.pid))
        self.assertTrue(screen.shows(b"pid %d" % job.pid))
        screen.key(b"q")
        self.assertEqual(screen.end()[0], 0)

    def test_signals_leave_the_terminal_as_it_was(self):
        job, run = self.start(SCRIPT)
        for number, code in ((signal.SIGINT, 0), (signal.SIGTERM, -signal.SIGTERM),
                             (signal.SIGHUP, -signal.SIGHUP)):
            with self.subTest(number):
                screen = self.screen(run)
                self.assertTrue(screen.shows(b"quit"))
                if number == signal.SIGINT:
                    screen.key(b"\x03")
                else:
                    screen.program.send_signal(number)
                self.assertEqual(screen.end(), (code, ""))
                self.check_left(screen)
        self.assertEqual(self.finish(job), 0)

    def test_it_takes_another_size(self):
        job, run = self.start(SCRIPT)
        screen = self.screen(run, rows=24, columns=80)
        self.assertTrue(screen.shows(b"quit"))
        for rows, columns in ((40, 132), (5, 20), (24, 80)):
            screen.resize(1, 1)  # no room for anything
            screen.read()
            screen.text = b""
            screen.resize(rows, columns)
            self.assertTrue(screen.shows(b"quit"))
        screen.key(b"q")
        self.assertEqual(screen.end()[0], 0)
        self.assertEqual(self.finish(job), 0)

    def test_keys_are_taken(self):
        job, run = self.start(SCRIPT)
        screen = self.screen(run)
        self.assertTrue(screen.shows(b"sort by size"))
        screen.key(b"s")
        self.assertTrue(screen.shows(b"change"))
        screen.key(b" ")
        self.assertTrue(screen.shows(b"frozen"))
        screen.key(b"q")
        self.assertEqual(screen.end()[0], 0)

    def test_the_end_stays_until_q(self):
        job, run = self.start(SCRIPT)
        screen = self.screen(run)
        self.assertTrue(screen.shows(b"quit"))
        self.assertEqual(self.finish(job), 0)
        self.assertTrue(screen.shows(b"ended: exit 0"))
        self.assertIsNone(screen.program.poll())
        screen.key(b"q")
        self.assertEqual(screen.end()[0], 0)
        self.check_left(screen)

    def test_a_script_runs_on_when_its_screen_is_left(self):
        path = self.write("job.py", SCRIPT)
        self.last = os.path.join(self.here, "end")
        screen = self.screen("--", "--light", path, self.last)
        self.assertTrue(screen.shows(b"load"))
        screen.key(b"q")
        code, err = screen.end()
        self.assertEqual(code, 0)
        self.check_left(screen)
        self.assertIn("the program is still running as process ", err)
        run = err.split("pymemreport watch ")[1].split()[0]
        output = err.split("the program's output: ")[1].split(";")[0]
        again = self.screen(run)
        self.assertTrue(again.shows(b"load"))
        open(self.last, "w").close()
        self.assertTrue(again.shows(b"ended: exit 0"))
        again.key(b"q")
        self.assertEqual(again.end()[0], 0)
        with open(output) as file:
            self.assertEqual(file.read(), "the end\n")

    def test_without_a_terminal_there_are_lines_and_the_exit_status(self):
        done = subprocess.run(
            [support.PYMEMREPORT, "watch", "--", "-c", "import sys; print(3); sys.exit(7)"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": self.folder})
        self.assertEqual(done.returncode, 7)
        self.assertIn(b"ended: exit 7", done.stdout)
        self.assertNotIn(b"\x1b", done.stdout)

    def test_what_cannot_run_says_why(self):
        done = subprocess.run(
            [support.PYMEMREPORT, "watch", "--", "--no-such-option", "job.py"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": self.folder})
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--no-such-option", done.stderr)

    def test_a_run_that_could_not_be_written_has_an_end(self):
        """As on a full disk: a program has run, and its file stayed empty."""
        report = shutil.copy(support.PYMEMREPORT, self.here)
        launcher = os.path.join(self.here, "pymemrun")
        with open(launcher, "w") as file:
            file.write('#!/bin/sh\nshift 2; : > "$1"; sleep 1; exit 5\n')
        os.chmod(launcher, 0o700)
        done = subprocess.run(
            [report, "watch", "--", "job.py"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S,
            env={**os.environ, "TMPDIR": self.here})
        self.assertEqual(done.returncode, 5)
        self.assertIn(b"/run.pb: the program has ended, and nothing of its run can be read\n",
                      done.stderr)

    def test_a_terminal_that_nothing_is_known_of_gets_lines(self):
        job, run = self.start(SCRIPT)
        self.finish(job)
        ours, theirs = pty.openpty()
        done = subprocess.run([support.PYMEMREPORT, "watch", run], stdin=theirs, stdout=theirs,
                              stderr=subprocess.PIPE, env={"TERM": "no-such-terminal"})
        os.close(theirs)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"ended: exit 0", os.read(ours, 4096))
        os.close(ours)

    def test_twenty_attaches_and_kills_lose_nothing(self):
        job, run = self.start(EXACT, "--min-drss", "0", "--trace", "calls")
        for kill in range(20):
            screen = Screen(support.PYMEMREPORT, "watch", run)
            try:
                self.assertTrue(screen.shows(b"quit"))
                if kill == 10:
                    open(self.last, "w").close()
                screen.program.kill()
                self.assertEqual(screen.end()[0], -signal.SIGKILL)
            finally:
                screen.close()
        self.assertEqual(job.wait(PATIENCE_S), 0)
        rows = subprocess.run(
            [support.PYMEMCAT, run, "--csv", "--what", "call", "--function", "f"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertEqual(rows.stderr, b"")
        self.assertEqual(rows.stdout.count(b"\r\n") - 1, 200000)


if __name__ == "__main__":
    unittest.main()
