#!/usr/bin/env python3
"""Bound objects that the interpreter makes for a profiled call are used again,
and nothing that a program can ask tells so."""
import unittest

import support

# Everything a program does with bound methods of built-in types.
PROGRAM = r'''
import collections, gc, sys, threading, weakref

kept = [[n].append for n in range(1000)]
for n, append in enumerate(kept):
    append(-n)
print(len({id(m) for m in kept}), all(m.__self__ == [n, -n] for n, m in enumerate(kept)))
print(all(map(gc.is_tracked, kept)), kept[3] == kept[3].__self__.append)

died = []
refs = [weakref.ref(m, died.append) for m in kept]
del kept, append
print(len(died))

d = collections.deque([1])  # a cycle through a bound method
d.append(d.append)
ref = weakref.ref(d)
del d
print(ref() is not None, gc.collect() > 0, ref())

owner = {}
before = sys.getrefcount(owner)
for _ in range(100):
    owner.get(1)
print(sys.getrefcount(owner) - before)

method = [].append  # each end would follow from the one before
for _ in range(200000):
    method = [method].append
del method
method = object()
for _ in range(1000000):
    method = method.__dir__
del method

def deep(n):
    return [n].sort(key=lambda x: deep(n - 1)) if n else None
print(deep(100))

class Items(list):
    pass
items = Items()
items.append(1)
list.append(items, 2)
try:
    list.append((), 3)
except TypeError as error:
    print(error)
print(items, str.upper("a"), {}.get.__qualname__, [].append.__name__)

def work(out):
    for n in range(20000):
        out.append(n)
        out.index(n, n)
lists = [[] for _ in range(4)]
threads = [threading.Thread(target=work, args=(l,)) for l in lists]
[t.start() for t in threads]
[t.join() for t in threads]
print(all(l == list(range(20000)) for l in lists))
'''

# Which objects a profile function is shown. Between two calls a bound object
# is made that stays: it would be where the dead one was.
SHOWN = r'''
import sys
shown, kept, items = set(), [], []
def note(frame, event, arg):
    if event == "c_call" and arg.__name__ == "append":
        shown.add(id(arg))
def work():
    for n in range(50):
        items.append(n)
        kept.append((n,).index)
sys.setprofile(note)
work()
sys.setprofile(None)
print(len(shown))
'''


class BoundObjectsTest(support.ProgramTest):
    def test_programs_see_no_difference(self):
        script = self.write("program.py", PROGRAM)
        expected = self.run_python(script)
        self.assertIn("1000 True", expected)
        for options in ((), ("--min-drss", "0")):
            run = self.pymemrun("--quiet", "--force", *options, script)
            self.assertEqual(run.stdout, expected)

    @unittest.skipIf(support.PROFILERS_SHARE, "none is made for us")
    def test_used_again(self):
        script = self.write("shown.py", SHOWN)
        self.assertGreater(int(self.run_python(script)), 2)
        self.assertLessEqual(
            int(self.pymemrun("--quiet", script).stdout), 2)


if __name__ == "__main__":
    unittest.main()
