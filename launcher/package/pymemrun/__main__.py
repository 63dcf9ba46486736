"""`python -m pymemrun [options] script.py [args...]`: the same as `pymemrun
--python` with this Python. Its own options (-X, -W and so on) stay. Also `python -m
pymemrun kernel ...`."""
import os
import shutil
import subprocess
import sys


def launcher():
    """Beside this Python, or on PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "pymemrun")
    return shutil.which(beside) or shutil.which("pymemrun")


def main():
    found = launcher()
    if found is None:
        sys.exit("pymemrun: the launcher `pymemrun` is neither beside "
                 f"{sys.executable} nor on PATH")
    if len(sys.argv) < 2:
        os.execv(found, [found, "--help"])
    if sys.argv[1] == "kernel":  # a command, of this Python
        command, words = sys.argv[1:3], sys.argv[3:]
        os.execv(found, [found, *command, "--python", sys.executable, *words])
    flags = subprocess._args_from_interpreter_flags()
    os.execv(found, [found, "--python", sys.executable, *flags, *sys.argv[1:]])


if __name__ == "__main__":
    main()
