"""A run file's rows by zstd, protobuf and trace.proto alone, with all that the
file says of them: for tests that want another witness than pymemcat, or more
than it prints (the Python function whose frame an event happened in)."""
import collections
import itertools

# `code` and `function` are definitions. Only C events have a function; it is
# None for others.
Row = collections.namedtuple(
    "Row", "number us what code line function thread rss drss context inexact")


def stated(at, values):
    return dict(zip(itertools.accumulate(at), values))


def batch_rows(batch, known):
    b = batch
    skip, step = stated(b.number_at, b.number_skip), stated(b.time_at,
                                                            b.time_step)
    rss_step, drss = stated(b.rss_at, b.rss_step), stated(b.rss_at, b.drss)
    threads = stated(b.thread_at, b.thread)
    context = set(itertools.accumulate(b.context_at))
    inexact = set(itertools.accumulate(b.inexact_at))
    number, us = b.first_number - 1, b.first_us
    rss, thread = b.first_rss_bytes, b.first_thread
    for row, site_id in enumerate(b.site):
        number += 1 + skip.get(row, 0)
        us += step.get(row, 0)
        rss += rss_step.get(row, 0)
        thread = threads.get(row, thread)
        site = known["site", site_id]
        yield Row(number, us, site.what, known["code", site.code], site.line,
                  known.get(("function", site.function)),
                  known["thread", thread], rss, drss.get(row, 0),
                  row in context, row in inexact)


def decoded_rows(records):
    """The rows of a run's records, in their order."""
    known = {}
    for record in records:
        kind = record.WhichOneof("kind")
        if kind in ("code", "function", "site", "thread"):
            definition = getattr(record, kind)
            known[kind, definition.id] = definition
        elif kind == "events":
            yield from batch_rows(record.events, known)
