#!/usr/bin/env python3
"""The magic %%pymemrun in kernels that are traced, and in those that are not."""
import json
import os
import re
import subprocess
import unittest

import jupyter_support
import support

LOAD = "%load_ext pymemrun"
SIZE = 50_000_000
DEFINE = f"""\
def load(n):
    return bytearray(b"1") * n  # the line that takes it
"""
GROW = f"""\
%%pymemrun
kept = load({SIZE})
more = load({SIZE})
del more
len(kept)"""
PACKAGE = os.path.join(support.SOURCE, "launcher", "package")


def sizes(answer):
    """What the first line says, in MiB: RSS, its change, the peak, its change."""
    found = re.search(r"RSS ([\d.]+) MiB \(([+-][\d.]+) MiB\), "
                      r"peak ([\d.]+) MiB \(([+-][\d.]+) MiB\)", answer)
    assert found, answer
    return [float(text) for text in found.groups()]


class MagicTest(jupyter_support.JupyterTest):
    def test_a_cell_of_a_traced_kernel(self):
        _, _, grown, after, again = self.run_cells(
            "pymemrun", LOAD, DEFINE, GROW, "len(kept)", "%%pymemrun --no-svg\ndel kept")
        self.assertEqual((grown.stderr, grown.errors), ("", []))
        self.assertEqual(grown.result, str(SIZE))
        self.assertTrue(grown.answer.startswith("In [3]: "), grown.answer)
        rss, change, peak, peak_change = sizes(grown.answer)
        mib = SIZE / 2 ** 20
        self.assertLess(abs(change - mib), 5)
        self.assertLess(abs(peak_change - 2 * mib), 5)
        self.assertLess(abs(peak - peak_change - (rss - change)), 2.1)
        # The line of another cell that allocated, with its text. Two calls.
        self.assertRegex(grown.answer, r"\n +\+95 MiB +\+48 MiB  In \[2\]:2 +return bytearray")
        picture, = grown.pictures
        self.assertTrue("In [2]:2" in picture)
        self.assertFalse(re.search(r"ipykernel_\d|site-packages|/usr/lib", picture))
        self.assertEqual(after.result, str(SIZE))  # its variables stay
        self.assertEqual(again.pictures, [])
        self.assertRegex(again.answer, r"RSS \d+ MiB \(-4\d MiB\), peak \d+ MiB \(")
        self.assertIn("Released in this cell: 48 MiB", again.answer)

    def test_lines_have_the_numbers_that_the_notebook_shows(self):
        _, cell = self.run_cells(
            "pymemrun", LOAD, f"%%pymemrun --top 1 --no-svg\n\nx = 1\ny = bytearray(b'1') * {SIZE}")
        self.assertRegex(cell.answer, r"\+48 MiB +\+48 MiB  In \[2\]:4  y = bytearray")
        self.assertEqual(cell.answer.count("\n"), 2)

    def test_an_exception_is_shown_before_the_answer_and_ends_the_run(self):
        _, cell, after = self.run_cells(
            "pymemrun", LOAD, "%%pymemrun --no-svg\nprint('before')\nx = 5\n1 / 0", "x",)
        self.assertEqual(cell.kinds, ["stream", "error", "display_data"])
        self.assertEqual(cell.errors, ["ZeroDivisionError"])
        plain = re.sub(r"\x1b\[[\d;]*m", "", cell.tracebacks[0])
        self.assertIn("In[2], line 4", plain)
        self.assertNotIn("jupyter/", plain)  # no frame of ours
        self.assertEqual(after.result, "5")
        *_, never = self.run_cells("pymemrun", LOAD, "%%pymemrun --no-svg\n1 / 0",
                                   "print('never')", stops=True)
        self.assertEqual(never.kinds, [])

    def test_the_run_file_is_kept(self):
        _, kept, twice = self.run_cells(
            "pymemrun", LOAD, "%%pymemrun --no-svg -o 'kept file.pb'\npass",
            "%%pymemrun -o 'kept file.pb'\nprint('never')")
        path = self.folder + "/kept file.pb"
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        marks = subprocess.run([support.PYMEMCAT, "--records", "marks", "--jsonl", path],
                               stdout=subprocess.PIPE, check=False).stdout.splitlines()
        self.assertEqual([json.loads(mark)["function"] for mark in marks][:2],
                         ["In [2] begins", "In [2] ends"])
        self.assertIn("kept file.pb exists", twice.stderr)
        self.assertEqual(twice.stdout, "")

    def test_wrong_options_say_one_line(self):
        _, *cells = self.run_cells(
            "pymemrun", LOAD, "%%pymemrun --topp 3\n1", "%%pymemrun --top 0\n1",
            "%%pymemrun 'x\n1", "%%pymemrun\nimport asyncio\nawait asyncio.sleep(0)")
        for cell, says in zip(cells, ("unrecognized arguments: --topp 3",
                                      "expected a number above 0, found '0'",
                                      "no closing quotation", "`await` outside")):
            self.assertIn(says, cell.stderr)
            self.assertEqual(cell.stderr.strip().count("\n"), 0)
            self.assertEqual(cell.texts, [])

    def test_a_kernel_that_is_paused(self):
        done = jupyter_support.kernel_command(
            "install", "--python", self.environment, "--name", "paused", "--", "--paused",
            folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        _, traced, after = self.run_cells(
            "paused", LOAD, f"%%pymemrun --no-svg\nx = bytearray(b'1') * {SIZE}",
            "import pymemrun; pymemrun.is_tracing()")
        self.assertRegex(traced.answer, r"\+48 MiB +\+48 MiB  In \[2\]:2")
        self.assertEqual(after.result, "False")

    def test_an_interrupt_and_the_help(self):
        _, cell, text = self.run_cells(
            "pymemrun", LOAD, "%%pymemrun --no-svg\nx = 1\nraise KeyboardInterrupt",
            "print(get_ipython().find_cell_magic('pymemrun').__doc__, x)")
        self.assertEqual(cell.kinds, ["error", "display_data"])
        self.assertEqual(cell.errors, ["KeyboardInterrupt"])
        for option in "--top N", "--no-svg", "--output PATH", "pymemrun kernel install":
            self.assertIn(option, text.stdout)
        self.assertTrue(text.stdout.endswith(" 1\n"))

    def test_in_a_terminal(self):
        body = f"x = bytearray(b'1') * {SIZE}\n"
        script = self.write("terminal.ipy", f"{LOAD}\nget_ipython().run_cell_magic("
                            f"'pymemrun', '', {body!r})\nprint(len(x))\n")
        done = subprocess.run(
            [support.PYMEMRUN, "--quiet", "--trace", "pages", "--python", self.environment,
             "-m", "IPython", "--no-banner", "--colors=NoColor", script],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            check=True, env=jupyter_support.variables(self.folder))
        self.assertRegex(done.stdout, r"In \[\d+\]: \d+\.\d{3} s\. RSS ")
        self.assertRegex(done.stdout, r"\+48 MiB +\+48 MiB  In \[\d+\]:2  x = bytearray")
        self.assertIn(str(SIZE), done.stdout)

    def test_another_process_for_a_kernel_that_is_not_traced(self):
        _, variable, cell, failed, after = self.run_cells(
            "python3", LOAD, "kept = 1",
            f"%%pymemrun\nkept = bytearray(b'1') * {SIZE}\nprint(len(kept))",
            "%%pymemrun --no-svg\nprint('first')\nkept", "kept",
            PYTHONPATH=PACKAGE,
            PATH=":".join([os.path.dirname(support.PYMEMRUN),
                           os.path.dirname(support.PYMEMREPORT), os.environ["PATH"]]))
        self.assertEqual(cell.stdout, f"{SIZE}\n")
        self.assertRegex(cell.stderr, "^pymemrun: this kernel is not traced.*"
                                      "pymemrun kernel install\n$")
        self.assertIn("In [3]:2 holds 48 MiB", cell.answer)
        self.assertIn(f"kept = bytearray(b'1') * {SIZE}", cell.answer)
        self.assertTrue("In [3]:2" in cell.pictures[0])
        self.assertEqual(failed.stdout, "first\n")
        self.assertIn("NameError: name 'kept' is not defined", failed.stderr)
        self.assertIn("ended with status 1", failed.stderr)
        self.assertEqual(after.result, "1")


if __name__ == "__main__":
    unittest.main()
