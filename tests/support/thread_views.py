"""What each thread did to RSS, in the eyes of several methods."""
import csv
import io
import re
import subprocess

import support


def name_of(label):
    """Without the number."""
    return re.sub(r"#\d+$", "", label)


def table(run, *options):
    """What `pymemreport threads` says, by thread's name."""
    done = subprocess.run(
        [support.PYMEMREPORT, "threads", "--csv", "--limit", "0", *options,
         run.path], check=True, capture_output=True, text=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    names = [name_of(row["thread"]) for row in rows]
    assert len(set(names)) == len(names), names
    return dict(zip(names, rows))


def rows(run, *options):
    """What `pymemcat --csv` prints, row by row."""
    with subprocess.Popen([support.PYMEMCAT, "--csv", *options, run.path],
                          stdout=subprocess.PIPE, text=True) as printed:
        yield from csv.DictReader(printed.stdout)


def may_wait(row):
    """The calls that ThreadGraph took for a change of threads."""
    return row["function"].split(".")[-1] in ("sleep", "acquire")


class SleepCorrected:
    """RSS from a thread's first event to its last, less what RSS changed by while
    it slept or waited for a lock: as ThreadGraph counted."""

    def __init__(self):
        self.first, self.last, self.slept, self.before = {}, {}, {}, {}

    def add(self, row):
        name, rss = name_of(row["thread"]), int(row["rss_bytes"])
        self.first.setdefault(name, rss)
        self.last[name] = rss
        if not may_wait(row):
            return
        if row["what"] == "C_CALL":
            self.before[name] = rss
        elif name in self.before:
            slept = rss - self.before.pop(name)
            self.slept[name] = self.slept.get(name, 0) + slept

    def growth(self):
        return {name: self.last[name] - first - self.slept.get(name, 0)
                for name, first in self.first.items()}


def views(run):
    """Net growth by thread's name of a run with every event logged: {method:
    {name: bytes}}."""
    corrected, by_rows = SleepCorrected(), {}
    for row in rows(run):
        corrected.add(row)
        name = name_of(row["thread"])
        by_rows[name] = by_rows.get(name, 0) + int(row["thread_drss_bytes"])
    found = {"rows": by_rows, "sleep-corrected": corrected.growth()}
    for attribution in "caused", "observed":
        net = {name: int(row["net_bytes"]) for name, row in table(
            run, "--thread-attribution", attribution).items()}
        found[attribution] = net
    return found
