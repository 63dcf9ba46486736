"""How much each mode may cost, beside what it did cost in this comparison."""
import dataclasses

from comparison import modes
from comparison.tables import MIB, added, header, median, ratio, row

PEER_EVERYTHING = "cPyMemTrace, everything"


@dataclasses.dataclass(frozen=True)
class Bar:
    workload: str             # that it is about; empty for all
    what: str
    limit: float
    figure: object            # f({workload: Result}, scale) -> number or None
    show: str = "{:.2f}"


def _ratio(workload, mode, base, what="cpu"):
    def figure(results, scale):
        result = results.get(workload)
        if result is None:
            return None
        return ratio(result.find(mode, scale), result.find(base, scale), what)

    return figure


def share(workload, mode, peer):
    """What the mode adds to the untraced run, as a share of what the peer adds."""
    def figure(results, scale):
        del scale
        result = results.get(workload)
        for size in result.scales() if result is not None else ():
            untraced = result.find(modes.UNTRACED, size)
            ours = added(result.find(mode, size), untraced)
            theirs = added(result.find(peer, size), untraced)
            if ours is not None and theirs:
                return ours / theirs
        return None

    return figure


def _bytes_per_event(results, scale):
    result = results.get("calls")
    series = result and result.find(modes.ALL_LOGGED, scale)
    if not series or not series.facts:
        return None
    return series.size / result.events(scale)


def _ours(results):
    return [(result, series) for result in results.values()
            for series in result.series if series.mode.ours and series.runs]


def _extra_rss(results, scale):
    del scale
    extra = [median(series, "peak_rss")
             - median(result.find(modes.UNTRACED, series.scale), "peak_rss")
             for result, series in _ours(results)]
    return max(extra) / MIB if extra else None


def _collector_rss(results, scale):
    del scale
    return max((median(series, "collector_rss") / MIB
                for _, series in _ours(results)), default=None)


BARS = (
    Bar("calls", "`--paused`, beside untraced", 1.02,
        _ratio("calls", "--paused", modes.UNTRACED)),
    Bar("builtins", "`--paused`, beside untraced", 1.02,
        _ratio("builtins", "--paused", modes.UNTRACED)),
    Bar("calls", "`--min-drss 4096` with context, beside the empty callback", 1.15,
        _ratio("calls", "--min-drss 4096", modes.FLOOR)),
    Bar("calls", "the same without perf, beside the empty callback", 1.35,
        _ratio("calls", "--rss-source hints", modes.FLOOR)),
    Bar("calls", "everything logged, beside the empty callback", 1.30,
        _ratio("calls", modes.ALL_LOGGED, modes.FLOOR)),
    Bar("calls", "everything logged, beside the empty callback, wall", 1.30,
        _ratio("calls", modes.ALL_LOGGED, modes.FLOOR, "wall")),
    *(Bar(name, "the plain default, beside the empty callback", 1.20,
          _ratio(name, "default", modes.FLOOR))
      for name in ("calls", "alloc", "numpy", "threads")),
    Bar("calls", "what everything-logged adds, beside what cPyMemTrace adds that "
        "logs everything", 0.01,
        share("calls", modes.ALL_LOGGED, PEER_EVERYTHING), "{:.4f}"),
    Bar("calls", "bytes per event, everything logged", 1.0, _bytes_per_event),
    *(Bar(name, "`--trace pages`, beside untraced", limit,
          _ratio(name, modes.PAGES, modes.UNTRACED))
      for name, limit in (("calls", 1.02), ("alloc", 1.10), ("numpy", 1.10))),
    *(Bar(name, "`--heap sampled` alone, beside hooks that only forward", 1.03,
          _ratio(name, modes.SAMPLED, modes.FORWARDED))
      for name in ("alloc", "threads")),
    Bar("calls", "the default, beside `--heap off`", 1.02,
        _ratio("calls", "default", modes.HEAP_OFF)),
    Bar("alloc", "`--heap all` alone, beside untraced, wall", 1.6,
        _ratio("alloc", modes.ALL_HEAP, modes.UNTRACED, "wall")),
    Bar("alloc", "`--heap all` alone, beside untraced", 2.3,
        _ratio("alloc", modes.ALL_HEAP, modes.UNTRACED)),
    *(Bar("alloc", f"what `--heap all` adds, beside what `{peer}` adds", 0.33,
          share("alloc", modes.ALL_HEAP, peer))
      for peer in ("memray run --trace-python-allocators", "-X tracemalloc=1")),
    Bar("", "the traced process's extra RSS, MiB, most of all modes", 16, _extra_rss,
        "{:.1f}"),
    Bar("", "the collector's RSS, MiB, most of all modes", 48, _collector_rss,
        "{:.1f}"),
)


# Where events come by sys.monitoring (CPython 3.12 and later).
MONITORING_BARS = (
    Bar("calls", "everything logged, beside untraced", 1.8,
        _ratio("calls", modes.ALL_LOGGED, modes.UNTRACED)),
    *(bar for bar in BARS if "beside the empty callback" not in bar.what
      and "cPyMemTrace" not in bar.what),
)


def lines(results, scale, bars=BARS):
    """A table of the bars that the results are about; `results` by the
    workload's name."""
    found = header("workload", "what", "at most", "measured", "")
    for bar in bars:
        if bar.workload and bar.workload not in results:
            continue
        value = bar.figure(results, scale)
        cells = [bar.workload or "all", bar.what, bar.limit]
        if value is None:
            found.append(row(*cells, "not measured", ""))
        else:
            found.append(row(*cells, bar.show.format(value),
                             "met" if value <= bar.limit else "**missed**"))
    found.append("")
    if scale != "full":
        found += ["At this size start-up is a large part of all figures: the "
                  "limits are meant for the full one.", ""]
    return found
