"""`pymemrun kernel`: adds a kernel that runs traced to Jupyter, or takes it away.

The launcher runs it, in the Python that is to be the kernel's, with its own path
before the words of the command line.
"""
import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# What the launcher has read already.
PYTHON_HELP = ("run the kernel with this Python: an interpreter, or the folder of a "
               "virtual environment (the one that pymemrun would run)")
# A kernel lives long: its calls would cost more than they tell.
TRACE = ["--trace", "pages"]
SAYS_TRACE = ("--trace", "--light", "--full")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        fail(2, message)


def fail(status, message):
    print(f"pymemrun kernel: {message}", file=sys.stderr)
    sys.exit(status)


def read_words(words):
    parser = Parser(prog="pymemrun kernel", allow_abbrev=False,
                    description="Manages Jupyter kernels that run traced.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    install = commands.add_parser(
        "install", allow_abbrev=False, help="add a traced kernel",
        epilog="Arguments after -- are options of pymemrun: pymemrun kernel install -- --full")
    remove = commands.add_parser("remove", aliases=["uninstall"], allow_abbrev=False,
                                 help="remove the kernel")
    for command in install, remove:
        where = command.add_mutually_exclusive_group()
        where.add_argument("--user", action="store_true",
                           help="for this user (the default)")
        where.add_argument("--prefix", metavar="P", help="in P/share/jupyter/kernels")
        where.add_argument("--sys-prefix", action="store_true",
                           help="in the Python's own environment")
        command.add_argument("--name", default="pymemrun",
                             help="the kernel's name for Jupyter (pymemrun)")
        command.add_argument("--python", metavar="PATH", help=PYTHON_HELP)
    install.add_argument("--display-name", metavar="TEXT",
                         help="the name shown in Jupyter (Python 3.11, traced)")
    own, _, options = split(words)
    read = parser.parse_args(own)
    if options and read.command != "install":
        parser.error(f"{read.command} takes no pymemrun options, found '{options[0]}'")
    read.options = options
    return read


def split(words):
    """Ours, and those behind `--`."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], "--", words[at + 1:]


def user_folder():
    """As Jupyter finds its user's data."""
    own = os.environ.get("JUPYTER_DATA_DIR")
    if own:
        return own
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(data, "jupyter")


def folder_of(read):
    if not re.fullmatch(r"[A-Za-z0-9._-]+", read.name) or read.name.strip(".") == "":
        fail(2, "--name: expected letters, digits, '.', '_' and '-', "
                f"found '{read.name}'")
    if read.prefix is not None:
        data = os.path.join(os.path.abspath(read.prefix), "share", "jupyter")
    elif read.sys_prefix:
        data = os.path.join(sys.prefix, "share", "jupyter")
    else:
        data = user_folder()
    return os.path.join(data, "kernels", read.name)


def has_option(options, *names):
    return any(word.split("=")[0] in names for word in options)


def argv_of(launcher, options):
    ours = [] if has_option(options, *SAYS_TRACE) else TRACE
    if not has_option(options, "-o", "--output"):
        output = os.path.join(tempfile.gettempdir(), "pymemrun-kernel-{time}-{pid}.pb")
        ours = [*ours, "-o", output]
    return [launcher, "--python", sys.executable, "--quiet", *ours, *options]


def check(launcher, argv):
    """The launcher says what it does not take."""
    done = subprocess.run([*argv, "--version"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0 or not done.stdout.startswith("pymemrun "):
        lines = done.stderr.strip().splitlines()
        fail(2, lines[-1].replace("pymemrun: ", "", 1) if lines
             else f"{launcher}: expected its version, found exit status {done.returncode}")


def install(launcher, read):
    if importlib.util.find_spec("ipykernel") is None:
        fail(1, f"{sys.executable} has no ipykernel; install it there, or name another "
                "Python with --python")
    folder = folder_of(read)
    if os.path.lexists(folder):
        refuse_others(folder)
    argv = argv_of(launcher, read.options)
    check(launcher, argv)
    version = "%d.%d" % sys.version_info[:2]
    spec = {
        "argv": [*argv, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": read.display_name or f"Python {version}, traced",
        "language": "python",
    }
    os.makedirs(folder, exist_ok=True)
    # Under a name that is new: a link that somebody left there is not followed.
    handle, new = tempfile.mkstemp(prefix="kernel.json.", dir=folder)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(spec, file, indent=1)
            file.write("\n")
        os.chmod(new, 0o644)
        os.replace(new, os.path.join(folder, "kernel.json"))
    except OSError:
        os.unlink(new)
        raise
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1]
                    for c in spec["display_name"])
    print(f"Installed {folder}: {shown}, {sys.executable}")


def refuse_others(folder):
    if os.path.islink(folder):
        fail(1, f"{folder}: expected a folder, found a symbolic link")
    try:
        with open(os.path.join(folder, "kernel.json"), encoding="utf-8") as file:
            argv = json.load(file)["argv"]
        if os.path.basename(argv[0]) == "pymemrun":
            return
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        pass
    fail(1, f"{folder}: expected a kernel of pymemrun, found another kernel")


def remove(read):
    folder = folder_of(read)
    if not os.path.isdir(folder):
        fail(1, f"{folder}: there is no such kernel")
    refuse_others(folder)
    shutil.rmtree(folder)
    print(f"Removed {folder}")


def main():
    del sys.path[0]  # this folder
    launcher, *words = sys.argv[1:]
    read = read_words(words)
    try:
        install(launcher, read) if read.command == "install" else remove(read)
    except OSError as error:
        fail(1, f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
