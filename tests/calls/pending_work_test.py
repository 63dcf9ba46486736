#!/usr/bin/env python3
"""Signals and exceptions for one thread while others run: nobody waits for what
only another thread can do. (Each program hangs under a profiler of CPython
3.11's own.)"""
import unittest

import support

# The main thread waits for a thread that runs, and gets signals after which its
# wait goes on.
SIGNALS_WHILE_WAITING = r'''
import signal, threading
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
signal.siginterrupt(signal.SIGUSR1, False)
main = threading.get_ident()
lock = threading.Lock()
lock.acquire()
def call():
    pass
def work():
    for _ in range(20):
        signal.pthread_kill(main, signal.SIGUSR1)
        for _ in range(1000):
            call()
    lock.release()
thread = threading.Thread(target=work)
thread.start()
lock.acquire()
thread.join()
print(len(seen) > 0)
'''

# A thread that waits is sent an exception; the sender goes on.
EXCEPTION_WHILE_WAITING = r'''
import ctypes, threading
lock = threading.Lock()
lock.acquire()
waits = threading.Event()
def call():
    return 1
def work():
    try:
        waits.set()
        with lock:
            for _ in range(100):
                call()
    except ValueError:
        print("ValueError")
thread = threading.Thread(target=work)
thread.start()
waits.wait()
# Its result is in a register that what we replace leaves alone.
print(ctypes.pythonapi.PyThreadState_SetAsyncExc(
    ctypes.c_ulong(thread.ident), ctypes.py_object(ValueError)))
print(sum(call() for _ in range(1000)))
lock.release()
thread.join()
'''

# To itself; and signals to a main thread that runs, from a thread that runs.
FOR_THE_RUNNING_THREAD = r'''
import ctypes, os, signal, threading
try:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(threading.get_ident()), ctypes.py_object(ValueError))
    for _ in range(1000):
        pass
except ValueError:
    print("ValueError")
seen = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: seen.set())
os.kill(os.getpid(), signal.SIGUSR1)
print(seen.is_set())
for _ in range(50):
    seen.clear()
    thread = threading.Thread(target=signal.pthread_kill,
                              args=(threading.get_ident(), signal.SIGUSR1))
    thread.start()
    while not seen.is_set():
        pass
    thread.join()
print("all seen")
'''


class PendingWorkTest(support.ProgramTest):
    def check(self, program):
        path = self.write("program.py", program)
        expected = self.run_python(path)
        for options in ((), ("--min-drss", "0"), ("--paused",)):
            run = self.pymemrun("--quiet", *options, path)
            self.assertEqual(run.stdout, expected)
        return expected

    def test_signals_for_a_main_thread_that_waits(self):
        self.assertEqual(self.check(SIGNALS_WHILE_WAITING), "True\n")

    def test_exceptions_for_a_thread_that_waits(self):
        self.assertEqual(self.check(EXCEPTION_WHILE_WAITING),
                         "1\n1000\nValueError\n")

    def test_for_the_running_thread(self):
        self.assertEqual(self.check(FOR_THE_RUNNING_THREAD),
                         "ValueError\nTrue\nall seen\n")


if __name__ == "__main__":
    unittest.main()
