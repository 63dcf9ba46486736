"""The other tools: how each is installed and run.

Each has a virtual environment of its own, made by the system's python3 with the
system's packages visible, so that numpy is the same one for all.
"""
import json
import pathlib
import platform
import subprocess

from comparison.modes import Mode
from comparison.workloads import PYTHON

HERE = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_FOLDER = HERE.parent / "build" / "peers"
REASON = "not_installed.txt"  # in a peer's folder: why

# name: what is asked of PyPI, or of npm if it begins with @, or None for what comes
# with Python
PACKAGES = {
    "cPyMemTrace": "pymemtrace==0.6.3",
    "memray": "memray==1.20.0",
    "tracemalloc": None,
    "viztracer": "viztracer==1.1.1",
    "cProfile": None,
    "scalene": "scalene==2.4.0",
    "guppy3": "guppy3==3.1.7",
    "py-spy": "py-spy==0.4.3",
    "gil_load": "gil_load==0.4.2",
    "memlab": "@memlab/heap-analysis==2.0.5",
}
# What bench/compare runs. guppy3 is beside bench/objects, py-spy and gil_load beside
# bench/gil_peers, and memlab reads heap snapshots in tests/objects.
TRACERS = [name for name in PACKAGES
           if name not in ("guppy3", "py-spy", "gil_load", "memlab")]

# (peer, mode's name, arguments with {out} for the output, slow, everything).
# The first word is a script of the peer's environment, or a python to run.
_MODES = (
    ("cPyMemTrace", "cPyMemTrace, a page or more",
     ["python", HERE / "peers" / "cpymemtrace_run.py", "-1", "{out}"], True),
    ("cPyMemTrace", "cPyMemTrace, everything",
     ["python", HERE / "peers" / "cpymemtrace_run.py", "0", "{out}"], True),
    ("memray", "memray run", ["memray", "run", "-q", "-f", "-o", "{out}"], False),
    ("memray", "memray run --trace-python-allocators",
     ["memray", "run", "-q", "-f", "--trace-python-allocators", "-o", "{out}"],
     False),
    ("memray", "memray run --trace-python-allocators --aggregate",
     ["memray", "run", "-q", "-f", "--trace-python-allocators", "--aggregate",
      "-o", "{out}"], False),
    ("tracemalloc", "-X tracemalloc=1", ["python", "-X", "tracemalloc=1"], False),
    ("tracemalloc", "-X tracemalloc=25", ["python", "-X", "tracemalloc=25"], True),
    ("viztracer", "viztracer",
     ["viztracer", "--quiet", "-o", "{out}.json", "--"], False),
    ("cProfile", "cProfile", ["python", "-m", "cProfile", "-o", "{out}"], False),
    ("scalene", "scalene run --memory",
     ["scalene", "run", "--memory", "-o", "{out}.json"], False),
)


def python_of(folder, peer):
    """The interpreter that the peer is installed for."""
    if PACKAGES[peer] is None:
        return pathlib.Path(PYTHON)
    return pathlib.Path(folder) / peer / "bin" / "python"


def is_of_npm(peer):
    return (PACKAGES[peer] or "").startswith("@")


def version(folder, peer):
    """Its version, or None where it is not installed."""
    if PACKAGES[peer] is None:
        return f"of Python {platform.python_version()}"
    package = PACKAGES[peer].partition("==")[0]
    if is_of_npm(peer):
        about = pathlib.Path(folder) / peer / "node_modules" / package / "package.json"
        return json.loads(about.read_text())["version"] if about.exists() else None
    python = python_of(folder, peer)
    if not python.exists():
        return None
    found = subprocess.run(
        [python, "-c", "import importlib.metadata as m, sys;"
         f"print(m.version({package!r}))"], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def why_missing(folder, peer):
    """Empty where it is installed."""
    if version(folder, peer):
        return ""
    reason = pathlib.Path(folder) / peer / REASON
    if reason.exists():
        return f"not installed: {reason.read_text().strip()}"
    return "not installed: bench/setup_peers does it"


def modes(folder, chosen):
    """The modes of the chosen peers, those that cannot run included."""
    missing = {peer: why_missing(folder, peer) for peer in chosen}
    return [Mode(name, _command(folder, peer, arguments), slow=slow,
                 missing=missing[peer], peer=peer)
            for peer, name, arguments, slow in _MODES if peer in chosen]


def _command(folder, peer, arguments):
    first, *rest = arguments
    python = python_of(folder, peer)
    start = python if first == "python" else python.with_name(first)

    def command(script, output):
        return [start, *(str(a).replace("{out}", str(output)) for a in rest), script]

    return command
