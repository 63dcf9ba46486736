#!/usr/bin/env python3
"""Interpreters with a GIL of their own, in one process: each GIL is told by itself."""
import json
import subprocess
import unittest

import fault_support
import support

# Interpreter 1 has one thread that computes, interpreter 2 has two.
PROGRAM = r'''
import os, threading
try:
    import _interpreters as interpreters
    make = lambda: interpreters.create("isolated")
except ImportError:
    import _xxsubinterpreters as interpreters
    make = lambda: interpreters.create(isolated=True)
ONE = """
import time
end = time.monotonic() + 0.8
while time.monotonic() < end: sum(range(100))
"""
TWO = """
import threading, time
def work():
    end = time.monotonic() + 0.8
    while time.monotonic() < end: sum(range(100))
other = threading.Thread(target=work)
other.start()
work()
other.join()
"""
made = [make(), make()]
threads = [threading.Thread(target=interpreters.run_string, args=(which, text), name=name)
           for which, text, name in zip(made, (ONE, TWO), ("one", "two"))]
for thread in threads: thread.start()
for thread in threads: thread.join()
print([int(which) for which in made], flush=True)
# 3.12 never ends where an interpreter's threads began in another thread.
os._exit(0)
'''

# More than are recorded at a time.
MANY = PROGRAM.partition("ONE = ")[0] + r'''
made = [make() for n in range(9)]
for which in made: interpreters.run_string(which, "sum(range(1000))")
print("done")
'''

# One after the other: the memory of one is used again for the next.
IN_TURN = PROGRAM.partition("ONE = ")[0] + r'''
for n in range(12):
    which = make()
    interpreters.run_string(which, "sum(range(1000))")
    interpreters.destroy(which)
print("done")
'''


def has_own_gils():
    return tuple(support.VERSION) >= (3, 12) and not support.FREE_THREADED


@unittest.skipUnless(has_own_gils(), "interpreters share one GIL, or there is none")
class InterpretersTest(support.ProgramTest):
    def rows(self, run, what):
        text = subprocess.run([support.PYMEMREPORT, "gil", run.path, "--json", "--rows", what],
                              check=True, stdout=subprocess.PIPE).stdout
        return json.loads(text)

    def test_each_interpreters_gil_is_told_by_itself(self):
        run = self.run_script(PROGRAM, "--trace", "gil")
        fault_support.wait_for_collector_to_end(run.path)
        one, two = json.loads(run.stdout)
        gils = {row["interpreter"]: row for row in self.rows(run, "gils")}
        self.assertEqual(sorted(gils), [0, one, two])
        self.assertEqual(gils[one]["threads"], 2)  # and who made it
        self.assertLess(gils[one]["waiting_s"], 0.1)
        self.assertGreater(gils[one]["held_s"], 0.4)
        self.assertEqual(gils[two]["threads"], 3)
        self.assertGreater(gils[two]["waiting_s"], 0.2)
        self.assertGreater(gils[two]["held_s"], 0.4)
        # The other interpreters' threads have nothing to do with these waits.
        waiters = {row["waiter"].partition("#")[0] for row in self.rows(run, "blockers")
                   if row["waiting_s"] > 0.2}
        self.assertNotIn("one", waiters)
        self.assertNotIn("MainThread", waiters)
        self.assertIn("Each interpreter's GIL:", run.report("gil"))

    def test_of_more_than_can_be_recorded_a_line_says_so(self):
        run = self.run_script(MANY, "--trace", "gil")
        self.assertEqual(run.stdout, "done\n")
        self.assertEqual(run.stderr.count("interpreters with their own GIL can be recorded"), 1)
        self.assertEqual([row["interpreter"] for row in self.rows(run, "gils")],
                         list(range(8)))

    def test_memory_that_is_used_again_is_another_gil(self):
        run = self.run_script(IN_TURN, "--trace", "gil")
        self.assertEqual(run.stdout, "done\n")
        gils = self.rows(run, "gils")
        self.assertGreaterEqual(len(gils), 8)
        for row in gils:
            self.assertGreater(row["held_s"], 0)
            self.assertEqual(row["waits"], 0)


if __name__ == "__main__":
    unittest.main()
