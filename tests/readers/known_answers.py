"""Programs whose memory is known, and what the reports must say of them. A line that
a check asks for ends with a comment, its name: `kept = rows(9)  # keeps`."""
import re

from known_case import MIB, known


@known("a_fast_heap", """
kept = []
def take():
    kept.append(b'x' * 30_000)  # takes
for i in range(16_000):
    take()
""")
def a_fast_heap(case):
    case.near("the line", case.held("takes"), 16_000 * 30_048,
              0.01 * 480e6 + 5 * case.error("takes"))
    case.unattributed()


@known("pool", """
import pyarrow as pa, pyarrow.compute as pc  # imports
import time
def small():
    return pa.array([1, 2, 3])  # first
def big(n):
    return pc.random(n)  # uses
keep = small()
a = big(20_000_000)
time.sleep(0.3)
del a
time.sleep(0.7)
""", needs="pyarrow", light=False)
def pool(case):
    # Without calls nobody knows who it is, but who it is not. The first line imports pandas.
    if "calls" in case.screen().splitlines()[0]:
        case.near("who uses it", case.held("uses"), 160e6, 12 * MIB)
    case.near("who used it first", case.in_pool("first"), 0, 8 * MIB)
    case.near("the import", case.in_pool("imports"), 0, 8 * MIB)
    case.unattributed()


@known("posix_spawn", """
import subprocess, sys
work = 'kept = [bytearray(100_000) for _ in range(300)]'
subprocess.run([sys.executable, '-c', work], close_fds=False)
""")
def posix_spawn(case):
    text = " ".join(case.screen().split())
    assert re.search(r"not recorded", text) and "--follow" in text, text


@known("library_threads", """
import os, sys, tempfile
site = os.path.join(tempfile.mkdtemp(), 'site-packages')
os.makedirs(site)
with open(os.path.join(site, 'fakelib.py'), 'w') as f:
    f.write('''
from concurrent.futures import ThreadPoolExecutor
def part(n):
    return [str(i) * 4 for i in range(n)]
def read(n):
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(part, [n, n]), [])
''')
sys.path.insert(0, site)
import fakelib
def load():
    return fakelib.read(400_000)  # waits
rows = load()
""")
def library_threads(case):
    # Its blocks, and the lists while they are joined.
    held = case.held("waits")
    assert 55 * MIB <= held <= 90 * MIB, f"{held / MIB:.1f}\n{case.screen()}"
    assert case.first() == case.line("waits"), case.screen()


@known("dynamic_code", """
space = {}
exec(compile('def work(n):\\n    return [str(i) * 4 for i in range(n)]\\n',
             '<dynamic-code>', 'exec'), space)
rows = space['work'](400_000)
""", module="site-packages/fakeworker")
def dynamic_code(case):
    place = max(case.answer()["peak"]["places"], key=lambda place: place["bytes"])
    assert place["file"] == "<dynamic-code>" and place["own"], case.screen()
    assert place["line"] == 2, case.screen()
    # 400,000 strings and their list.
    case.near("the line", place["bytes"], 34 * MIB, 2 * MIB + 5 * place["error_bytes"])


@known("short_mapping", """
import mmap, os, sys, tempfile
path = os.path.join(tempfile.mkdtemp(), 'data')
with open(path, 'wb') as f:
    for _ in range(10):
        f.write(bytes(10_000_000))
def read(path):
    with open(path, 'rb') as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:  # maps
        n = 0
        for i in range(0, len(m), 4096):
            n += m[i]  # reads
    return n
read(path)
os.unlink(path)
""")
def short_mapping(case):
    case.unattributed()


@known("free_memory", """
def rows(n):
    return [bytes(b'x') * 700 for _ in range(n)]  # pins
def keep_some(all_rows):
    return all_rows[::40]
kept = keep_some(rows(300_000))
part = bytearray(b'y') * 40_000_000  # part
""")
def free_memory(case):
    answer = case.answer()["peak"]
    case.near("free", answer["parts"]["free"], 210 * MIB, 15 * MIB)
    case.near("the line", case.held("part"), 40e6, MIB)
    assert "is free memory that allocators keep" in " ".join(case.screen().split())
    case.unattributed()


ALTERNATING = """
import mmap, sys, time
PAGE = 4096
n, m, rounds = map(int, sys.argv[1:])
A = mmap.mmap(-1, n * rounds * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # maps a
B = mmap.mmap(-1, m * rounds * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # maps b
def run():
    for r in range(rounds):
        for i in range(n):
            A[(r * n + i) * PAGE] = 1  # a
        for i in range(m):
            B[(r * m + i) * PAGE] = 1  # b
run()
time.sleep(.3)
"""


