"""Runs a cell in a traced process of its own, where the kernel is not traced."""
import os
import subprocess
import sys
import tempfile
import threading

from IPython.core.error import UsageError

from . import answer, tools
from .cell_names import CellNames, running_number

NOTE = ("pymemrun: this kernel is not traced: the cell runs in a separate process, "
        "without the kernel's variables. To add a traced kernel: pymemrun kernel install")
# As `python -c` has it, the current folder is the first of sys.path.
PROGRAM = "with open({0!r}, encoding='utf-8') as f: c = compile(f.read(), {0!r}, 'exec')\n" \
          "exec(c)"


def run(shell, line, cell, options):
    if options.output and os.path.exists(options.output):
        raise UsageError(f"%%pymemrun: {options.output} exists")
    print(NOTE, file=sys.stderr)
    name = f"In [{running_number(shell)}]"
    with tempfile.TemporaryDirectory(prefix="pymemrun-cell-") as folder:
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"# %%pymemrun {line}".rstrip() + "\n" + cell)
        run_file = options.output or os.path.join(folder, "run.pb")
        kinds = options.kinds or []
        status = run_traced(path, run_file, kinds)
        if not os.path.exists(run_file):
            raise tools.ToolError("the cell ran untraced")
        names = CellNames(shell, {path: name})
        text = tools.ask("pymemreport", "report", run_file)
        more = "".join("\n\n" + names.rename_text(tools.ask("pymemreport", kind, run_file).rstrip())
                       for kind in kinds)
        svg = picture(run_file, options.top) if options.svg else None
        if svg is not None:
            svg = names.rename(svg)
    answer.show(shell, without_commands(text, options.output) + more, svg)
    if status != 0:
        raise UsageError(f"%%pymemrun: the cell's process ended with {ending(status)}")


def run_traced(path, run_file, kinds):
    command = [tools.find("pymemrun"), "--python", sys.executable, "--quiet",
               "--trace", ",".join(["pages", *kinds]), "-o", run_file, "-c", PROGRAM.format(path)]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE,
                             env={**os.environ, "PYTHONUNBUFFERED": "1"})
    # Threads write to the streams of the cell, as sys has them now.
    copies = [threading.Thread(target=copy, args=pair, daemon=True)
              for pair in ((child.stdout, sys.stdout), (child.stderr, sys.stderr))]
    for thread in copies:
        thread.start()
    try:
        status = child.wait()
    except KeyboardInterrupt:
        child.terminate()
        status = child.wait()
    for thread in copies:
        thread.join()
    return status


def copy(source, target):
    for line in iter(source.readline, b""):
        target.write(line.decode("utf-8", "replace"))
        target.flush()


def picture(run_file, top):
    return answer.picture(run_file, top, [])


def without_commands(text, kept):
    """The file that further commands would read is gone unless it is kept."""
    lines = text.rstrip().splitlines()
    while lines and not kept and (lines[-1].startswith("pymemreport ") or not lines[-1]):
        lines.pop()
    return "\n".join(lines)


def ending(status):
    return f"status {status}" if status > 0 else f"signal {-status}"
