#!/usr/bin/env python3
"""What tracing makes the interpreter allocate is counted: frame objects of
calls and bound objects of method calls, live at most and in all. From CPython
3.12 on it makes none."""
import json
import subprocess
import unittest

import support

# Methods of built-in types, functions of modules, generators, exceptions; no
# method that the program binds itself.
WORK = r'''
def work(n):
    items = []
    for k in range(n):
        items.append(str(k).upper())
    text = ",".join(items).encode("ascii").decode()
    return len(text) + sum(len(part) for part in text.split(","))
def generator(n):
    for k in range(n):
        yield abs(k)
class Thing:
    made = []
    def __init__(self, n):
        self.made.append(n)
        self.made.sort(key=lambda x: -x)
def fails():
    try:
        [].pop()
    except IndexError:
        {}.get(1)
for n in range(30):
    work(n)
    list(generator(n))
    Thing(n)
    fails()
exec("def g():\n  return dict.fromkeys([1]).copy()\ng(); g()")
'''

# Every frame object and every bound object that a profile function is shown,
# kept, so that each is another one.
ORACLE = r'''
import sys
frames, bound = {}, {}
module, builtin = type(sys), type(len)
def note(frame, event, arg):
    if event == "call":
        frames[id(frame)] = frame
    elif event == "c_call" and type(arg) is builtin:
        owner = arg.__self__
        if owner is not None and not isinstance(owner, (module, type)):
            bound[id(arg)] = arg
code = compile(open(sys.argv[1]).read(), "work.py", "exec")
sys.setprofile(note)
exec(code, {"__name__": "__main__"})
sys.setprofile(None)
print(len(frames), len(bound))
'''

# So many calls of list.sort are under way, and each has called back. At the
# deepest point memory grows, which is when their cost is looked at.
DEPTH = 100
LIVE = r'''
import sys
def sizes(frame):
    total = 0
    while frame is not None:
        total += sys.getsizeof(frame)
        frame = frame.f_back
    return total
def bottom():
    came = sys.getallocatedblocks() - start
    block = bytearray(1 << 22)
    found.append(came)
    if "sizes" in sys.argv:
        found.append(sizes(sys._getframe()))
    abs(-1)
def deep(n):
    if n == 0:
        return bottom()
    def key(x):
        return deep(n - 1)
    [n].sort(key=key)
found = []
start = 0
deep(1)  # what the first call of each leaves behind
found.clear()
# How many there are by now, the addresses of names decide, too: the cache of
# methods keeps some that would be gone.
start = sys.getallocatedblocks()
deep(%d)
print(*found)
''' % DEPTH


class TracingCostTest(support.ProgramTest):
    def summary(self, run):
        return json.loads(run.report("summary", "--json"))[0]

    def test_objects_made(self):
        script = self.write("work.py", WORK)
        frames, bound = map(int, self.run_python(
            self.write("oracle.py", ORACLE), script).split())
        self.assertGreater(bound, 1000)
        run = self.pymemrun("--quiet", "--min-drss", "0", script)
        summary = self.summary(run)
        if support.PROFILERS_SHARE:
            self.assertIsNone(summary["bound_objects_made"])
            self.assertIsNone(summary["frame_objects_made"])
            return
        self.assertEqual(summary["bound_objects_made"], bound)
        self.assertEqual(summary["frame_objects_made"], frames)
        top = run.report("top", "--csv").splitlines()[-1]
        self.assertIn('"made %s frame objects, %s bound objects"' % (
            format(frames, ","), format(bound, ",")), top)
        self.assertIn("(%s and %s in all)" % (format(frames, ","),
                                              format(bound, ",")),
                      run.report("summary"))

    def test_not_guessed_where_events_are_missing(self):
        run = self.pymemrun("--quiet", self.write("work.py", WORK))
        summary = self.summary(run)
        self.assertIsNone(summary["bound_objects_made"])
        self.assertIsNone(summary["frame_objects_made"])
        self.assertTrue(run.report("top", "--csv").splitlines()[-1]
                        .startswith("tracing itself,,,"))

    def test_objects_live(self):
        script = self.write("live.py", LIVE)
        plain = int(self.run_python(script))
        size_plain = int(self.run_python(script, "sizes").split()[1])
        for options in ([], ["--min-drss", "0"]):
            with self.subTest(options):
                run = self.pymemrun("--quiet", *options, script)
                objects = int(run.stdout) - plain
                if support.PROFILERS_SHARE:
                    self.assertLess(objects, 20)
                    self.assertEqual(run.footer.frame_object_bytes, 0)
                    self.assertEqual(run.footer.bound_object_bytes, 0)
                    continue
                # Two frames and a bound object a level, and a few frames more.
                self.assertGreaterEqual(objects, 3 * DEPTH)
                self.assertLess(objects, 3 * DEPTH + 20)
                footer = run.footer
                # Of a bound object: two words for the collector, then it.
                size = 16 + type(len).__basicsize__
                self.assertIn(footer.bound_object_bytes // size,
                              (DEPTH, DEPTH + 1))
                self.assertEqual(footer.bound_object_bytes % size, 0)
                # Of sizes() itself there is one more.
                self.assertLess(abs(footer.frame_object_bytes - size_plain),
                                500)
                top = json.loads(run.report("top", "--json"))[-1]
                self.assertEqual(top["growth_bytes"],
                                 footer.own_bytes + footer.line_array_bytes +
                                 footer.frame_object_bytes +
                                 footer.bound_object_bytes)

    @unittest.skipIf(support.PROFILERS_SHARE, "no frame objects either")
    def test_calls_from_python_to_python_bind_nothing(self):
        run = self.pymemrun("--quiet", "-c", """
def deep(n):
    if n == 0:
        return bytearray(1 << 22)
    if n % 10 == 0:
        kept.append(bytearray(1 << 14))
    return deep(n - 1)
kept = []
deep(900)
""")
        self.assertGreater(run.footer.frame_object_bytes, 900 * 100)
        self.assertLess(run.footer.bound_object_bytes, 200)


if __name__ == "__main__":
    unittest.main()
