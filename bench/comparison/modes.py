"""The ways to run a workload: untraced, on the floor, and under pymemrun. Those
under other tools are in peers."""
import dataclasses
import pathlib
import re
import subprocess

UNTRACED = "untraced"
FLOOR = "empty callback"
MONITORING = "empty, monitoring"
ALL_LOGGED = "--min-drss 0"
PAGES = "--trace pages"
FORWARDED = "forwarding hooks"
SAMPLED = "--trace none --heap sampled"
ALL_HEAP = "--trace none --heap all"
HEAP_OFF = "--heap off"


class Tools:
    """Where the built programs are."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.pymemrun = self.build / "launcher" / "pymemrun"
        self.pymemcat = self.build / "readers" / "pymemcat"
        self.pymemreport = self.build / "readers" / "pymemreport"
        self.empty_callback = self.build / "bench" / "empty_callback"
        self.reaper = self.build / "bench" / "reaper"
        for path in (self.pymemrun, self.pymemcat, self.pymemreport,
                     self.empty_callback, self.reaper):
            if not path.exists():
                raise SystemExit(f"{path}: not built")
        self.version = subprocess.run(
            [self.pymemrun, "--version"], check=True, capture_output=True,
            text=True).stdout.splitlines()[0]
        python = re.search(r"\(CPython (\d+)\.(\d+)\S*, (.*), \w+\)", self.version)
        # The interpreter that is embedded, as it runs by itself.
        self.python = python.group(3)
        self.has_monitoring = (int(python.group(1)), int(python.group(2))) >= (3, 12)

    def disassembly(self):
        """The instructions of the empty callback."""
        text = subprocess.run(
            ["objdump", "--disassemble=EmptyCallback", "--no-show-raw-insn",
             self.empty_callback], check=True, capture_output=True,
            text=True).stdout
        function = text[text.index("<EmptyCallback>:"):].partition("\n\n")[0]
        return function.splitlines()


@dataclasses.dataclass(frozen=True)
class Mode:
    """One column of the comparison. `command(script, output)` is its command
    line, where `output` is a path that it may write to."""
    name: str
    command: object
    slow: bool = False            # runs at `short` where others run at `full`
    ours: bool = False            # `output` is a run file
    everything: bool = False      # every event is a row
    environment: dict = dataclasses.field(default_factory=dict)
    missing: str = ""             # why it cannot be run
    peer: str = ""                # the tool, where it is another's


CALLS = ["--trace", "calls", "--heap", "off"]  # and nothing else
HEAP = ["--trace", "none", "--no-native", "--heap"]
# name: (options of pymemrun, slow)
OURS = {
    "--paused": (["--paused"], False),
    "default": ([], False),
    "--light": (["--light"], False),
    **{" ".join(["--delivery preload", *options]):
       (["--delivery", "preload", *options], False)
       for options in ([], ["--paused"], ["--light"])},
    "--min-drss 4096": ([*CALLS, "--min-drss", "4096", "--context", "1"], False),
    "--rss-source hints": ([*CALLS, "--min-drss", "4096", "--context", "1",
                            "--rss-source", "hints"], False),
    ALL_LOGGED: ([*CALLS, "--min-drss", "0"], False),
    "--min-drss 0 --stacks": ([*CALLS, "--min-drss", "0", "--stacks"], False),
    PAGES: (["--trace", "pages", "--heap", "off"], False),
    **{f"{PAGES} --page-period {period}":
       (["--trace", "pages", "--page-period", str(period), "--heap", "off"], False)
       for period in (1, 10, 100)},
    HEAP_OFF: (CALLS, False),
    SAMPLED: ([*HEAP, "sampled"], False),
    ALL_HEAP: ([*HEAP, "all"], False),
    "--trace none --heap all --native": (
        ["--trace", "none", "--heap", "all", "--native"], False),
    "--trace none --heap-rates auto": (
        [*HEAP, "sampled", "--heap-rates", "auto"], False),
    "--rss-source rusage": ([*CALLS, "--rss-source", "rusage"], True),
    "--rss-source statm": ([*CALLS, "--rss-source", "statm"], True),
}


def references(tools):
    """What everything is measured against, and the floor's launcher alone."""
    def floor(script, _):
        return [tools.empty_callback, script]

    found = [
        Mode(UNTRACED, lambda script, _: [tools.python, script]),
        Mode(FLOOR, floor),
        Mode("no callback", floor, environment={"BENCH_CALLBACK": "none"}),
        Mode(FORWARDED, floor, environment={"BENCH_CALLBACK": "allocators"}),
    ]
    if tools.has_monitoring:
        found.append(Mode(MONITORING, floor,
                          environment={"BENCH_CALLBACK": "monitoring"}))
    return found


def ours(tools):
    def mode(name, options, slow):
        return Mode(
            name, lambda script, output: [tools.pymemrun, "-o", output, "--force",
                                          *options, "--", script],
            slow=slow, ours=True, everything="--min-drss 0" in name)

    return [mode(name, *rest) for name, rest in OURS.items()]
