"""Prints a run file's rows as CSV: the format in a page, without pymemrun.

    protoc --python_out=. trace.proto
    zstd -dc run.pb | python3 example_reader.py
"""
import csv, sys
import trace_pb2

def records(data, at=0):  # varint-length-delimited messages
    while at < len(data):
        size = shift = 0
        while True:
            byte, at = data[at], at + 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        yield trace_pb2.Record.FromString(data[at:at + size])
        at += size

def stated(at, *columns):  # {row: values there}; `at` holds distances
    row, found = 0, {}
    for distance, *values in zip(at, *columns):
        row += distance
        found[row] = values
    return found

code, function, site, thread = {}, {}, {}, {}
out = csv.writer(sys.stdout)
out.writerow("number time_us what file line function rss_bytes drss_bytes"
             " native_id context".split())
text = lambda name: name.decode("utf-8", "replace")
for record in records(sys.stdin.buffer.read()):
    kind = record.WhichOneof("kind")
    if kind in ("code", "function", "site", "thread"):
        definition = getattr(record, kind)
        globals()[kind][definition.id] = definition
    if kind != "events":
        continue
    b = record.events
    number, time, rss, tid = b.first_number - 1, b.first_us, b.first_rss_bytes, b.first_thread
    skips, times = stated(b.number_at, b.number_skip), stated(b.time_at, b.time_step)
    threads, rsses = stated(b.thread_at, b.thread), stated(b.rss_at, b.rss_step, b.drss)
    contexts = stated(b.context_at)
    for row, site_id in enumerate(b.site):
        number += 1 + skips.get(row, [0])[0]
        time += times.get(row, [0])[0]
        tid = threads.get(row, [tid])[0]
        step, drss = rsses.get(row, (0, 0))
        rss += step
        s = site[site_id]
        name = function[s.function].qualname if s.function else code[s.code].name
        out.writerow([number, time, trace_pb2.What.Name(s.what), text(code[s.code].file),
                      s.line, text(name), rss, drss, thread[tid].native_id,
                      "PREV" if row in contexts else ""])
