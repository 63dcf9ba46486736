"""How the cost of an event grows with the number of threads."""
import dataclasses

from comparison import modes, run_file
from comparison.tables import MIB, added, fixed, header, median, mib, row


@dataclasses.dataclass(frozen=True)
class Point:
    """One mode with one number of threads."""
    threads: int
    events: int
    cpu_ns: float          # of all processes, per event
    added_ns: float        # of those, beyond untraced
    series: object


def points(results, name):
    """[Point] of the mode; `results` is {threads: Result} at one scale."""
    found = []
    for threads, result in results.items():
        series = next(s for s in result.series if s.mode.name == name)
        untraced = result.find(modes.UNTRACED, series.scale)
        events = (series.facts.events if series.facts
                  else result.events(series.scale))
        found.append(Point(threads, events, median(series, "cpu") / events * 1e9,
                           added(series, untraced) / events * 1e9, series))
    return found


def growth(values):
    """Each value beside the first."""
    return [value / values[0] if values[0] else None for value in values]


def worst(results, name):
    """(growth of the CPU per event, the same beyond untraced's own growth), each
    the most of all numbers of threads."""
    own = growth([p.cpu_ns for p in points(results, modes.UNTRACED)])
    cpu = growth([p.cpu_ns for p in points(results, name)])
    return max(cpu), max(c / o for c, o in zip(cpu, own))


def lines(results, names):
    found = header("mode", "threads", "events", "CPU ns/event", "growth",
                   "added ns/event", "growth", "rows", "complete",
                   "over untraced's peak RSS", "collector RSS")
    for name in (modes.UNTRACED, *names):
        measured = points(results, name)
        cpu = growth([p.cpu_ns for p in measured])
        more = growth([p.added_ns for p in measured])
        for point, cpu_growth, added_growth in zip(measured, cpu, more):
            found.append(_line(results[point.threads], point, cpu_growth,
                               added_growth))
    return found + [""]


def _line(result, point, cpu_growth, added_growth):
    series = point.series
    cells = [series.mode.name, point.threads, f"{point.events:,}",
             fixed(point.cpu_ns, 1), fixed(cpu_growth)]
    if not series.facts:
        return row(*cells, *("" for _ in range(6)))
    base = median(result.find(modes.UNTRACED, series.scale), "peak_rss")
    return row(*cells, fixed(point.added_ns, 1), fixed(added_growth),
               f"{series.facts.rows:,}",
               run_file.verdict(series.facts, series.mode.everything),
               mib(median(series, "peak_rss") - base),
               mib(median(series, "collector_rss")))


def bar_lines(results, names, limit=1.5):
    """The limit holds for what tracing adds to the growth that the program has
    untraced: handing on from thread to thread, and making threads."""
    found = header("what", "at most", "measured", "")
    for name in names:
        cpu, beyond = worst(results, name)
        found.append(row(f"{name}: growth of CPU per event, beside untraced's own",
                         limit, fixed(beyond),
                         "met" if beyond < limit else "**missed**"))
        found.append(row(f"{name}: growth of CPU per event, as it is", limit,
                         fixed(cpu), "met" if cpu < limit else "**missed**"))
    extra = [(median(s, "peak_rss") - median(r.find(modes.UNTRACED, s.scale),
                                             "peak_rss")) / MIB
             for r in results.values() for s in r.series if s.facts]
    found.append(row("the traced process's extra RSS, MiB, with any number of "
                     "threads", 16, fixed(max(extra), 1),
                     "met" if max(extra) <= 16 else "**missed**"))
    return found + [""]
