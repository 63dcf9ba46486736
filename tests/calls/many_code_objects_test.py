#!/usr/bin/env python3
"""More code objects, and more C functions, than the tracer knows at once: every
row is right, nothing is lost, and our own memory stays what it was."""
import os
import re
import subprocess
import unittest

import fault_support
import support

CODES = r'''
import sys
function = type(lambda: 0)
def plain(x):
    return x
kept = []
for n in range(int(sys.argv[1])):
    kept.append(function(plain.__code__.replace(
        co_name="f%d" % n, co_firstlineno=n + 1), {}))
def run():
    for f in kept:
        f(1)
def deep(n):
    return run() if n == 0 else deep(n - 1)
run()
deep(3)
print("ready", flush=True)
sys.stdin.readline()
'''
# As many C functions, each an own definition, made at run time.
FUNCTIONS = r'''
import ctypes, sys
class MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("method", ctypes.c_void_p),
                ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]
make = ctypes.pythonapi.PyCFunction_NewEx
make.restype = ctypes.py_object
make.argtypes = [ctypes.POINTER(MethodDef), ctypes.c_void_p, ctypes.c_void_p]
method = ctypes.cast(ctypes.pythonapi.PyList_New, ctypes.c_void_p).value
definitions = (MethodDef * int(sys.argv[1]))()
kept = []
for n, definition in enumerate(definitions):
    definition.name, definition.method, definition.flags = b"c%d" % n, method, 4
    kept.append(make(definition, None, None))
def run():
    for c in kept:
        c()
run()
run()
'''
# What the collector keeps of each is bounded as well.
MOST_COLLECTOR_BYTES = 48 << 20


class ManyCodeObjectsTest(support.ProgramTest):
    def rows_of_run(self, run, pattern):
        return [(row["what"], row["line"], row["function"])
                for row in run.rows() if re.fullmatch(pattern, row["function"])]

    def check_own_memory(self, run):
        self.assertGreater(run.header.own_bytes, 0)
        self.assertEqual(run.footer.own_bytes, run.header.own_bytes)

    def traced(self, script, count, *options):
        """Runs it, and returns its run and the collector's highest RSS."""
        path = os.path.join(self.folder, "codes%d.pb" % len(options))
        process = subprocess.Popen(
            [support.PYMEMRUN, "--quiet", "-o", path, "--min-drss", "0",
             *options, self.write("codes.py", script), str(count)],
            cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.assertEqual(process.stdout.readline(), "ready\n")
        [collector] = fault_support.collectors(path)
        with open("/proc/%d/status" % collector) as file:
            highest = 1024 * int(re.search(r"VmHWM:\s+(\d+)", file.read())[1])
        stdout, stderr = process.communicate("\n")
        self.assertEqual((process.returncode, stdout, stderr), (0, "", ""))
        result = subprocess.CompletedProcess([], 0, stdout, stderr)
        return support.Run(path, result), highest

    def test_code_objects(self):
        count = 100000
        run, highest = self.traced(CODES, count)
        self.assert_nothing_lost(run)
        once = [(what, n + line, "f%d" % n) for n in range(count)
                for what, line in (("CALL", 1), ("RETURN", 2))]
        self.assertEqual(self.rows_of_run(run, r"f\d+"), once + once)
        self.check_own_memory(run)
        self.assertGreaterEqual(run.footer.tables_emptied, 3)
        self.assertLess(highest, MOST_COLLECTOR_BYTES)
        self.assertIn("emptied", run.report("summary"))

    def test_context_and_stacks(self):
        """Also where ids become void between an event and its row."""
        count = 60000
        run, highest = self.traced(CODES, count, "--function", "f*9",
                                   "--stacks")
        once = []
        for n in range(9, count, 10):
            once += [("RETURN", n + 1, "f%d" % (n - 1)),
                     ("CALL", n + 1, "f%d" % n), ("RETURN", n + 2, "f%d" % n)]
        found = self.rows_of_run(run, r"f\d+")
        # The context of the very event at which a table was emptied is lost.
        emptied = run.footer.tables_emptied
        self.assertIn(emptied, range(2, 6))
        self.assertGreaterEqual(len(found), 2 * len(once) - emptied)
        for at, row in enumerate(once + once):
            if at >= len(found) or found[at] != row:
                self.assertEqual(row[2][-1], "8", row)
                found.insert(at, row)
        self.assertEqual(found, once + once)
        self.check_own_memory(run)
        self.assertLess(highest, MOST_COLLECTOR_BYTES)
        self.check_stacks(run)

    def check_stacks(self, run):
        code, site, stack = ({d.id: d for d in run.records(kind)}
                             for kind in ("code", "site", "stack"))
        depths = set()
        for batch in run.records("events"):
            context = set()
            at = 0
            for distance in batch.context_at:
                at += distance
                context.add(at)
            for row, (site_id, node) in enumerate(zip(batch.site, batch.stack)):
                if row in context:
                    continue
                names = []
                while node:
                    names.append(code[stack[node].code].name.decode())
                    node = stack[node].parent
                self.assertEqual(names[0],
                                 code[site[site_id].code].name.decode())
                depths.add(tuple(names[1:]))
        self.assertEqual(depths, {("run", "<module>"), ("run", *["deep"] * 4,
                                                        "<module>")})

    def test_functions(self):
        count = 20000
        run = self.pymemrun("--quiet", "--min-drss", "0",
                            self.write("functions.py", FUNCTIONS), str(count))
        self.assert_nothing_lost(run)
        line = FUNCTIONS[:FUNCTIONS.index("c()")].count("\n") + 1
        once = [(what, line, "c%d" % n) for n in range(count)
                for what in ("C_CALL", "C_RETURN")]
        self.assertEqual(self.rows_of_run(run, r"c\d+"), once + once)
        self.check_own_memory(run)
        self.assertGreaterEqual(run.footer.tables_emptied, 3)


if __name__ == "__main__":
    unittest.main()
