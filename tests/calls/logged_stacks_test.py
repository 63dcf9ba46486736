#!/usr/bin/env python3
"""--stacks: each row's frames are those that `traceback` sees."""
import ast
import unittest

import support

STACKS = r'''
import threading, traceback
found = []
def here():
    found.append([(f.filename, f.lineno, f.name)
                  for f in traceback.extract_stack()])
def deep(n):
    here() if n == 0 else deep(n - 1)
def generator():
    yield here()
    yield deep(2)
class Body:
    here()
    def method(self): deep(1)
here()
deep(0)
deep(40)
list(generator())
sorted([1], key=lambda x: here())
Body().method()
[here() for n in range(2)]
exec("def f():\n  here()\n\nf()")
async def coroutine():
    await inner()
async def inner():
    here()
try:
    coroutine().send(None)
except StopIteration:
    pass
t = threading.Thread(target=deep, args=(3,))
t.start(); t.join()
print(found)
'''

# Its last lines grow by more than the default filter.
GROWTH = r'''
import mmap
def grow(pages):
    m = mmap.mmap(-1, pages * 4096)
    m.write(bytes(pages * 4096))
    m.close()
def work():
    grow(40)
work()
'''


class LoggedStacksTest(support.ProgramTest):
    def stacks(self, run):
        """[(what, function or code name, [(file, line, name)...])...]"""
        pb = support.trace_pb2()
        code, site, stack = ({d.id: d for d in run.records(kind)}
                             for kind in ("code", "site", "stack"))
        found = []
        for batch in run.records("events"):
            self.assertEqual(len(batch.stack), len(batch.site))
            for site_id, node in zip(batch.site, batch.stack):
                frames = []
                while node:
                    d = stack[node]
                    frames.insert(0, (code[d.code].file.decode(), d.line,
                                      code[d.code].name.decode()))
                    node = d.parent
                s = site[site_id]
                found.append((pb.What.Name(s.what), s, frames,
                              code[s.code].name.decode()))
        return found

    def test_stacks(self):
        run = self.run_script(STACKS, "--min-drss", "0", "--stacks")
        self.assert_nothing_lost(run)
        expected = ast.literal_eval(run.stdout)
        self.assertEqual(len(expected), 13)
        found = []
        for what, site, frames, name in self.stacks(run):
            # Every row's stack ends where the row is.
            self.assertEqual((frames[-1][1], frames[-1][2]), (site.line, name))
            if (what, name) == ("CALL", "extract_stack"):
                found.append(frames[:-1])
        self.assertEqual(len(found), len(expected))
        for e, f in zip(expected, found):
            self.assertEqual(e, f)

    def test_stacks_of_logged_rows_only(self):
        run = self.run_script(GROWTH, "--stacks", "--context", "1")
        rows = run.rows()
        self.assertEqual(len(self.stacks(run)), len(rows))
        printed = run.json_rows("--columns", "stack")
        self.assertEqual(
            [row["stack"] for row in printed],
            [";".join("%s:%d:%s" % frame for frame in frames)
             for _, _, frames, _ in self.stacks(run)])
        self.assertTrue(any(row["stack"] for row in printed))
        for row, (what, _, frames, _) in zip(rows, self.stacks(run)):
            self.assertEqual(row["what"], what)
            if row["context"] == "PREV":
                self.assertEqual(frames, [])
            else:
                self.assertEqual(frames[-1][1], row["line"])
                self.assertEqual(frames[0][2], "<module>")


if __name__ == "__main__":
    unittest.main()
