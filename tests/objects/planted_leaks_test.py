#!/usr/bin/env python3
"""Programs with a leak each, of eight kinds. `pymemobj suspects` names it first, with what
keeps it alive and the line that allocated what it holds: all of the objects that the program
made there."""
import csv
import io
import json
import os
import re
import subprocess
import sys
import unittest

import support

PYMEMOBJ = os.environ["PYMEMOBJ_BIN"]
sys.path.insert(0, os.environ.get("PYMEMRUN_READER_PATH", "."))
try:
    import pymemrun_reader
except ImportError:
    pymemrun_reader = None

COUNT = 30000

CACHE = """
class Sessions:
    def __init__(self):
        self.by_user = {}

    def log_in(self, user):
        self.by_user[user] = 'session of user %d, ' % user * 4  # LEAK

SESSIONS = Sessions()
for user in range(30000):
    SESSIONS.log_in(user)
"""

CLOSURE = """
def counter():
    seen = []
    def count(word):
        seen.append('word %d, ' % word * 8)  # LEAK
        return len(seen)
    return count

count = counter()
for word in range(30000):
    count(word)
"""

CALLBACKS = """
class Events:
    listeners = []

class Window:
    def __init__(self, number):
        self.title = 'window %d, ' % number * 8
        Events.listeners.append(self.on_click)  # LEAK

    def on_click(self):
        pass

for number in range(30000):
    Window(number)
"""

EXCEPTION = """
def parse():
    lines = []
    for number in range(30000):
        lines.append('line %d, ' % number * 8)  # LEAK
    raise ValueError('the last line is not whole')

failure = None
try:
    parse()
except ValueError as error:
    failure = error
"""

THREAD_LOCAL = """
import threading

context = threading.local()
is_filled, may_end = threading.Event(), threading.Event()

def serve():
    context.requests = []
    for number in range(30000):
        context.requests.append('request %d, ' % number * 8)  # LEAK
    is_filled.set()
    may_end.wait(60)

threading.Thread(target=serve, name='server', daemon=True).start()
is_filled.wait()
"""

CYCLE = """
import gc
gc.disable()

class Connection:
    def __init__(self, number):
        self.itself = self
        self.buffer = 'buffer %d, ' % number * 8

    def __del__(self):
        pass

def connect(number):
    Connection(number)  # LEAK

for number in range(30000):
    connect(number)
"""

MODULE_GLOBAL = """
HISTORY = []

def remember(number):
    HISTORY.append('event %d, ' % number * 8)  # LEAK

for number in range(30000):
    remember(number)
"""

# What an extension does that forgets to give a reference back.
EXTENSION = """
import ctypes

def hand_to_c():
    points = ['point %d, ' % number * 8 for number in range(30000)]  # LEAK
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(points))

hand_to_c()
"""


def line_of(script):
    """The number of the line that leaks."""
    return next(i for i, line in enumerate(script.splitlines(), 1) if "# LEAK" in line)


