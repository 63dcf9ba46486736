"""Controls the memory trace of this run.

Under the pymemrun launcher `import pymemrun` gives the tracer's own module. This
package is what it gives elsewhere: the same names, which trace nothing. So a
program may keep its calls.
"""
import operator as _operator
import os

__all__ = ["counter", "dump_objects", "gather_stats", "is_tracing", "mark", "rss",
           "run_file", "start", "stop", "trace"]


def is_tracing():
    """Whether the run is traced now."""
    return False


def start(*, heap=None, output=None):
    """Begins or resumes tracing, on all threads."""


def stop():
    """Suspends tracing, on all threads."""


def gather_stats():
    """Counts the sizes of allocations from here on."""


def dump_objects(path=None, *, wait=False):
    """Writes every object and what it refers to into a file."""


def counter(name, value, /):
    """Puts a value of the counter `name` into the run, with the time."""
    if not isinstance(name, str):
        raise TypeError("counter() takes a name, which is a str, and a value")
    if not isinstance(value, float):
        float(_operator.index(value))


def mark(label):
    """Puts a label with the time and the RSS into the run."""
    if not isinstance(label, str):
        raise TypeError(f"label must be a str, not {type(label).__name__}")


def rss():
    """The resident set size of the process in bytes, now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def run_file():
    """The path of the run file; None: no file is written."""


def load_ipython_extension(ipython):
    """For `%load_ext pymemrun`: the magic `%%pymemrun`."""
    from . import jupyter
    jupyter.load_ipython_extension(ipython)


class trace:
    """Context manager: traces what runs inside."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None
