"""Runs the modes of one workload, in turn or at once, several times."""
import dataclasses
import functools
import pathlib
import re
import shutil
import sys
import tempfile

from comparison import modes as mode_list
from comparison import run_file
from comparison.processes import Reaper, RunFailed
from comparison.together import at_once
from comparison.workloads import FOLDER, DataSets


# Between the moment the callback goes in and the script, CPython makes the
# script's loader: a CALL and a RETURN that are not the program's.
LOADER_EVENTS = 2


@dataclasses.dataclass
class Series:
    """The runs of one mode at one scale."""
    mode: mode_list.Mode
    scale: str
    runs: dict = dataclasses.field(default_factory=dict)   # round: Run
    facts: run_file.Facts = None   # of the last run file
    size: int = 0                  # bytes written by the last run
    failure: str = ""              # why there are no figures


@dataclasses.dataclass
class Result:
    """What was measured of one workload."""
    workload: object
    series: list
    counted: dict      # scale: events that the counting callback has seen

    def find(self, name, scale):
        return next((s for s in self.series
                     if s.mode.name == name and s.scale == scale), None)

    def events(self, scale):
        """Events of one run. A callback sees only one thread, a run file all."""
        seen = [s.facts.events for s in self.series
                if s.facts and s.scale == scale]
        return max([self.counted[scale], *seen])

    def scales(self):
        return list(self.counted)


def schedule(modes, scale):
    """[(mode, scale)] of one round: what is slow runs at `short`, and beside it
    there its references and the mode that logs everything."""
    entries = [(m, scale) for m in modes if not m.slow or scale != "full"]
    if scale == "full" and any(m.slow and not m.missing for m in modes):
        names = (mode_list.UNTRACED, mode_list.FLOOR, mode_list.ALL_LOGGED)
        entries += [(m, "short") for m in modes if m.slow or m.name in names]
    elif scale == "full":
        entries += [(m, "short") for m in modes if m.slow]
    return entries


class Bench:
    """Runs things in a folder that goes away at close()."""

    def __init__(self, tools, limit_s):
        self.tools = tools
        self.limit_s = limit_s
        self.reaper = Reaper(tools.reaper)
        self.data = DataSets(tools.build / "bench" / "data")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pymemrun-bench-"))

    def close(self):
        shutil.rmtree(self.folder)

    def environment(self, workload, scale):
        return self.data.environment(workload, scale, self.folder / "html")

    def count_events(self, workload, scale):
        environment = self.environment(workload, scale)
        environment["BENCH_CALLBACK"] = "count"
        run = self.reaper.run(
            [self.tools.empty_callback, FOLDER / workload.script], environment,
            self.folder)
        counted = int(re.search(r"events (\d+)", run.errors).group(1))
        return counted - LOADER_EVENTS

    def run_once(self, series, workload, number):
        """One more run of the series. Raises RunFailed."""
        mode = series.mode
        environment = self.environment(workload, series.scale)
        environment.update(mode.environment)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            output = pathlib.Path(folder) / "run.pb"
            run = self.reaper.run(
                mode.command(FOLDER / workload.script, output), environment,
                folder, self.limit_s)
            series.runs[number] = run
            series.size = sum(p.stat().st_size for p in
                              pathlib.Path(folder).rglob("*") if p.is_file())
            if mode.ours:
                series.facts = run_file.read(self.tools, output)
        return run

    def measure(self, workload, modes, options):
        """Result of `options.runs` rounds."""
        series = [Series(mode, scale, failure=mode.missing)
                  for mode, scale in schedule(modes, options.scale)]
        expected = {}
        for number in range(options.runs):
            due = [functools.partial(self._run_and_check, one, workload, number,
                                     expected)
                   for one in series if not one.failure and
                   (number < options.slow_runs or not one.mode.slow)]
            if options.together is not None:
                at_once(options.together, due)
            else:
                for run in due:
                    run()
        scales = dict.fromkeys(s.scale for s in series)
        return Result(workload, series,
                      {s: self.count_events(workload, s) for s in scales})

    def _run_and_check(self, series, workload, number, expected):
        """A peer may fail; a run of pymemrun that fails or that changes what the
        program prints ends the comparison."""
        mode = series.mode
        what = f"{workload.name:8} {series.scale:5} {mode.name:24}"
        try:
            run = self.run_once(series, workload, number)
        except RunFailed as failed:
            if not mode.peer:
                sys.exit(f"{what}: {failed}")
            series.failure = f"failed: {failed}"
            print(f"{what} {series.failure}", file=sys.stderr)
            return
        print(f"{what} wall {run.wall:7.2f} cpu {run.cpu:7.2f}", file=sys.stderr)
        if workload.single_threaded and not mode.peer:
            if run.output != expected.setdefault(series.scale, run.output):
                sys.exit(f"{what}: changed the output")
