"""Prints a run file's rows as CSV, by zstd, protobuf and trace.proto alone.

    apt install protobuf-compiler python3-protobuf zstd
    protoc --python_out=. trace.proto
    zstd -dc run.pb | /usr/bin/python3 example_reader.py

The same rows, to the byte, come from `pymemcat run.pb --csv --raw-text
--records calls --columns event,clock_s,what,file,line,function,rss_bytes,drss_bytes`
where no name holds a control character. FORMAT.md says what the other columns are.
"""
import csv, sys
from collections import Counter
from itertools import accumulate
from google.protobuf.internal.decoder import _DecodeVarint
from trace_pb2 import Record, What

def sparse(at, values):  # {row: value}, and 0 for a row that states none
    return Counter(dict(zip(accumulate(at), values)))

data, at, known, out = sys.stdin.buffer.read(), 0, {}, csv.writer(sys.stdout)
out.writerow("event clock_s what file line function rss_bytes drss_bytes".split())
while at < len(data):
    size, at = _DecodeVarint(data, at)
    record, at = Record.FromString(data[at:at + size]), at + size
    for kind, value in record.ListFields():  # one; none if it is of an unknown kind
        known[kind.name, getattr(value, "id", 0)] = value  # definitions have ids
    b = record.events  # without rows, if the record is no batch
    skip, step = sparse(b.number_at, b.number_skip), sparse(b.time_at, b.time_step)
    rss_step, drss = sparse(b.rss_at, b.rss_step), sparse(b.rss_at, b.drss)
    number, us, rss = b.first_number - 1, b.first_us, b.first_rss_bytes
    for row, site in enumerate(known["site", id] for id in b.site):
        number, us, rss = number + 1 + skip[row], us + step[row], rss + rss_step[row]
        code, c = known["code", site.code], known.get(("function", site.function))
        out.writerow([number, f"{us / 1e6:.6f}", What.Name(site.what),
                      code.file.decode(errors="replace"), site.line,
                      (c.qualname if c else code.name).decode(errors="replace"), rss, drss[row]])
