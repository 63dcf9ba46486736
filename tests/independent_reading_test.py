#!/usr/bin/env python3
"""A run file is read by zstd, protoc and Python alone, and says the same as
pymemcat does."""
import csv
import io
import os
import shutil
import subprocess
import unittest

import support

PROGRAM = r'''
import json, threading
def work(n):
    return [str(x) + chr(x) for x in range(n)]
def \u00e9t\u00e9(data):
    return json.loads(json.dumps(data))
keep = []
def grow():
    for n in range(30):
        keep.append(b"\1" * 50_000)
        \u00e9t\u00e9({"a": [n, None]})
threads = [threading.Thread(target=grow, name="n\u00b0%d" % n)
           for n in range(3)]
for t in threads: t.start()
for t in threads: t.join()
work(200)
'''.encode().decode("unicode_escape").replace("\1", "\\1")


class IndependentReadingTest(support.ProgramTest):
    def read_independently(self, run):
        format_folder = os.path.join(support.SOURCE, "format")
        shutil.copy(os.path.join(format_folder, "trace.proto"), self.folder)
        shutil.copy(os.path.join(format_folder, "example_reader.py"),
                    self.folder)
        # As the example says.
        text = subprocess.run(
            "protoc --python_out=. trace.proto && "
            f"zstd -dc {run.path} | {support.PYTHON} example_reader.py",
            shell=True, cwd=self.folder, check=True, env={"LANG": "C.UTF-8",
            "PATH": os.environ["PATH"]}, stdout=subprocess.PIPE).stdout
        return list(csv.DictReader(io.StringIO(text.decode())))

    def check(self, *options):
        run = self.run_script(PROGRAM, *options)
        rows = run.rows()
        self.assertGreater(len(rows), 30)
        expected = []
        for row in rows:
            expected.append({
                "number": str(row["event"]),
                "time_us": str(round(float(row["clock_s"]) * 1e6)),
                "what": row["what"], "file": row["file"],
                "line": str(row["line"]), "function": row["function"],
                "rss_bytes": str(row["rss_bytes"]),
                "drss_bytes": str(row["drss_bytes"]),
                "native_id": row["thread"].rpartition("#")[2],
                "context": "PREV" if row["context"] == "PREV" else ""})
        found = self.read_independently(run)
        self.assertEqual(len(found), len(expected))
        for e, f in zip(expected, found):
            self.assertEqual(e, f)
        # And the same as JSON lines, as far as these have it.
        for row, line in zip(rows, run.json_rows()):
            for name in ("event", "what", "file", "line", "function",
                         "rss_bytes", "drss_bytes"):
                self.assertEqual(row[name], line[name])

    def test_everything_logged(self):
        self.check("--min-drss", "0")

    def test_filtered_with_context(self):
        self.check("--context", "3")

    def test_with_stacks_and_without_compression(self):
        self.check("--min-drss", "0", "--stacks", "--compress", "none")
        self.check("--stacks", "--compress", "9")

    def test_raw_is_the_decompressed_stream(self):
        run = self.run_script(PROGRAM, "--min-drss", "0")
        plain = subprocess.run(["zstd", "-dc", run.path], check=True,
                               stdout=subprocess.PIPE).stdout
        self.assertEqual(run.cat("--raw"), plain)


if __name__ == "__main__":
    unittest.main()
