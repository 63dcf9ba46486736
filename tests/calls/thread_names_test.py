#!/usr/bin/env python3
"""Threads have the names that they give themselves, and to learn them changes
nothing in the program."""
import json
import unittest

import fault_support
import support

# Threads that give themselves other names, and are at work then: `late` once the
# new name must have been seen.
RENAMED = r'''
import threading, time
def late():
    return [object() for n in range(1000)]
def work():
    threading.current_thread().name += " renamed"
    begin = time.monotonic()
    while time.monotonic() - begin < .05:
        [object() for n in range(100)]
    kept.append(late())
kept = []
thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
work()
import os
os._exit(0)
'''

# Threads that have waited for long, and end soon after they got another name.
RENAMED_LATE = r'''
import threading, time
def work(n):
    time.sleep(.03)
    threading.current_thread().name = f"renamed {n}"
    last(n)
def last(n):
    return n
threads = [threading.Thread(target=work, args=(n,), name="worker") for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
'''

# A loop without calls has no event in which its name could be seen. It gets another
# afterwards.
RENAMED_AFTER_A_LOOP = r'''
import threading, time
def spin():
    n = 0
    while n < 3_000_000: n += 1
def work():
    begin = time.monotonic()
    spin()
    spent = time.monotonic() - begin
    threading.current_thread().name = "renamed"
    begin = time.monotonic()
    while time.monotonic() - begin < 3 * spent: time.sleep(0)
threads = [threading.Thread(target=work, name="worker"), threading.Thread(target=spin)]
for thread in threads: thread.start()
for thread in threads: thread.join()
'''

# A thread whose name is a property, which may do anything: it empties a list
# that the thread is appending to.
NAMED_BY_A_PROPERTY = r'''
import threading, time
class Named(threading.Thread):
    @property
    def _name(self):
        asked.append(None)
        items.clear()
        return "by a property"
    @_name.setter
    def _name(self, value): pass
    def run(self):
        asked.clear()
        begin = time.monotonic()
        while time.monotonic() - begin < .3:
            for n in range(100): items.append(bytes(n))
            str(n)
asked, items = [], []
thread = Named()
thread.start()
while thread.is_alive(): time.sleep(.01)
print(len(asked), len(items) % 100)
'''

# While one is made and taken down it has no modules, and allocates.
SUBINTERPRETERS = r'''
import time
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
begin = time.monotonic()
while time.monotonic() - begin < .3:
    one = interpreters.create()
    interpreters.run_string(one, "import json; x = [bytes(n) for n in range(99)]")
    interpreters.destroy(one)
print("all")
'''

# Each with every allocation or call looked at, which is where names are.
LOOKS = (["--min-drss", "0", "--heap", "off"],
         ["--trace", "none", "--heap", "all"],
         ["--trace", "calls", "--heap", "all", "--native"],
         ["--trace", "none", "--heap", "sampled", "--heap-rates", "64"])


class ThreadNamesTest(support.ProgramTest):
    def test_a_thread_that_renames_itself_has_its_new_name(self):
        for options in (["--trace", "calls", "--min-drss", "0"],
                        ["--trace", "none", "--heap", "all"],
                        ["--trace", "none", "--heap", "sampled",
                         "--heap-rates", "{1:1}"]):
            with self.subTest(options):
                run = self.run_script(RENAMED, *options)
                fault_support.wait_for_collector_to_end(run.path)
                if "calls" in options:
                    names = {row["thread"] for row in run.rows()
                             if row["function"] == "late"}
                else:
                    names = {entry["thread"] for entry in json.loads(
                                 run.report("snapshot", "--json", "--at", "exit"))
                             if any(frame["function"] == "late"
                                    for frame in entry["stack"])}
                self.assertEqual({name.rpartition("#")[0] for name in names},
                                 {"worker renamed", "MainThread renamed"})

    def test_a_thread_that_ends_soon_after_it_renamed_itself(self):
        run = self.run_script(RENAMED_LATE, "--min-drss", "0")
        fault_support.wait_for_collector_to_end(run.path)
        names = {row["thread"].rpartition("#")[0] for row in run.rows()
                 if row["function"] == "last"}
        self.assertEqual(names, {f"renamed {n}" for n in range(8)})

    def test_a_thread_that_renames_itself_after_a_loop_has_its_new_name(self):
        run = self.run_script(RENAMED_AFTER_A_LOOP, "--trace", "gil", "--heap", "off")
        names = {row["thread"].rpartition("#")[0]
                 for row in json.loads(run.report("gil", "--json", "--limit", "0"))}
        self.assertLessEqual({"MainThread", "renamed"}, names)

    def test_no_code_of_the_programs_runs_to_learn_a_name(self):
        for options in LOOKS:
            with self.subTest(options):
                run = self.run_script(NAMED_BY_A_PROPERTY, *options)
                self.assertEqual(run.stdout, "0 0\n")

    def test_subinterpreters(self):
        for options in LOOKS:
            with self.subTest(options):
                run = self.run_script(SUBINTERPRETERS, *options)
                self.assertEqual(run.stdout, "all\n")


if __name__ == "__main__":
    unittest.main()
