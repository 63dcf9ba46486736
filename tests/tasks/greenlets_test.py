#!/usr/bin/env python3
"""Which greenlet grew, and which one held the others up; and uvloop's tasks.
Installs greenlet, gevent and uvloop."""
import json
import os
import subprocess
import unittest

import support
from tasks_test import PLANTED, place, rows

GREENLETS = r'''
import time
from greenlet import greenlet
kept = []
def leaks():
    for _ in range(10):
        kept.append(bytearray(b"x") * 500_000)
        main.switch()
def blocks():
    main.switch()
    time.sleep(0.5)  # BLOCK
    main.switch()
def short(): pass
def fails():
    main.switch()
    raise ValueError
main = greenlet.getcurrent()
a, b, c = greenlet(leaks), greenlet(blocks), greenlet(fails)
for _ in range(2): a.switch(); b.switch()
greenlet(short).switch()
c.switch()
try: c.switch()
except ValueError: print("failed")
while not a.dead: a.switch()
b.throw()
print(b.dead)
'''

GEVENT = r'''
import gevent, time
kept = []
def leaks():
    for _ in range(10):
        kept.append(bytearray(b"x") * 500_000)
        gevent.sleep(0.001)
def blocks():
    gevent.sleep(0.002)
    time.sleep(0.5)  # BLOCK
    gevent.sleep(0)
def worker():
    for _ in range(3): gevent.sleep(0.001)
gevent.joinall([gevent.spawn(f) for f in [leaks, blocks] + [worker] * 20])
'''

# The second one is resumed by the first, and ends into the main greenlet.
ENDS_ELSEWHERE = r'''
import time
from greenlet import greenlet
def resumes():
    second.switch()
    second.switch()
def ends():
    first.switch()
    time.sleep(0.1)
first, second = greenlet(resumes), greenlet(ends)
first.switch()
print(first.dead, second.dead)
'''


class GreenletsTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = os.path.join(cls.folder, "environment")
        subprocess.run([support.PYTHON, "-m", "venv", made], check=True)
        packages = ["greenlet", "gevent", "uvloop"]
        tried = subprocess.run([made + "/bin/pip", "install", "-q", *packages],
                               text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
        if tried.returncode != 0:
            raise unittest.SkipTest("pip cannot install " + " ".join(packages) +
                                    ": " + tried.stdout[-500:])
        cls.variables = {"VIRTUAL_ENV": made}

    def traced(self, text):
        return self.run_script(text, "--trace", "tasks", "--heap", "off",
                               env=self.variables)

    def by_function(self, run):
        return {row["task"]: row for row in rows(run.path, "--by", "function")}

    def test_greenlets_are_told_as_tasks_are(self):
        run = self.traced(GREENLETS)
        self.assertEqual(run.stdout.split(), ["failed", "True"])
        table = self.by_function(run)
        self.assertEqual(set(table), {"leaks", "blocks", "short", "fails"})
        self.assertEqual(table["leaks"]["steps"], 11)
        self.assertGreater(table["leaks"]["grown_bytes"], 10 * 400_000)
        self.assertGreaterEqual(table["blocks"]["longest_ms"], 500)
        self.assertEqual(table["blocks"]["longest_at"], place(GREENLETS, "BLOCK"))
        for name, steps in (("blocks", 3), ("short", 1), ("fails", 2)):
            self.assertEqual(table[name]["steps"], steps, name)
        self.assertTrue(all(row["not_done"] == 0 for row in table.values()), table)

    def test_one_that_ends_into_another_than_resumed_it_is_done(self):
        run = self.traced(ENDS_ELSEWHERE)
        self.assertEqual(run.stdout.split(), ["False", "True"])
        table = self.by_function(run)
        self.assertEqual(table["ends"]["steps"], 2)
        self.assertEqual(table["ends"]["not_done"], 0)
        self.assertGreaterEqual(table["ends"]["longest_ms"], 100)
        self.assertEqual(table["resumes"]["not_done"], 1)

    def test_those_of_gevent_are_seen(self):
        run = self.traced(GEVENT)
        table = self.by_function(run)
        self.assertEqual(table["worker"]["tasks"], 20)
        self.assertEqual(table["worker"]["steps"], 80)
        self.assertEqual(table["worker"]["not_done"], 0)
        self.assertGreater(table["leaks"]["grown_bytes"], 10 * 400_000)
        longest = rows(run.path, "--sort", "longest")[0]
        self.assertEqual(longest["coroutine"], "blocks")
        self.assertEqual(longest["longest_at"], place(GEVENT, "BLOCK"))

    def test_a_loop_of_uvloops_runs_the_same_tasks(self):
        run = self.traced(PLANTED.replace("asyncio.run(main())",
                                          "import uvloop; uvloop.run(main())"))
        blocked_ms = json.loads(run.stdout)["blocked"] / 1e6
        longest = rows(run.path, "--sort", "longest")[0]
        self.assertEqual(longest["name"], "blocker")
        self.assertGreaterEqual(longest["longest_ms"], blocked_ms)
        self.assertEqual(rows(run.path, "--sort", "grown")[0]["name"], "leaky")


if __name__ == "__main__":
    unittest.main()
