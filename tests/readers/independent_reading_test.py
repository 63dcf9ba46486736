#!/usr/bin/env python3
"""A run file is read by zstd, protobuf and Python alone, and says the same as
pymemcat does: by the example that format/ gives to users, and column by column."""
import csv
import io
import os
import shutil
import subprocess
import unittest

import decoded_rows
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


# The columns of the example, and how pymemcat is to print the same.
EXAMPLE = "event,clock_s,what,file,line,function,rss_bytes,drss_bytes"
AS_EXAMPLE = ("--csv", "--raw-text", "--records", "calls", "--columns", EXAMPLE)

AS_HEAP_EXAMPLE = ("--csv", "--raw-text", "--records", "heap", "--columns",
                   "clock_s,what,address,size_bytes,allocator,file,line,"
                   "function")


def csv_rows(run):
    """pymemcat's rows, every column as it is written."""
    text = run.cat("--csv", "--raw-text", "--records", "calls").decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


class IndependentReadingTest(support.ProgramTest):
    def check_example(self, path, expected, example="example_reader.py"):
        """The example's output, got as the example says, byte for byte."""
        for name in (*support.protos(), example):
            shutil.copy(os.path.join(support.SOURCE, "format", name),
                        self.folder)
        found = subprocess.run(
            "protoc --python_out=. *.proto && "
            f"zstd -dc {path} | /usr/bin/python3 {example}",
            shell=True, cwd=self.folder, check=True, env={"LANG": "C.UTF-8",
            "PATH": os.environ["PATH"]}, stdout=subprocess.PIPE).stdout
        self.assertEqual(found.splitlines(), expected.splitlines())
        self.assertEqual(found, expected)

    def decoded(self, run):
        """All of pymemcat's columns, from the records."""
        header = run.header
        everything = header.filters.min_drss_bytes == 0
        what = support.trace_pb2().What
        last_next = 0
        for row in decoded_rows.decoded_rows(run.records()):
            definition = row.function or row.code
            name = row.function.qualname if row.function else row.code.name
            yield {
                "event": str(row.number),
                "devent": str(row.number - last_next),
                "clock_s": f"{row.us / 1e6:.6f}", "what": what.Name(row.what),
                "file": row.code.file.decode(), "line": str(row.line),
                "function": name.decode(), "rss_bytes": str(row.rss),
                "drss_bytes": str(row.drss),
                "thread": f"{row.thread.name.decode()}#{row.thread.native_id}",
                "pid": str(header.pid),
                "context": ("" if everything else
                            "PREV" if row.context else "NEXT"),
                "module": definition.module.decode(),
                "rss_exact": "false" if row.inexact else "true",
                "thread_drss_bytes": ""}  # calls alone
            if not row.context:
                last_next = row.number

    def check(self, *options):
        run = self.run_script(PROGRAM, *options)
        self.check_example(run.path, run.cat(*AS_EXAMPLE))
        rows = csv_rows(run)
        self.assertGreater(len(rows), 30)
        self.assertEqual(len({row["thread"] for row in rows}), 4)
        found = list(self.decoded(run))
        self.assertEqual(len(found), len(rows))
        for row, decoded in zip(rows, found):
            self.assertEqual(row, decoded)
        # And the same as JSON lines, as far as these have it.
        for row, line in zip(run.rows(), run.json_rows()):
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

    def test_the_golden_run_of_version_1(self):
        golden = os.path.join(support.SOURCE, "tests", "golden", "run_v1")
        with open(golden + ".csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 20)
        expected = io.StringIO(newline="")
        out = csv.writer(expected)
        out.writerow(EXAMPLE.split(","))
        for row in rows:
            out.writerow([row["number"], f"{int(row['time_us']) / 1e6:.6f}",
                          *(row[name] for name in EXAMPLE.split(",")[2:])])
        self.check_example(golden + ".pb", expected.getvalue().encode())

    def check_heap(self, *options):
        """What the rules predict is what the program did: pymemcat and the
        example took them from FORMAT.md each by itself."""
        run = self.run_script(PROGRAM, "--trace", "none", *options)
        expected = run.cat(*AS_HEAP_EXAMPLE)
        self.assertGreater(expected.count(b"ALLOC"), 30)
        self.check_example(run.path, expected, "example_heap_reader.py")

    def test_all_heap_events(self):
        self.check_heap("--heap", "all")

    def test_sampled_heap_events(self):
        self.check_heap("--heap", "sampled", "--heap-rates", "2KiB")

    def test_the_golden_heap_events_of_version_1(self):
        golden = os.path.join(support.SOURCE, "tests", "golden", "heap_v1")
        with open(golden + ".csv", "rb") as file:
            expected = file.read()
        self.assertEqual(expected.count(b"\n"), 1 + 903)
        self.check_example(golden + ".pb", expected, "example_heap_reader.py")

    def test_raw_is_the_decompressed_stream(self):
        run = self.run_script(PROGRAM, "--min-drss", "0")
        plain = subprocess.run(["zstd", "-dc", run.path], check=True,
                               stdout=subprocess.PIPE).stdout
        self.assertEqual(run.cat("--raw"), plain)


if __name__ == "__main__":
    unittest.main()
