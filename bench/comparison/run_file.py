"""What a run file says of itself, by the readers."""
import dataclasses
import re
import subprocess


@dataclasses.dataclass(frozen=True)
class Facts:
    events: int
    rows: int        # that the footer counts
    dropped: int
    size: int        # bytes
    decoded: int     # rows that a reader found


def number_before(word, text):
    """The number that stands before the word: `1,234 events`."""
    match = re.search(rf"([\d,]+) (?:{word})", text)
    if not match:
        raise ValueError(f"no number before '{word}' in: {text}")
    return int(match.group(1).replace(",", ""))


def parse(summary, report, size):
    """`summary`: of pymemcat --summary; `report`: of pymemreport summary."""
    summary = summary.rpartition("run.pb: ")[2]
    if not re.search(r"[\d,]+ events", summary):  # none of calls were traced
        number_before("page events|allocations?", summary)
        return Facts(0, 0, 0, size, 0)
    rows = re.search(r"in the file ([\d,]+) rows", report).group(1)
    return Facts(number_before("events", summary), number_before("rows", summary),
                 number_before("dropped", summary), size,
                 int(rows.replace(",", "")))


def read(tools, path):
    """Facts of the run file at `path`; every row is decoded for it."""
    def output(*command):
        return subprocess.run(command, check=True, capture_output=True,
                              text=True).stdout

    return parse(output(tools.pymemcat, "--summary", path),
                 output(tools.pymemreport, "summary", path), path.stat().st_size)


def verdict(facts, everything, counted=None):
    """`all`, or what is wrong. `counted`: the events that a callback which only
    counts has seen, where that is known."""
    if facts.dropped:
        return f"{facts.dropped:,} DROPPED"
    if facts.decoded != facts.rows:
        return f"{facts.decoded:,} of {facts.rows:,} READ"
    if everything and facts.rows != facts.events:
        return f"{facts.events - facts.rows:,} MISSING"
    if everything and counted is not None and counted != facts.events:
        return f"{counted - facts.events:,} NOT SEEN"
    return "all" if everything else "no drop"
