"""Programs that use large packages, and which of their lines the answer must name first.
Each prints how far RSS rose at most in what the line did: the oracle."""
from known_case import MIB, known

RSS = """
import os
def rss():
    with open('/proc/self/statm') as statm:
        return int(statm.read().split()[1]) * 4096
def peak():
    with open('/proc/self/status') as status:
        return next(1024 * int(line.split()[1]) for line in status if line[:6] == 'VmHWM:')
def write_rows(path):
    with open(path, 'w') as file:
        file.write('number,name,part\\n')
        file.writelines(f'{i},name of row {i},{i / 7}\\n' for i in range(1_000_000))
"""


def holds_what_rss_rose(case, tag, least=0.7, most=1.15):
    """The line is the first own line, and holds about what RSS rose."""
    rose = int(case.result.stdout.split()[-1])
    held = case.held(tag)
    assert case.first() == case.line(tag), case.screen()
    assert least * rose <= held <= most * rose, (
        f"{held / MIB:.1f} MiB; RSS rose by {rose / MIB:.1f}\n{case.screen()}")


@known("pandas_read_csv", RSS + """
import pandas as pd
write_rows('rows.csv')
pd.read_csv('rows.csv', nrows=10)
before = rss()
def load():
    return pd.read_csv('rows.csv')  # reads
table = load()
print(peak() - before)
""", needs="pandas", light=False)
def pandas_read_csv(case):
    holds_what_rss_rose(case, "reads")


@known("polars_read_csv", RSS + """
import polars as pl
write_rows('rows.csv')
before = rss()
def load():
    return pl.read_csv('rows.csv')  # reads
table = load()
print(peak() - before)
""", needs="polars", light=False)
def polars_read_csv(case):
    holds_what_rss_rose(case, "reads")


@known("arrow_table", RSS + """
import pyarrow as pa, pyarrow.csv
write_rows('rows.csv')
before = rss()
def load():
    return pa.csv.read_csv('rows.csv')  # reads
table = load()
print(peak() - before)
""", needs="pyarrow", light=False)
def arrow_table(case):
    """A function in C, and the first use of its threads."""
    holds_what_rss_rose(case, "reads")


@known("joblib_workers", """
import os
import joblib
def work(n):
    return os.getpid(), [str(i) * 4 for i in range(n)]  # works
def main():
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(work)(400_000) for _ in range(2))
    print(*{pid for pid, part in parts})
main()
""", options=("--follow", "all"), needs="joblib")
def joblib_workers(case):
    """On a busy machine one of the two may do all the work."""
    rows = case.rows("processes")
    workers = {row["pid"] for row in rows if row["top_line"].endswith(f":{case.line('works')}")}
    assert workers == set(case.result.stdout.split()), "\n".join(map(str, rows))


@known("torch_loader", RSS + """
import torch, torch.utils.data as data
class Rows(data.Dataset):
    def __init__(self):
        self.cache = {}
    def __len__(self):
        return 400
    def __getitem__(self, i):
        self.cache[i] = torch.full((100_000,), float(i))  # caches
        return self.cache[i].sum()
def main():
    torch.set_num_threads(1)
    total = sum(float(batch.sum()) for batch in data.DataLoader(Rows(), 50, num_workers=2))
    print(total)
main()
""", needs="torch")
def torch_loader(case):
    rows = [row for row in case.rows("processes") if row["depth"] == "1"]
    workers = [row for row in rows if row["top_line"].endswith(f":{case.line('caches')}")]
    assert len(workers) == 2, "\n".join(map(str, rows))
