"""What it takes to look at the objects of a program: by dumps of pymemrun, by what
Meliae does, by guppy3. bench/objects uses it."""
import dataclasses
import json
import pathlib
import statistics
import subprocess

from comparison import peers, workloads
from comparison.tables import MIB, fixed, header, mib, row

PROGRAM = workloads.FOLDER / "many_objects.py"
LINES = peers.HERE / "peers" / "meliae_lines.py"
# (most seconds, most bytes)
SUMMARY_LIMITS = (1, 300e6)
SUSPECTS_LIMITS = (10, 300e6)
GENERATED_LIMITS = (180, 3e9)
PAUSE_LIMIT_S, DUMP_LIMIT_S = 0.010, 2


@dataclasses.dataclass(frozen=True)
class Dumped:
    """A program that was looked at."""
    pauses: list   # seconds that it stood still
    whole: list    # seconds until all was there
    over: int      # bytes of its RSS at most, above that before
    rss: int       # before
    file: pathlib.Path
    size: int      # of the file

    def pause_text(self):
        return f"{statistics.median(self.pauses) * 1e3:,.1f} ms"


def look(reaper, command, tool, options, folder, dumps):
    """Raises RunFailed."""
    run = reaper.run(
        [*command, PROGRAM],
        workloads.base_environment() | {
            "WORK_OBJECTS": str(options.objects), "WORK_TOOL": tool,
            "WORK_DUMPS": str(dumps), "WORK_REST": str(options.rest),
            "WORK_FILE": str(folder / "meliae.json")}, folder)
    found = json.loads(run.output)
    return Dumped(found["pauses"], found["whole"], run.peak_rss - found["rss"],
                  found["rss"], folder / found["file"], found["bytes"])


def read(reaper, command, folder, runs):
    """`runs` runs of a reader."""
    return [reaper.run(command, workloads.base_environment(), folder)
            for _ in range(runs)]


def generate(tools, nodes, folder):
    path = folder / "generated.obj.pb"
    with open(path, "wb") as file:
        subprocess.run([tools.build / "readers" / "pymemrun-generate",
                        "--objects", str(nodes)], stdout=file, check=True)
    return path


def median(runs, what):
    return statistics.median(getattr(r, what) for r in runs)


def verdict(measured, limit):
    return "met" if measured <= limit else "**missed**"


def _reader_bars(what, runs, limits):
    seconds, limit = limits
    wall, cpu = median(runs, "wall"), median(runs, "cpu")
    memory = median(runs, "peak_rss")
    return [row(f"{what}, s", seconds, f"{wall:.2f}, CPU {cpu:.2f}",
                verdict(wall, seconds)),
            row(f"{what}, MB", fixed(limit / 1e6, 0), fixed(memory / 1e6, 0),
                verdict(memory, limit))]


def bar_lines(dumped, summaries, suspects, large, options):
    pause = statistics.median(dumped.pauses)
    whole = statistics.median(dumped.whole)
    return [*header("what", "at most", "measured", ""),
            row("the program stands still, ms", fixed(PAUSE_LIMIT_S * 1e3, 0),
                fixed(pause * 1e3, 1), verdict(pause, PAUSE_LIMIT_S)),
            row("until the dump is complete, s", DUMP_LIMIT_S, fixed(whole),
                verdict(whole, DUMP_LIMIT_S)),
            *_reader_bars("`summary`, all retained sizes", summaries,
                          SUMMARY_LIMITS),
            *_reader_bars("`suspects`", suspects, SUSPECTS_LIMITS),
            *_reader_bars(f"`summary` of {options.generated:,} nodes, generated",
                          [large], GENERATED_LIMITS), ""]


def dump_row(name, dumped):
    return row(name, dumped.pause_text(),
               f"{statistics.median(dumped.whole):.2f}",
               mib(max(dumped.over, 0)), mib(dumped.size) if dumped.size else "none")


def reader_row(name, runs):
    return row(name, fixed(median(runs, "wall")), fixed(median(runs, "cpu")),
               f"{median(runs, 'peak_rss') / MIB:,.0f} MiB")
