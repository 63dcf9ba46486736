"""The cell magic %%pymemrun: its options, and where the cell runs."""
import argparse
import shlex

import pymemrun
from IPython.core.error import UsageError

from . import answer, child_cell, tools, traced_cell

DOCUMENTATION = """\
Runs the cell, and says what it did to memory: how much it grew, how high it went,
and by which line.

    %%pymemrun [--top N] [--no-svg] [--gil] [--states] [--tasks] [-o PATH]

--top N      Show the N lines that took most (8).
--no-svg     Show the text alone, without the picture of memory over time.
--gil        Say also who held the GIL in the cell, and who waited for it.
--states     Say also what threads did: run, want a CPU, sleep, and for what.
--tasks      Say also which task of asyncio ran for how long.
-o, --output PATH
             Keep the run file as PATH, for pymemreport. No file is overwritten.

In a kernel that runs traced the cell has the kernel's variables, and its own stay.
`pymemrun kernel install`, in a terminal, adds such a kernel to Jupyter. In other
kernels the cell runs in a traced process of its own, without the variables.
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
