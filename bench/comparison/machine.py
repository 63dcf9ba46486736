"""What a table must say besides its figures: when, where, with which versions."""
import datetime
import os
import pathlib
import platform
import shlex
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def _processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(":")[1].strip() for line in lines
                     if line.startswith("model name")), "unknown processor")


def _output(*command):
    """What the command prints, or "" where it fails or is not installed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def revision():
    return _output("git", "-C", SOURCE, "describe", "--always", "--dirty",
                   "--exclude=*")


def title(what):
    return f"## {what}, {datetime.date.today()}"


def description(tools):
    """Lines: the machine, the versions, the command of this very run."""
    paranoid = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    perf = paranoid.read_text().strip() if paranoid.exists() else "none"
    python = _output(tools.python, "-c",
                     "import platform; print(platform.python_version())")
    return [
        f"{os.cpu_count()} x {_processor()}, {platform.system()} "
        f"{platform.release()}, {tools.python} {python}, "
        f"{tools.version} at "
        f"{revision() or 'an unknown revision'}, as {who}, "
        f"kernel.perf_event_paranoid {perf}, load at the start "
        f"{os.getloadavg()[0]:.1f}.", "",
        f"`bench/{shlex.join([pathlib.Path(sys.argv[0]).name, *sys.argv[1:]])}`"]
