"""Programs whose objects are known, and what the reports must say of them. A line that
a check asks for ends with a comment, its name: `kept = rows(9)  # keeps`."""
import csv
import io
import json
import os

from known_case import MIB, known


@known("objects_of_a_sample", """
kept = []
def take():
    kept.append(bytearray(b'z') * 256_000)  # takes
for i in range(150):
    take()
""", options=("--objects", "exit"))
def objects_of_a_sample(case):
    rows = [row for row in case.rows("heap", "--objects") if row["type"] == "bytearray"]
    assert rows and int(rows[0]["line"]) == case.line("takes"), rows
    assert sum(int(row["objects"]) for row in rows) == 150, rows
    case.near("objects", sum(int(row["objects_bytes"]) for row in rows), 150 * 256_057, 0.1e6)


@known("numpy_base", """
import numpy as np
heads = [np.ones(1_000_000)[:10] for _ in range(30)]
""", options=("--objects", "exit"), needs="numpy")
def numpy_base(case):
    suspect = json.loads(case.dump("suspects", "--json"))[0]
    assert suspect["path"] == "sys.modules['__main__'].heads", suspect
    case.near("heads", suspect["retained_bytes"], 240e6, MIB)
    rows = [row for row in case.rows("heap", "--objects") if row["type"] == "numpy.ndarray"]
    assert int(rows[0]["line"]) == 2 and int(rows[0]["objects"]) >= 30, rows
    case.near("arrays", int(rows[0]["objects_bytes"]), 240e6, MIB)


@known("reused_blocks", """
kept = []
def render(i):
    return len({'page': i})
def handle(i):
    kept.append({'user': i})
for i in range(4000):
    render(i)
    handle(i)
""", options=("--objects", "exit"))
def reused_blocks(case):
    # A dictionary that render() drops is the next one of handle(): no line is sure.
    said = case.dump("suspects", "--min-share", "5")
    assert "There are 4,000 objects of dict" in said and "render" not in said, said
    rows = [row for row in case.rows("heap", "--objects") if row["type"] == "dict" and
            row["holder"] == "sys.modules['__main__'].kept"]
    found = sum(int(row["objects"]) for row in rows)
    # CPython has kept blocks of up to 80 since before tracing. A row without objects has
    # the keys of one, which the interpreter allocated outside any frame.
    counted = [row for row in rows if row["objects"] != "0"]
    assert 3900 <= found <= 4001 and all(int(row["reused_objects"]) > 0 for row in counted), rows


@known("attributes_of_instances", """
class Point:
    def __init__(self, i):
        self.x, self.y, self.z, self.name = i, i, i, None
points = [Point(i) for i in range(30_000)]
""", options=("--objects", "exit"))
def attributes_of_instances(case):
    # The attributes have no dictionary; sys.getsizeof() leaves them out.
    table = csv.DictReader(io.StringIO(case.dump("summary", "--csv", "--limit", "0")))
    size = next(int(row["bytes"]) for row in table if row["type"] == "__main__.Point")
    assert size >= 30_000 * (48 + 4 * 8), size
    blocks = sum(int(row["objects_bytes"]) for row in case.rows("heap", "--objects")
                 if row["type"] == "__main__.Point")
    case.near("their blocks", blocks, size, 0.01 * size)


@known("bytes_io", """
import io
CACHE = [io.BytesIO(bytes([i]) * 3_000_000) for i in range(10)]  # cache
W = io.BytesIO(); W.write(b'q' * 5_000_000)  # writes
""", options=("--objects", "exit"))
def bytes_io(case):
    # The cache's bytes are objects of their own from 3.5 on; each is counted once.
    table = csv.DictReader(io.StringIO(case.dump("summary", "--csv")))
    sizes = {row["type"]: int(row["bytes"]) for row in table}
    case.near("bytes and BytesIO", sum(size for name, size in sizes.items() if
              name in ("bytes", "_io.BytesIO")), 35e6, 1.5e6)
    case.near("the cache", case.held("cache"), 30e6, MIB)
    rows = [row for row in case.rows("heap", "--objects")
            if row["line"] == str(case.line("cache"))]
    assert rows and all(int(row["rest_bytes"]) < MIB for row in rows), rows


@known("views_of_buffers", """
import array
heads = [memoryview(bytes(1_000_000))[:10] for _ in range(20)]
parts = [memoryview(array.array('d', [0.0]) * 100_000)[10:20] for _ in range(20)]
""", options=("--objects", "exit"))
def views_of_buffers(case):
    suspects = json.loads(case.dump("suspects", "--json"))
    assert [suspect["path"].rpartition(".")[2] for suspect in suspects] == ["heads", "parts"]
    case.near("heads", suspects[0]["retained_bytes"], 20e6, MIB)
    case.near("parts", suspects[1]["retained_bytes"], 16e6, MIB)


@known("whole_number_keys", """
import gc, pymemrun, sys
def make(letter): return [letter * 3]
D = {38: make('a'), '38': make('b'), 2.5: make('c'), None: make('d'), (1, 2): make('e')}
gc.collect()
def tell():
    for value in D.values(): print(hex(id(value[0])))
tell()
pymemrun.dump_objects(sys.argv[1], wait=True)
""", "keys.obj.pb")
def whole_number_keys(case):
    addresses = case.result.stdout.split()
    folder = os.path.dirname(case.path)
    for address, key in zip(addresses, ("[38]", "['38']", "[2.5]", "[None]", "[tuple 0x")):
        path = case.dump("path", address, path=os.path.join(folder, "keys.obj.pb"))
        assert f"['D']{key}" in path, f"{key}\n{path}"


@known("materialised_dicts", """
import gc, pymemrun, sys
class A:
    def __init__(self, i): self.x = '%06d' % i + 'u' * 40; self.y = [i]
some = [A(i) for i in range(1000)]
for a in some: a.__dict__
gc.collect()
print(hex(id(some[3].x)))
pymemrun.dump_objects(sys.argv[1], wait=True)
""", "dicts.obj.pb")
def materialised_dicts(case):
    dump = os.path.join(os.path.dirname(case.path), "dicts.obj.pb")
    path = case.dump("path", case.result.stdout.split()[0], path=dump)
    assert "['some'][3]" in path and "x" in path, path