def alternating(n, m, rounds):
    @known(f"alternating_{n}_{m}", ALTERNATING, str(n), str(m), str(rounds))
    def check(case):
        rows = {int(row["line"] or 0): row for row in case.rows("resident")}
        for tag, pages in ("a", n * rounds), ("b", m * rounds):
            lines = [case.line(tag)]
            if case.by_scan():  # which does not know who touched a page, but who mapped it
                lines.append(case.line("maps " + tag))
            found = [rows[line] for line in lines if line in rows]
            held = sum(int(row["resident_bytes"]) for row in found)
            error = sum(float(row["error_bytes"] or 0) for row in found)
            case.near(tag, held, pages * 4096, 5 * error + 0.2 * MIB)


alternating(2, 5, 1500)
alternating(1, 6, 1500)
alternating(1, 27, 700)


@known("top_of_callers", """
M = 1_000_000
def f():
    return 1
def g():
    f()
    x = bytearray(b'x') * (50 * M)  # x
    f()
    y = [0] * (5 * M)  # y
    f()
    return x, y
K = g()
""", light=False)
def top_of_callers(case):
    rows = {int(row["line"] or 0): int(row["growth_bytes"] or 0) for row in case.rows("top")}
    # Known at the function's next event, which is the next line's.
    for tag, size in ("x", 50e6), ("y", 40e6):
        case.near(tag, rows.get(case.line(tag) + 1, 0), size, 0.3 * MIB)


READS_ZEROS = """
import sys, time
import numpy as np
def make():
    return np.zeros(5_000_000)  # zeros
def read(x):
    return float(x.sum())  # reads
x = make()
read(x)
time.sleep(float(sys.argv[1]))
"""


def zeros(wait):
    @known(f"zeros_{wait}", READS_ZEROS, wait, needs="numpy")
    def check(case):
        # What there is, is code.
        case.near("the line", case.held("zeros"), 0, 3 * MIB)
        case.near("the reader", case.held("reads"), 0, 3 * MIB)
        answer = case.answer()["peak"]
        total = sum(answer["parts"].values())
        case.near("parts", total, answer["rss_bytes"], 0.01 * answer["rss_bytes"])
        case.unattributed()


zeros("0")
zeros("0.4")


@known("zeros_by_thread", """
import numpy as np, threading, time
def reader():
    a = np.zeros(5_000_000)
    s = float(a.sum())
    time.sleep(.3)
    return s
t = threading.Thread(target=reader, name='reader')
t.start()
t.join()
time.sleep(.2)
""", needs="numpy")
def zeros_by_thread(case):
    rows = {row["thread"].partition("#")[0]: row for row in case.rows("threads")}
    case.near("reader", int(rows["reader"]["growth_bytes"] or 0), 0, 2 * MIB)


@known("children", """
import os, time
def child():
    C = bytearray(b'c') * 25_000_000  # child
    time.sleep(.3)
time.sleep(.3)
K = bytearray(b'b') * 20_000_000  # parent
time.sleep(.3)
pid = os.fork()
if pid == 0:
    child()
    os._exit(0)
os.waitpid(pid, 0)
""")
def children(case):
    rows = case.rows("processes")
    assert [row["top_line"].rpartition(":")[2] for row in rows] == [
        str(case.line("parent")), str(case.line("child"))], rows


STEPS = """
import sys, time
way, kept = sys.argv[1], []
base = bytearray(b'b') * 20_000_000
for i in range(100):
    if way == 'leak': kept.append(bytearray(b'l') * 60_000)  # leak
    if way == 'fills' and i < 50: kept.append(bytearray(b'l') * 1_000_000)
    if way == 'saw': kept.append(bytearray(b'l') * 400_000)
    if way == 'saw' and i % 10 == 9: kept.clear()
    if way == 'late' and i > 60: kept.append(bytearray(b'l') * 400_000)  # late
    if way == 'once' and i == 50: kept.append(bytearray(b'l') * 9_000_000)
    if way == 'flat': part = bytearray(b'l') * 400_000
    time.sleep(.03)
"""


def steps(way, grows):
    @known(f"steps_{way}", STEPS, way)
    def check(case):
        text = " ".join(case.screen().split())
        growing = re.search(r"Growing at the end: [^ ]*:(\d+), ", text)
        if grows:
            assert growing and int(growing[1]) == case.line(way), text
        else:
            assert not growing, text


for _way, _grows in (("leak", 1), ("late", 1), ("fills", 0), ("saw", 0), ("once", 0),
                     ("flat", 0)):
    steps(_way, _grows)
