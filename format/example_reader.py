"""Prints a run file's rows as CSV, by zstd, protobuf and trace.proto alone.

    apt install protobuf-compiler python3-protobuf zstd
    protoc --python_out=. *.proto
    zstd -dc run.pb | /usr/bin/python3 example_reader.py

The same rows, to the byte, come from `pymemcat run.pb --csv --raw-text
--records calls --columns event,clock_s,what,file,line,function,rss_bytes,drss_bytes`
where no name holds a control character. FORMAT.md says what the other columns are.
"""
import csv, sys
from itertools import accumulate, count, repeat
from google.protobuf.internal.decoder import _DecodeVarint
from trace_pb2 import Record, What

def column(at, values):  # a sparse column in full: 0 in each row that it does not name
    return map(dict(zip(accumulate(at), values)).get, count(), repeat(0))

data, at, known, write = sys.stdin.buffer.read(), 0, {}, csv.writer(sys.stdout).writerow
write("event clock_s what file line function rss_bytes drss_bytes".split())
while at < len(data):
    size, at = _DecodeVarint(data, at)
    record, at = Record.FromString(data[at:at + size]), at + size
    for kind, value in record.ListFields():  # one; none if it is of an unknown kind
        known[kind.name, getattr(value, "id", 0)] = value  # definitions have ids
    b = record.events  # without rows, if the record is no batch
    event, us, rss = b.first_number - 1, b.first_us, b.first_rss_bytes
    for id, skip, step, rss_step, drss in zip(b.site, column(b.number_at, b.number_skip), column(
            b.time_at, b.time_step), column(b.rss_at, b.rss_step), column(b.rss_at, b.drss)):
        site, event, us, rss = known["site", id], event + 1 + skip, us + step, rss + rss_step
        code, c = known["code", site.code], known.get(("function", site.function))
        name = (c.qualname if c else code.name).decode(errors="replace")
        write([event, f"{us / 1e6:.6f}", What.Name(site.what),
               code.file.decode(errors="replace"), site.line, name, rss, drss])
