"""One measured run: wall time, CPU time and peak RSS of every process of it."""
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

COLLECTOR = "pymemrun-coll"


class RunFailed(Exception):
    """The command ended with another status than 0, or took too long."""


@dataclasses.dataclass(frozen=True)
class Process:
    pid: int
    name: str
    wall: float      # seconds from the run's start to this process's end
    cpu: float       # seconds, user and system, of the children it reaped too
    peak_rss: int    # bytes
    status: int      # as a shell has it


@dataclasses.dataclass(frozen=True)
class Run:
    wall: float            # seconds until the command itself ended
    cpu: float             # seconds of all processes
    peak_rss: int          # bytes, of the command itself
    collector_cpu: float   # seconds
    collector_rss: int     # bytes; 0 without a collector
    output: bytes
    errors: str


def parse_report(text):
    """(the command's own process, all processes) of what reaper wrote."""
    first, *lines = text.splitlines()
    processes = []
    for line in lines:
        pid, name, wall, cpu, peak, status = line.split()
        processes.append(Process(int(pid), name, float(wall), float(cpu),
                                 int(peak), int(status)))
    return next(p for p in processes if p.pid == int(first)), processes


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing on stderr"


class Reaper:
    """Runs commands. `path` is the built bench/reaper."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
        if not self.path.exists():
            raise SystemExit(f"{self.path}: not built")

    def run(self, command, environment, folder, limit_s=None):
        """Raises RunFailed."""
        with tempfile.NamedTemporaryFile("r") as report, \
                tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            started = subprocess.Popen(
                [self.path, report.name, *command], env=environment, cwd=folder,
                stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True)
            _wait(started, limit_s)
            out.seek(0)
            err.seek(0)
            errors = err.read().decode(errors="replace")
            if started.returncode != 0:
                raise RunFailed(last_line(errors))
            return _run_of(report.read(), out.read(), errors)


def _wait(process, limit_s):
    """Nothing of the run stays behind when waiting ends early."""
    try:
        process.wait(timeout=limit_s)
    except BaseException as early:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(early, subprocess.TimeoutExpired):
            raise RunFailed(f"took longer than {limit_s} s") from None
        raise


def _run_of(report, output, errors):
    command, processes = parse_report(report)
    if command.status != 0:
        raise RunFailed(f"status {command.status}: {last_line(errors)}")
    collectors = [p for p in processes if p.name.startswith(COLLECTOR)]
    return Run(command.wall, sum(p.cpu for p in processes), command.peak_rss,
               sum(p.cpu for p in collectors),
               max((p.peak_rss for p in collectors), default=0), output, errors)
