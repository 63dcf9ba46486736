"""Calls the code of cells as the notebook does: `In [3]:7`."""
import html
import linecache
import os
import re
import sys

# IPython without a kernel has the number in the name of a cell's file.
PLAIN = re.compile(r"<ipython-input-(\d+)-\w+>")


def file_of(shell, text, number):
    """The name of the file that a cell with this text is compiled as."""
    return shell.compile.get_code_name(text, text, number)


def numbers(shell):
    """{file: number} of the cells so far."""
    found = getattr(shell.compile, "_filename_map", None)
    if found is None:  # IPython 7
        cells = enumerate(shell.history_manager.input_hist_raw)
        found = {file_of(shell, cell, number): number for number, cell in cells if cell}
    found = dict(found)
    for file in list(linecache.cache):
        plain = PLAIN.fullmatch(file)
        if plain:
            found.setdefault(file, int(plain[1]))
    return found


def running_number(shell):
    """The number of the cell that runs. Some versions of IPython count on before it
    ends, others afterwards: the code that runs tells."""
    known = numbers(shell)
    frame = sys._getframe()
    while frame is not None:
        number = known.get(frame.f_code.co_filename)
        if number is not None:
            return number
        frame = frame.f_back
    return shell.execution_count


class CellNames:
    """Names in one shell. `more`: further files that are cells, with their names."""

    def __init__(self, shell, more=()):
        self._names = {file: f"In [{number}]" for file, number in numbers(shell).items()}
        self._names.update(more)
        self._shell = shell

    def line(self, file, line):
        """The place of a line, as people read it."""
        name = self._names.get(file) or self._short(file)
        return f"{name}:{line}" if line else name

    def own(self):
        """Options of pymemreport. Without a kernel cells have no path. So they count
        as your code only if --own says that no other code does."""
        plain = any(PLAIN.fullmatch(file) for file in self._names)
        return ["--own=<ipython-input-*"] if plain else []

    @staticmethod
    def _short(file):
        """From the current folder, or the last two parts."""
        inside = os.path.relpath(file) if os.path.isabs(file) else file
        if not inside.startswith(".."):
            return inside
        parts = file.rsplit("/", 2)
        return "\u2026/" + "/".join(parts[-2:]) if len(parts) > 2 else file

    def source(self, file, line):
        """The text of the line, empty where it is not known. An import may have taken
        cells out of linecache, whose files are not there."""
        text = linecache.getline(file, line) if line else ""
        cell = re.fullmatch(r"In \[(\d+)\]", self._names.get(file, ""))
        if text or not line or not cell:
            return text.strip()
        cells = getattr(getattr(self._shell, "history_manager", None), "input_hist_raw", [])
        lines = cells[int(cell[1])].splitlines() if int(cell[1]) < len(cells) else []
        return lines[line - 1].strip() if line <= len(lines) else ""

    def rename_text(self, text):
        """A report with cells by their names, whatever it shows of their paths. What
        stands behind in a table stays where it is."""
        for file, name in self._names.items():
            base = re.escape(file.rsplit("/", 1)[-1])

            def short(found, name=name):
                place, gap = name + (found[1] or ""), found[2]
                missing = len(found[0]) - len(place) if gap else 0
                return place + gap.ljust(max(missing, 1)) if gap else place
            text = re.sub(rf"[^\s(]*(?<![\w-]){base}(:\d+)?(?!\w)( {{2,}})?", short, text)
        return text

    def rename(self, svg):
        """The picture with cells by their names."""
        for file, name in self._names.items():
            # Other escapes than those of a picture's text do not matter in names.
            svg = svg.replace(html.escape(file, quote=False) + ":", name + ":")
        return svg