class PlantedLeaksTest(support.ProgramTest):
    def suspects(self, script):
        """The dump, and what suspects tells of it: as JSON, and as text."""
        run = self.run_script(script, "--heap", "all", "--objects", "exit", name="leak.py")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        dump = run.path[:-3] + ".obj.pb"
        return dump, json.loads(self.ask(dump, "suspects", "--json")), self.ask(dump, "suspects")

    def ask(self, dump, *arguments):
        return subprocess.run([PYMEMOBJ, dump, *arguments], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def check(self, script, type_, path, accumulation, of):
        """The first suspect has this type and path; what it holds is allocated by the line that
        leaks, and by no other."""
        dump, rows, text = self.suspects(script)
        first = rows[0]
        self.assertEqual(type_, first["type"])
        self.assertRegex(first["path"], "^%s$" % path)
        self.assertRegex(first["accumulation_path"], "^%s$" % accumulation)
        self.assertEqual(of, first["most_type"] or first["type"])
        held = first["most_objects"] or first["objects"]
        self.assertEqual(COUNT, held)
        shown = re.search(r"^1\. .*?(?=^2\. |\Z)", text, re.M | re.S).group()
        if of == "method" and support.VERSION >= (3, 14):
            # It uses blocks of methods again: which line made them is not sure.
            self.assertIsNone(first["most_line"])
            self.assertIn("   The lines of 30,000 are not known: ", shown)
            return dump, first, shown
        self.assertRegex(first["most_line"], r"/leak\.py:%d \S+$" % line_of(script))
        self.assertEqual(first["most_line_objects"], COUNT)
        self.assertIn("   All of them were allocated by leak.py:%d " % line_of(script), shown)
        self.assertRegex(shown, r"One of them at \d+\.\d+ s by \S.*#\d+:\n +leak\.py:%d "
                         % line_of(script))
        return dump, first, shown

    def test_a_cache(self):
        dump, first, shown = self.check(
            CACHE, "__main__.Sessions", r"sys\.modules\['__main__'\]\.SESSIONS",
            r"sys\.modules\['__main__'\]\.SESSIONS\.by_user", "str")
        self.assertRegex(shown, r"Allocated at .*\n +leak\.py:9 <module>\n")
        # The same of one object, in the list of the line's objects, and by the module.
        line = line_of(CACHE)
        rows = list(csv.DictReader(io.StringIO(self.ask(
            dump, "list", "--where", "line=leak.py:%d" % line, "--where", "type=str", "--csv",
            "--limit", "0"))))
        values = {row["value"] for row in rows}
        self.assertLessEqual({repr("session of user %d, " % user * 4) for user in range(30000)},
                             values)
        address = next(row["address"] for row in rows if "user 77," in row["value"])
        show = self.ask(dump, "show", address)
        self.assertRegex(show, r"Allocated at \d+\.\d+ s by MainThread#\d+:\n"
                         r"  leak\.py:%d log_in\n  leak\.py:11 <module>\n" % line)
        if pymemrun_reader:
            allocated = pymemrun_reader.objects(dump)[int(address, 16)].allocated
            self.assertRegex(allocated.line, r"/leak\.py:%d log_in$" % line)
            self.assertEqual([(11, "<module>"), (line, "log_in")],
                             [(frame.line, frame.function) for frame in allocated.stack])
            self.assertTrue(allocated.sure)
            self.assertGreater(allocated.time_s, 0)
            self.assertIn("MainThread", allocated.thread)

    def test_the_report_of_the_heap_names_types_and_holders(self):
        run = self.run_script(CACHE, "--heap", "all", "--objects", "exit", name="leak.py")
        rows = list(csv.DictReader(io.StringIO(run.report("heap", "--objects", "--csv"))))
        first = rows[0]
        self.assertEqual((str(line_of(CACHE)), "log_in", "str"),
                         (first["line"], first["function"], first["type"]))
        self.assertEqual("sys.modules['__main__'].SESSIONS", first["holder"])
        self.assertEqual("__main__.Sessions", first["holder_type"])
        self.assertEqual(COUNT, int(first["objects"]))
        # Strings lie in a block each, of their size.
        size = int(subprocess.check_output([
            support.PYTHON, "-c", "import sys\nprint(sum(sys.getsizeof('session of user %%d, ' %% "
            "user * 4) for user in range(%d)))" % COUNT]))
        self.assertEqual((size, size), (int(first["objects_bytes"]), int(first["holder_bytes"])))
        same = [row for row in rows if row["line"] == first["line"]]
        self.assertEqual(int(first["live_bytes"]), int(first["rest_bytes"]) +
                         sum(int(row["objects_bytes"]) for row in same))
        self.assertIn(" 30,000 str, held by sys.modules['__main__'].SESSIONS\n",
                      run.report("heap", "--objects"))

    def test_a_closure(self):
        self.check(CLOSURE, "function", r"sys\.modules\['__main__'\]\.count",
                   r"sys\.modules\['__main__'\]\.count\.__closure__\[0\] > closure variable seen",
                   "str")

    def test_a_registry_of_callbacks(self):
        _, _, shown = self.check(
            CALLBACKS, "type", r"sys\.modules\['__main__'\]\.Events",
            r"sys\.modules\['__main__'\]\.Events\.listeners", "method")
        self.assertRegex(shown, r"\.Events\.listeners\n   Allocated or last enlarged at .*:\n"
                         r" +leak\.py:%d __init__\n" % line_of(CALLBACKS))

    def test_an_exception_with_its_traceback(self):
        self.check(EXCEPTION, "ValueError", r"sys\.modules\['__main__'\]\.failure",
                   r"sys\.modules\['__main__'\]\.failure\.__traceback__ > .*local lines", "str")

    def test_a_thread_local(self):
        self.check(THREAD_LOCAL, "_thread._local", r"sys\.modules\['__main__'\]\.context",
                   r"(thread |sys\.modules\['__main__'\]\.context > ).*\['requests'\]", "str")

    def test_a_cycle_with_a_finalizer(self):
        _, _, shown = self.check(CYCLE, "__main__.Connection", r"gc tracked, not reached.*",
                                 r"gc tracked, not reached.*", "__main__.Connection")
        self.assertIn("garbage that waits for the cycle collector", shown)

    def test_a_global_of_a_module(self):
        self.check(MODULE_GLOBAL, "list", r"sys\.modules\['__main__'\]\.HISTORY",
                   r"sys\.modules\['__main__'\]\.HISTORY", "str")

    def test_a_reference_of_an_extension(self):
        _, _, shown = self.check(EXTENSION, "list", r"gc tracked, not reached.*",
                                 r"gc tracked, not reached.*", "str")
        self.assertIn("or C code holds it", shown)

    def test_without_heap_events_the_leak_is_named_all_the_same(self):
        run = self.run_script(MODULE_GLOBAL, "--heap", "off", "--objects", "exit")
        text = self.ask(run.path[:-3] + ".obj.pb", "suspects")
        self.assertIn("It is sys.modules['__main__'].HISTORY\n", text)
        self.assertRegex(text, r"\nWhere they were allocated is not known: \S+ has no heap events: ")

    def test_of_a_sample_some_are_known(self):
        run = self.run_script(MODULE_GLOBAL, "--heap", "sampled", "--objects", "exit")
        first = json.loads(self.ask(run.path[:-3] + ".obj.pb", "suspects", "--json"))[0]
        self.assertEqual(COUNT, first["most_objects"])
        self.assertRegex(first["most_line"], r":%d remember$" % line_of(MODULE_GLOBAL))
        self.assertLess(first["most_line_objects"], COUNT)


if __name__ == "__main__":
    unittest.main()
