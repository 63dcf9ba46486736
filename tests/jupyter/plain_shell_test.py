#!/usr/bin/env python3
"""The magic without Jupyter's packages: a shell of a few lines stands for IPython's."""
import re
import unittest

import support

SHELL = r'''
import linecache
import pymemrun


class Result:
    error_before_exec = error_in_exec = None

    @property
    def success(self):
        return self.error_in_exec is None


class Shell:
    """What the magic asks of IPython's."""
    execution_count = 4  # which some versions have counted on

    def __init__(self):
        self.names = {}
        self.compile = self.events = self
        self._filename_map = {}
        self.registered = None

    def get_code_name(self, raw, text, number):
        return f"/tmp/ipykernel_1/{number}.py"

    def register_magic_function(self, function, kind, name):
        assert (kind, name) == ("cell", "pymemrun")
        self.magic = function

    def register(self, event, function):
        assert event == "post_run_cell"
        self.registered = function

    def unregister(self, event, function):
        self.registered = None

    def run_cell(self, text, store_history):
        assert not store_history
        file = self.get_code_name(text, text, self.execution_count)
        self._filename_map[file] = self.execution_count
        linecache.cache[file] = len(text), None, text.splitlines(True), file
        result = Result()
        try:
            exec(compile(text, file, "exec"), self.names)
        except Exception as error:
            result.error_in_exec = error
        return result


def run_outer(shell, line, cell):
    """As the notebook's cell, the third, calls the magic."""
    file = shell.get_code_name("", "", 3)
    shell._filename_map[file] = 3
    code = compile("shell.magic(line, cell)", file, "exec")
    exec(code, {"shell": shell, "line": line, "cell": cell})


shell = Shell()
pymemrun.load_ipython_extension(shell)
'''
GROW = SHELL + r'''
run_outer(shell, "--top 2", "x = bytearray(b'1') * 50_000_000\n"
          "y = x + x\ndel y\n")
assert len(shell.names["x"]) == 50_000_000 and shell.execution_count == 4
run_outer(shell, "", "del x\n1 / 0\n")
outer = Result()
shell.registered(outer)
print(repr(outer.error_in_exec), shell.registered)
'''
# As a notebook has pictures: a display is printed.
PICTURE = r'''
import sys, types
display = types.ModuleType("IPython.display")
display.display = lambda data, raw: print(*data.values())
sys.modules["IPython.display"] = display
shell.kernel = shell
run_outer(shell, "", "x = bytearray(b'1') * 50_000_000")
'''
# Two threads that want the GIL, and a line that imports.
GIL = SHELL + r'''
import sys
body = """import linecache, threading
def spin():
    for n in range(3_000_000): pass
threads = [threading.Thread(target=spin) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
run_outer(shell, "--gil --no-svg", body)
print("---")
linecache.checkcache()  # as an import may do: files of cells are not there
class History:
    input_hist_raw = ["", "", "", "", "kept = bytearray(b'1') * 50_000_000"]
shell.history_manager = History
shell._filename_map["/tmp/ipykernel_1/4.py"] = 4
names = __import__("pymemrun.jupyter.cell_names", fromlist=["CellNames"]).CellNames(shell)
print(names.source("/tmp/ipykernel_1/4.py", 1))
print(names.rename_text("x  /tmp/ipykernel_1/4.py:12  in  4.py:3 < \u2026/ipykernel_1/4.py:5 14.py:3"))
'''
WRONG = SHELL + r'''
from IPython.core.error import UsageError
for line in "--topp 3", "--top 0", "'x", "-o " + __file__:
    try:
        run_outer(shell, line, "never = 1")
    except UsageError as error:
        print(error)
assert "never" not in shell.names
'''


