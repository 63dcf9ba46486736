#!/usr/bin/env python3
"""The script's own profilers see what they see without us."""
import unittest

import support

# What the script's own profiler sees, printed at the end.
PROFILERS = {
    "set at the top": r'''
sys.setprofile(note)
work(1)
sys.setprofile(None)
''',
    "set in a function": r'''
def begin():
    sys.setprofile(note)
    work(1)
def outer():
    begin()
    work(2)
outer()
work(3)
sys.setprofile(None)
''',
    "set below calls of C functions": r'''
def begin(x):
    sys.setprofile(note)
    return x
sorted([3, 1, 2], key=begin)
list(map(begin, [1]))
[4].sort(key=begin)
work(1)
sorted([3, 1], key=lambda x: -x)
sys.setprofile(None)
''',
    "set again": r'''
sys.setprofile(note)
work(1)
sys.setprofile(note)
work(2)
sys.setprofile(None)
work(3)
sys.setprofile(note)
work(4)
sys.setprofile(None)
''',
    "that raises": r'''
def bad(frame, event, arg):
    note(frame, event, arg)
    if event == "c_call" and arg is abs:
        raise ValueError("from the profiler")
sys.setprofile(bad)
try:
    work(-1)
except ValueError as e:
    seen.append(str(e))
seen.append(sys.getprofile() is None)
''',
    "in a generator": r'''
def g():
    sys.setprofile(note)
    yield 1
    yield abs(-1)
for x in g():
    work(x)
sys.setprofile(None)
''',
    "ended below": r'''
sys.setprofile(note)
def end(x):
    sys.setprofile(None)
    return x
sorted([1], key=end)
work(1)
''',
    "set while one is set": r'''
class Last:
    def __call__(self, *args): pass
    def __del__(self): sys.setprofile(note)
sys.unraisablehook = lambda what: print(type(what.exc_value).__name__)
sys.setprofile(Last())
sys.setprofile(note)
work(1)
sys.setprofile(None)
''',
    "set by threading": r'''
import threading
threading.setprofile(note)
def body():
    work(1)
    sys.setprofile(None)
t = threading.Thread(target=body)
t.start(); t.join()
threading.setprofile(None)
seen = [s for s in seen if s[1] in ("work", "body", "run", "_bootstrap_inner")]
''',
}
PROFILER = r'''
import sys
seen = []
def note(frame, event, arg):
    seen.append((event, frame.f_code.co_name, frame.f_lineno,
                 getattr(arg, "__name__", repr(arg))))
def work(n):
    return abs(len(str(n)))
%s
for line in seen:
    print(line)
'''

CPROFILE = r'''
import cProfile, pstats, io
def leaf(n):
    return len(str(n))
def tree(n):
    return leaf(n) + sum(leaf(x) for x in range(n))
profile = cProfile.Profile()
profile.enable()
for n in range(10):
    tree(n)
profile.disable()
stats = pstats.Stats(profile).stats
for key in sorted(stats):
    print(key, stats[key][:2])
'''


class ScriptProfilersTest(support.ProgramTest):
    def test_profilers_see_what_they_see_without_us(self):
        for name, text in PROFILERS.items():
            with self.subTest(name):
                script = self.write("profiler.py", PROFILER % text)
                expected = self.run_python(script)
                for options in ([], ["--min-drss", "0"]):
                    run = self.pymemrun("--quiet", *options, script)
                    self.assertEqual(run.stdout, expected)

    def test_cprofile_counts_the_same(self):
        script = self.write("cprofiled.py", CPROFILE)
        expected = self.run_python(script)
        run = self.pymemrun("--quiet", "--min-drss", "0", script)
        self.assertEqual(run.stdout, expected)


if __name__ == "__main__":
    unittest.main()
