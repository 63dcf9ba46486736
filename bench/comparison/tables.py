"""Markdown of what was measured. Figures are medians; ratios are the medians of
the ratios within each round, so that a busy machine is busy for both sides."""
import statistics

from comparison import modes, run_file

MIB = 2**20
COLUMNS = ("mode", "size", "CPU s", "CPU x untraced", "CPU x empty", "wall s",
           "wall x untraced", "wall x empty", "added ns/event", "rows",
           "complete", "bytes/event", "peak RSS", "over untraced",
           "collector RSS")


def row(*cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def header(*columns):
    return [row(*columns), row(*("---" for _ in columns))]


def median(series, what):
    """None where nothing was measured."""
    if series is None or not series.runs:
        return None
    return statistics.median(getattr(r, what) for r in series.runs.values())


def ratio(series, base, what):
    """Median over the rounds that both have; None without such rounds."""
    if series is None or base is None:
        return None
    rounds = series.runs.keys() & base.runs.keys()
    if not rounds:
        return None
    return statistics.median(
        getattr(series.runs[r], what) / getattr(base.runs[r], what)
        for r in rounds)


def added(series, base, what="cpu"):
    """Seconds more than the base; median over the rounds that both have."""
    if series is None or base is None:
        return None
    rounds = series.runs.keys() & base.runs.keys()
    if not rounds:
        return None
    return statistics.median(
        getattr(series.runs[r], what) - getattr(base.runs[r], what)
        for r in rounds)


def fixed(value, digits=2):
    return "" if value is None else f"{value:,.{digits}f}"


def mib(size):
    return "" if size is None else f"{size / MIB:.1f} MiB"


def _file_cells(result, series):
    """rows, complete, bytes/event."""
    events = result.events(series.scale)
    rate = fixed(series.size / events, 4 if series.facts else 1)
    if not series.facts:
        return "", "", rate if series.size and series.mode.peer else ""
    counted = (result.counted[series.scale]
               if result.workload.single_threaded else None)
    verdict = run_file.verdict(series.facts, series.mode.everything, counted)
    if series.mode.name == "--paused":
        verdict, counted = run_file.verdict(series.facts, False), None
    return f"{series.facts.rows:,}", verdict, rate


def _series_row(result, series):
    if not series.runs:
        return row(series.mode.name, series.scale, series.failure,
                   *("" for _ in COLUMNS[3:]))
    untraced = result.find(modes.UNTRACED, series.scale)
    floor = result.find(modes.FLOOR, series.scale)
    cost = added(series, untraced) / result.events(series.scale) * 1e9
    peak = median(series, "peak_rss")
    collector = median(series, "collector_rss")
    return row(
        series.mode.name, series.scale, fixed(median(series, "cpu")),
        fixed(ratio(series, untraced, "cpu")), fixed(ratio(series, floor, "cpu")),
        fixed(median(series, "wall")), fixed(ratio(series, untraced, "wall")),
        fixed(ratio(series, floor, "wall")), fixed(cost, 1),
        *_file_cells(result, series), mib(peak),
        mib(peak - median(untraced, "peak_rss")), mib(collector or None))


def workload_lines(result):
    lines = [f"### {result.workload.name}", ""]
    for scale in result.scales():
        untraced = median(result.find(modes.UNTRACED, scale), "cpu")
        lines.append(f"- {scale}: {result.workload.describe(scale)}; "
                     f"{result.events(scale):,} events, untraced "
                     f"{untraced:.2f} s CPU")
    lines += ["", *header(*COLUMNS)]
    lines += [_series_row(result, series) for series in result.series]
    return lines + [""]


def floor_lines(tools):
    """The instructions of the callback that `x empty` is measured against."""
    return ["The empty callback, as compiled:", "", "```",
            *(line.rstrip() for line in tools.disassembly()), "```", ""]
