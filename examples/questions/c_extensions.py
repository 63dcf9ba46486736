"""Memory of C code: sqlite3 and zlib. Which lines hold it?"""
import sqlite3
import zlib

database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE t (n INTEGER, text TEXT)")
rows = ((n, "x" * 400) for n in range(50_000))
database.executemany("INSERT INTO t VALUES (?, ?)", rows)  # sqlite
packers = [zlib.compressobj() for _ in range(40)]  # zlib
print(database.execute("SELECT count(*) FROM t").fetchone()[0], len(packers))
