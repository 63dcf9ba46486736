"""Runs the tools as an ordinary user, also where only root can reach the folder
that they were built in, as in root's own home."""
import atexit
import functools
import glob
import os
import shutil
import tempfile
import unittest

PYTHON = os.environ.get("PYMEMRUN_TEST_PYTHON", "/usr/bin/python3")
PYMEMRUN = os.environ.get("PYMEMRUN_BIN", "pymemrun")
COLLECTOR = os.environ.get("PYMEMRUN_COLLECTOR_BIN")
NOBODY = 65534

is_root = unittest.skipUnless(os.geteuid() == 0, "needs root")


def _anybody_may_enter(path):
    while os.stat(path).st_mode & 0o001:
        if path == "/":
            return True
        path = os.path.dirname(path)
    return False


def why_not():
    """Why root cannot run programs as an ordinary user here, or None."""
    for path in PYTHON, os.path.realpath(tempfile.gettempdir()):
        if not _anybody_may_enter(path):
            return f"nobody but root may enter {path}"
    return None


def can_be_nobody(test):
    """For a test that runs interpreter and launcher as an ordinary user."""
    return is_root(unittest.skipIf(why_not(), why_not())(test))


def become():
    """In a child before exec: root no longer."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


@functools.cache
def _launcher():
    """A copy of the launcher, with its collector and its tracers beside it, which
    anybody may run."""
    folder = tempfile.mkdtemp(prefix="pymemrun_tools_")
    atexit.register(shutil.rmtree, folder)
    objects = glob.glob(os.path.join(os.path.dirname(PYMEMRUN), "pymemrun-*.so"))
    for tool in (PYMEMRUN, COLLECTOR, *objects):
        shutil.copy(tool, folder)
    for path in (folder, *(entry.path for entry in os.scandir(folder))):
        os.chmod(path, 0o755)
    return os.path.join(folder, os.path.basename(PYMEMRUN))


def as_ordinary(command, options):
    """The command and the options of subprocess.run() by which an ordinary user
    runs it; as they are where this process is not root's."""
    if os.getuid() != 0:
        return command, options
    if why_not():
        raise unittest.SkipTest(why_not())
    variables = dict(options.get("env") or os.environ)
    if command[0] == PYMEMRUN and COLLECTOR:
        command = [_launcher(), *command[1:]]
    preexec = options.get("preexec_fn")

    def first():
        become()
        if preexec:
            preexec()
    return command, {**options, "env": variables, "preexec_fn": first}
