"""Controls the memory trace of this run.

Under the pymemrun launcher `import pymemrun` gives the tracer's own module. This
package is what it gives elsewhere: the same names, which trace nothing. So a
program may keep its calls.
"""
import contextlib as _contextlib
import operator as _operator
import os
import sys as _sys

__all__ = ["counter", "dump_objects", "gather_stats", "is_tracing", "mark", "rss",
           "rss_peak", "run_file", "start", "stop", "trace"]

_has_said = False


def is_tracing():
    """Returns True while tracing is on."""
    return False


def start(*, heap=None, output=None):
    """Begins or resumes tracing, on all threads. Without the tracer one line on
    stderr says once that nothing is recorded."""
    global _has_said
    if _has_said or _sys.stderr is None or _is_traced():
        return
    _has_said = True
    print("pymemrun: nothing is recorded: this Python does not run under pymemrun; "
          "start it with `pymemrun script.py`", file=_sys.stderr)


def _is_traced():
    """A free-threaded Python under the tracer has this package, too."""
    try:
        with open("/proc/self/maps", errors="replace") as file:
            return "/pymemrun-tracer-" in file.read()
    except OSError:
        return False


def stop():
    """Suspends tracing on all threads."""


def gather_stats():
    """Counts allocations by size from now on."""


def dump_objects(path=None, *, wait=False):
    """Writes every object and its references to a file."""


def counter(name, value, /):
    """Records a value of the counter `name` with the time."""
    if not isinstance(name, str):
        raise TypeError("counter() takes a name (a str) and a value")
    if not isinstance(value, float):
        float(_operator.index(value))


def mark(label):
    """Records a label with the time and the RSS."""
    if not isinstance(label, str):
        raise TypeError(f"label must be a str, not {type(label).__name__}")


def rss():
    """The current resident set size of the process, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def rss_peak():
    """The highest resident set size of the process so far, in bytes."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return rss()


def run_file():
    """The path of the run file, or None if no file is written."""


def load_ipython_extension(ipython):
    """For `%load_ext pymemrun`: the magic `%%pymemrun`."""
    from . import jupyter
    jupyter.load_ipython_extension(ipython)


class trace(_contextlib.ContextDecorator):
    """Context manager: traces what runs inside. As a decorator, each call of the
    function."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None

    def __call__(self, function):
        flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
        if not callable(function) or flags & 0x2a0:
            raise TypeError("trace() decorates functions, not coroutines or generators: "
                            "use `with pymemrun.trace():` inside them")
        return super().__call__(function)
