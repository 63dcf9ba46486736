"""Runs a cell in a kernel that is traced, and shows what it did to memory."""
import asyncio
import json
import os
import shutil
import time

import pymemrun
from IPython.core.error import UsageError

from . import answer, tools
from .cell_names import CellNames, file_of, running_number

MOST_WAIT_S = 60
# A collector waits for a second, and then writes what it has every 150 ms.
MOST_PAGE_WAIT_S = 1.5
STEP_S = 0.05


def run(shell, line, cell, options):
    if options.output and os.path.exists(options.output):
        raise UsageError(f"%%pymemrun: {options.output} exists")
    text = numbered_as_shown(line, cell)
    check_sync(shell, text)
    number = running_number(shell)
    file = pymemrun.run_file()
    count = shell.execution_count
    shell.execution_count = number  # of tracebacks and results
    try:
        with Span(f"In [{number}]") as span:
            result = shell.run_cell(text, store_history=False)
    finally:
        shell.execution_count = count
    if not result.success:
        fail_with(shell, result)
    times = wait_for(file, span)
    if options.output:
        shutil.copyfile(file, options.output)
        os.chmod(options.output, 0o600)
    names = CellNames(shell, {file_of(shell, text, number): span.name})
    shown = answer.OfPart(file, span, times, names, options.top)
    answer.show(shell, shown.text() + shown.of_kinds(options.kinds), shown.svg() if options.svg else None)


def numbered_as_shown(line, cell):
    """The cell with a line in the place of the magic's, so that its lines have the
    numbers that the notebook shows."""
    body = cell.lstrip("\n")
    if body.startswith("%%"):
        return cell  # another magic must be its first line
    indent = body[:len(body) - len(body.lstrip(" \t"))]
    return f"{indent}# %%pymemrun {line}".rstrip() + "\n" + cell


def check_sync(shell, text):
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    transformed = shell.transform_cell(text)
    if shell.should_run_async(text, transformed_cell=transformed):
        raise UsageError("%%pymemrun: `await` outside of a function cannot be traced "
                         "as a cell; move it to a cell without the magic")


def fail_with(shell, inner):
    """The cell has shown its traceback. What began it is to know, too: no cell
    follows where all are run."""
    def pass_on(result):
        shell.events.unregister("post_run_cell", pass_on)
        result.error_in_exec = inner.error_in_exec or inner.error_before_exec
    shell.events.register("post_run_cell", pass_on)


class Span:
    """The time of a cell. Its marks have labels that no other one has."""
    _count = {}

    def __init__(self, name):
        count = self._count[name] = self._count.get(name, 0) + 1
        self.name = name
        unique = name if count == 1 else f"{name} ({count})"
        self.begin, self.end, self.after = (
            f"{unique} {what}" for what in ("begins", "ends", "is read"))
        self.duration_s = self.peak_before = self.peak_after = 0

    def __enter__(self):
        self._trace = pymemrun.trace()  # in a run that is paused the cell is not
        self.peak_before = pymemrun.rss_peak()
        self._start = time.perf_counter()
        pymemrun.mark(self.begin)
        self._trace.__enter__()
        return self

    def __exit__(self, *exception):
        self._trace.__exit__(*exception)
        pymemrun.mark(self.end)
        self.duration_s = time.perf_counter() - self._start
        self.peak_after = pymemrun.rss_peak()


def wait_for(file, span):
    """Until all of the cell's time is in the file. Returns what the marks say.

    A mark may be written before events of its time. What comes after it in the file
    was written by a later turn, in which all of them went."""
    marks = {}
    for label in span.end, span.after:
        if label == span.after:
            pymemrun.mark(label)
        until = time.monotonic() + MOST_WAIT_S
        while label not in marks:
            is_late = time.monotonic() > until
            time.sleep(STEP_S)
            marks = read_marks(file)
            if is_late and label not in marks:
                raise tools.ToolError(f"{file}: expected the mark '{label}' within "
                                      f"{MOST_WAIT_S} s, found none")
    wait_for_pages(file, marks[span.end]["clock_s"])
    return marks


def wait_for_pages(file, end_s):
    """Page events are written in the order of time, and may wait for a stack or a
    thread's name before. So once there is one of after the end, all are there."""
    summary, = json.loads(tools.ask("pymemreport", "summary", "--json", file, ended=False))
    until = time.monotonic() + MOST_PAGE_WAIT_S
    while summary["page_source"] is not None and time.monotonic() < until:
        text = tools.ask("pymemcat", "--records", "pages,marks", "--jsonl",
                         "--from", f"{end_s:.6f}", file, ended=False)
        if any(json.loads(line)["what"] != "MARK" for line in text.splitlines()):
            return
        time.sleep(STEP_S)


def read_marks(file):
    text = tools.ask("pymemcat", "--records", "marks", "--jsonl", file, ended=False)
    marks = {}
    for line in text.splitlines():
        mark = json.loads(line)
        marks.setdefault(mark["function"], mark)
    return marks
