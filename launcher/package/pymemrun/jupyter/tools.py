"""Finds and runs pymemrun's tools: beside this package, beside the interpreter, or
on PATH."""
import os
import shutil
import subprocess
import sys

# From the package's folder: in a build, and where it is installed.
FOLDERS = ("../..", "../../../readers", "../../../../bin")


class ToolError(Exception):
    """One line that says what went wrong."""


def find(name):
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # A build has a link to the package.
    places = [os.path.join(start, folder)
              for start in dict.fromkeys((package, os.path.realpath(package)))
              for folder in FOLDERS]
    places.append(os.path.dirname(sys.executable))
    for place in places:
        path = os.path.normpath(os.path.join(place, name))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    path = shutil.which(name)
    if path is None:
        raise ToolError(f"{name} is neither beside {package} nor on PATH")
    return path


def ask(name, *words, ended=True):
    """What the tool prints. Of a run that goes on, `ended` is False: that its file
    has no end yet is no error."""
    done = subprocess.run([find(name), *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"})
    if done.returncode != 0 and (ended or done.returncode != 1 or not done.stdout):
        says = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ToolError(says[-1] if says else f"{name}: exit status {done.returncode}")
    return done.stdout.decode("utf-8", "surrogateescape")