class PlainShellTest(support.ProgramTest):
    def setUp(self):
        for folder in "IPython", "IPython/core":
            self.write(f"packages/{folder}/__init__.py", "")
        self.write("packages/IPython/core/error.py", "class UsageError(Exception): pass\n")
        self.env = {"PYTHONPATH": self.folder + "/packages"}

    def run_shell(self, text, *options):
        return self.run_script(text, "--trace", "pages", "--native", *options,
                               env=support.USUAL | self.env)

    def check_growth(self, *options):
        said = self.run_shell(GROW, *options).stdout
        grown, head, both, kept, fallen, _, freed, error = said.splitlines()
        self.assertRegex(grown, r"^In \[3\]: \d+\.\d{3} s\. RSS .* s into the cell\.$")
        change, peak = map(float, re.findall(r"\(\+([\d.]+) MiB\)", grown))
        self.assertLess(abs(change - 48), 5)
        self.assertLess(abs(peak - 143), 5)
        self.assertRegex(head, "at its peak +at its end +live bytes by line")
        self.assertRegex(both, r"\+95 MiB +0 bytes  In \[3\]:3  y = x \+ x$")
        self.assertRegex(kept, r"\+48 MiB +\+48 MiB  In \[3\]:2  x = bytearray\(b'1'\)")
        self.assertRegex(fallen, r"RSS [\d.]+ MiB \(-4\d MiB\)")
        self.assertEqual(freed, "Released in this cell: 48 MiB allocated before it.")
        self.assertEqual(error, "ZeroDivisionError('division by zero') None")

    def test_a_cell_embedded(self):
        self.check_growth("--delivery", "embed")

    def test_a_cell_preloaded(self):
        self.check_growth("--delivery", "preload")

    def test_who_held_the_gil_in_a_cell(self):
        said = self.run_script(GIL, "--trace", "pages,gil", "--native",
                               env=support.USUAL | self.env).stdout
        answer, _, named = said.partition("---\n")
        self.assertIn("What holds the GIL while others wait", answer)
        self.assertIn("In [3]:4", answer)  # the loop; the magic's line is the first
        self.assertNotIn("ipykernel_1/", answer)
        self.assertRegex(answer, r"(?m)^Thread-\d.*%")
        source, renamed = named.splitlines()
        self.assertEqual(source, "kept = bytearray(b'1') * 50_000_000")
        self.assertEqual(renamed, "x  In [4]:12" + " " * 17 + "in  In [4]:3 < In [4]:5 14.py:3")

    def test_the_picture_is_titled_by_its_cell(self):
        said = self.run_shell(SHELL + PICTURE).stdout
        self.assertIn(" of In [3]<", said)
        self.assertNotIn(" of script.py<", said)

    def test_a_kernel_that_does_not_record_it_says_so(self):
        said = self.run_shell(GIL).stdout
        self.assertIn("This kernel does not record --gil. A kernel that does: "
                      "pymemrun kernel install -- --trace pages,gil", said)

    def test_a_cell_of_scanned_pages(self):
        """VmHWM knows the peak, though it is shorter than the time between scans."""
        said = self.run_shell(GROW, "--page-source", "scan").stdout
        change, peak = map(float, re.findall(r"\(\+([\d.]+) MiB\)", said.splitlines()[0]))
        self.assertLess(abs(change - 48), 5)
        self.assertLess(abs(peak - 143), 5)
        self.assertRegex(said, r"\+48 MiB +\+48 MiB  In \[3\]:2  x = bytearray\(b'1'\)")

    def test_a_cell_of_a_paused_run(self):
        self.check_growth("--paused")

    def test_wrong_options_say_one_line(self):
        said = self.run_shell(WRONG).stdout.splitlines()
        self.assertEqual(len(said), 4)
        for line, expected in zip(said, ("unrecognized arguments: --topp 3",
                                         "expected a number above 0, found '0'",
                                         "no closing quotation", "script.py exists")):
            self.assertTrue(line.startswith("%%pymemrun: "), line)
            self.assertIn(expected, line)


if __name__ == "__main__":
    unittest.main()
