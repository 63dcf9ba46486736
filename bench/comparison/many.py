"""Runs of many events, written and read back."""
import dataclasses
import shlex

from comparison import run_file
from comparison.tables import MIB, fixed, header, mib, row
from comparison.workloads import FOLDER, WORKLOADS

# Events of one pass of `calls` over its data, less a little.
EVENTS_PER_PASS = {"full": 24_500_000, "tiny": 146_000}
LINE_END = len("\r\n")
SAME_MIB = 2  # what counts as the same memory
READERS = {
    "pymemcat --text": ("pymemcat", "--text"),
    "pymemcat --csv": ("pymemcat", "--csv"),
    "pymemreport summary": ("pymemreport", "summary"),
    "pymemreport top": ("pymemreport", "top"),
}


@dataclasses.dataclass
class Measured:
    run: object             # processes.Run of the writing
    facts: run_file.Facts
    counted: str            # what reading every number has found
    reads: dict             # reader: processes.Run


def text_size(count):
    """Bytes of the numbers 0, 1, ... count - 1, one a line, in CSV."""
    size, digits, first = 0, 1, 0
    while first < count:
        last = min(10 ** digits, count)
        size += (last - first) * (digits + LINE_END)
        first, digits = last, digits + 1
    return size


def numbers_verdict(text, events):
    """`text`: lines and bytes as wc -lc prints them. Each number occurs once
    when there are as many lines, and as many bytes, as they must have."""
    lines, size = (int(word) for word in text.split())
    if (lines, size) == (events, text_size(events)):
        return "each number once"
    return f"{lines:,} LINES, {size:,} BYTES"


def write_run(bench, millions, path, scale):
    """Writes the run file of `millions` million events, or somewhat more."""
    environment = bench.environment(WORKLOADS["calls"], scale)
    passes = -(-millions * 1_000_000 // EVENTS_PER_PASS[scale])
    environment["WORK_REPEAT"] = str(passes)
    return bench.reaper.run(
        [bench.tools.pymemrun, "-o", path, "--quiet", "--trace", "calls", "--heap",
         "off", "--min-drss", "0", "--", FOLDER / "calls.py"], environment,
        bench.folder)


def shell(bench, command):
    """The run of a shell command whose last program takes the shell's place."""
    return bench.reaper.run(["/bin/sh", "-c", command], {"PATH": "/usr/bin:/bin"},
                            bench.folder)


def measure(bench, millions, scale):
    path = bench.folder / "run.pb"
    run = write_run(bench, millions, path, scale)
    facts = run_file.read(bench.tools, path)
    quoted = shlex.quote(str(path))
    reads = {}
    for name, (program, option) in READERS.items():
        reader = shlex.quote(str(getattr(bench.tools, program)))
        reads[name] = shell(bench, f"exec {reader} {option} {quoted} >/dev/null")
    pymemcat = shlex.quote(str(bench.tools.pymemcat))
    wc = shell(bench, f"{pymemcat} --csv --columns event --no-header {quoted} "
               "| wc -lc").output.decode()
    path.unlink()
    return Measured(run, facts, numbers_verdict(wc, facts.events), reads)


def differences(small, large):
    """{program: bytes more at the larger run}."""
    found = {"traced process": large.run.peak_rss - small.run.peak_rss,
             "collector": large.run.collector_rss - small.run.collector_rss}
    for name in small.reads:
        found[name] = large.reads[name].peak_rss - small.reads[name].peak_rss
    return found


def bar_lines(small, large):
    found = header("what", "at most", "measured", "")
    whole = run_file.verdict(large.facts, True)
    good = whole == "all" and large.counted == "each number once"
    found.append(row(f"{large.facts.events:,} events written and read back",
                     "complete, no drop", f"{whole}; {large.counted}",
                     "met" if good else "**missed**"))
    for name, more in differences(small, large).items():
        found.append(row(
            f"{name}: RSS more than with {small.facts.events:,} events, MiB",
            SAME_MIB, fixed(more / MIB, 1),
            "met" if more <= SAME_MIB * MIB else "**missed**"))
    return found + [""]


def lines(measured):
    found = header("events", "CPU s", "wall s", "CPU ns/event", "rows", "complete",
                   "file", "bytes/event", "peak RSS", "collector RSS")
    for one in measured:
        facts = one.facts
        found.append(row(
            f"{facts.events:,}", fixed(one.run.cpu), fixed(one.run.wall),
            fixed(one.run.cpu / facts.events * 1e9, 1), f"{facts.rows:,}",
            run_file.verdict(facts, True), f"{facts.size / 1e6:.1f} MB",
            fixed(facts.size / facts.events, 4), mib(one.run.peak_rss),
            mib(one.run.collector_rss)))
    found += ["", *header("reader", "rows", "CPU s", "million rows/s of CPU",
                          "peak RSS")]
    for one in measured:
        for name, run in one.reads.items():
            found.append(row(name, f"{one.facts.rows:,}", fixed(run.cpu),
                             fixed(one.facts.rows / run.cpu / 1e6, 1),
                             mib(run.peak_rss)))
    return found + [""]
