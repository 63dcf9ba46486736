"""The cell magic %%pymemrun: its options, and where the cell runs."""
import argparse
import shlex

import pymemrun
from IPython.core.error import UsageError

from . import answer, child_cell, tools, traced_cell

DOCUMENTATION = """\
Runs the cell and reports its memory use: growth, peak, and the lines that
allocated.

    %%pymemrun [--top N] [--no-svg] [--gil] [--states] [--tasks] [-o PATH]

--top N      Show the N lines with the most memory (8).
--no-svg     Show only the text, without the picture of memory over time.
--gil        Also show which threads held the GIL and which waited for it.
--states     Also show when threads ran, waited for a CPU or slept, and for what.
--tasks      Also show how long each asyncio task ran.
-o, --output PATH
             Keep the run file as PATH, for pymemreport. PATH must not exist.

In a traced kernel the cell shares the kernel's variables. `pymemrun kernel install`,
run in a terminal, adds such a kernel to Jupyter. In other kernels the cell runs in a
separate traced process, without the kernel's variables.
"""


class Options(argparse.ArgumentParser):
    """Those of the magic."""

    def __init__(self):
        super().__init__(prog="%%pymemrun", add_help=False, allow_abbrev=False)
        self.add_argument("--top", type=self.count, default=8)
        self.add_argument("--no-svg", dest="svg", action="store_false")
        for kind in answer.KINDS:
            self.add_argument("--" + kind, dest="kinds", action="append_const", const=kind)
        self.add_argument("-o", "--output")

    @staticmethod
    def count(text):
        if not text.isdecimal() or int(text) == 0:
            raise argparse.ArgumentTypeError(f"expected a number above 0, found '{text}'")
        return int(text)

    def error(self, message):
        raise UsageError(f"%%pymemrun: {message}; %%pymemrun? lists the options")

    def read(self, line):
        try:
            words = shlex.split(line)
        except ValueError as error:
            self.error(str(error).lower())
        return self.parse_args(words)


def load(shell):
    def cell_magic(line, cell):
        options = Options().read(line)
        options.svg = options.svg and answer.has_pictures(shell)
        # Without the tracer there is no run file, also in a traced process.
        run = traced_cell.run if pymemrun.run_file() else child_cell.run
        try:
            run(shell, line, cell, options)
        except (tools.ToolError, OSError) as error:
            raise UsageError(f"%%pymemrun: {error}") from None

    cell_magic.__doc__ = DOCUMENTATION
    shell.register_magic_function(cell_magic, "cell", "pymemrun")
