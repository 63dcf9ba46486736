#!/usr/bin/env python3
"""Tables of a run: by SQL, as tuples of the Python module, and in other tools by Arrow."""
import collections
import csv
import glob
import importlib
import io
import os
import pprint
import subprocess
import sys
import unittest

import support

sys.path.insert(0, os.environ.get("PYMEMRUN_READER_PATH", "."))
import pymemrun_reader  # noqa: E402  where the line above says

PROGRAM = """
import asyncio, threading, time
import pymemrun
kept = []
def make(n):
    kept.append([str(i) * 4 for i in range(n)])
async def step(n):
    make(n)
    await asyncio.sleep(0)
async def main():
    await asyncio.gather(*(step(2000) for _ in range(5)))
asyncio.run(main())
pymemrun.mark("half")
pymemrun.counter("rows", 10.5)
thread = threading.Thread(target=make, args=(2000,), name="worker")
thread.start()
thread.join()
"""
# What such a run always has rows of.
FILLED = {"places", "blocks", "events", "event_sums", "heap_events", "samples", "counters", "marks",
          "task_steps", "tasks", "gil_events", "threads", "stacks", "mappings", "thread_memory",
          "gil_threads", "pages", "processes"}


class RelationsTest(support.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        script = os.path.join(cls.folder, "program.py")
        with open(script, "w") as file:
            file.write(PROGRAM)
        cls.run_path = os.path.join(cls.folder, "run.pb")
        subprocess.run([support.PYMEMRUN, "--quiet", "--trace", "calls,pages,gil,tasks,counters",
                        "--heap", "all", "--native", "--objects", "exit", "-o", cls.run_path, script],
                       check=True, cwd=cls.folder)

    def query(self, sql, *options):
        done = subprocess.run([support.PYMEMREPORT, "query", self.run_path, sql, "--csv", *options],
                              stdout=subprocess.PIPE, text=True, check=True)
        return list(csv.reader(io.StringIO(done.stdout)))

    def names(self):
        done = subprocess.run([support.PYMEMREPORT, "tables", "--csv"], stdout=subprocess.PIPE,
                              text=True, check=True)
        return list(dict.fromkeys(row["table"] for row in csv.DictReader(io.StringIO(done.stdout))))

    def test_the_page_of_the_docs_lists_them(self):
        page = os.path.join("docs", "tables.md")
        printed = subprocess.run([support.PYMEMREPORT, "tables", "--markdown"],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
        with open(os.path.join(support.SOURCE, page)) as file:
            self.assertEqual(file.read(), printed, "pymemreport tables --markdown > " + page)

    def test_rows_are_those_of_sql(self):
        run = pymemrun_reader.open(self.run_path)
        for name in self.names():
            relation = run.relation(name)
            rows = list(relation)
            heading, *lines = self.query("SELECT * FROM " + name)
            self.assertEqual([column[0] for column in relation.columns] + ["run"], heading)
            self.assertEqual(len(rows), len(lines), name)
            for row, line in zip(rows, lines):
                for value, text in zip(row, line):
                    if isinstance(value, float):
                        self.assertEqual(float(text), value, name)
                    else:
                        self.assertEqual(text, "" if value is None else str(value), name)
            if name in FILLED:
                self.assertTrue(rows, name)

    def test_queries_give_named_tuples(self):
        run = pymemrun_reader.open(self.run_path)
        mark, = run.query("SELECT label, 1.5 AS number, NULL AS missing FROM marks")
        self.assertEqual((mark.label, mark.number, mark.missing), ("half", 1.5, None))
        for wrong in "SELECT x FROM events", "DELETE FROM events", "ATTACH 'x' AS y":
            with self.assertRaisesRegex(ValueError, "^SQL: "):
                run.query(wrong)
        self.assertIn("Relation marks: a mark", pprint.pformat(run.relation("marks")))
        with self.assertRaisesRegex(ValueError, "expected one of places"):
            run.relation("nodes")
        for table in "blocks", "places":
            with self.assertRaisesRegex(ValueError, "^--at: .*no such mark"):
                run.query("SELECT count(*) FROM " + table, at="no such mark")
        run.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            run.query("SELECT 1")

    def test_blocks_are_those_that_the_heap_report_counts(self):
        done = subprocess.run([support.PYMEMREPORT, "heap", self.run_path, "--at", "end", "--csv",
                               "--limit", "0"], stdout=subprocess.PIPE, text=True, check=True)
        reported = collections.Counter()
        for row in csv.DictReader(io.StringIO(done.stdout)):
            if row["file"].endswith("/program.py"):
                reported[row["line"]] += int(row["live_bytes"])
        found = {line: int(size) for line, size in self.query(
            "SELECT own_line, sum(size_bytes) FROM blocks WHERE own_file LIKE '%/program.py' "
            "GROUP BY 1", "--at", "end")[1:]}
        self.assertEqual(found, reported)

    def test_pages_and_processes_are_as_their_reports_have_them(self):
        def report(*words):
            done = subprocess.run([support.PYMEMREPORT, *words, "--csv"], stdout=subprocess.PIPE,
                                  text=True, check=True)
            return list(csv.DictReader(io.StringIO(done.stdout)))
        run = pymemrun_reader.open(self.run_path)
        for at in "peak", "50%", "exit":
            rows = report("resident", self.run_path, "--at", at)
            self.assertEqual(sum(row[2] for row in run.relation("pages", at=at)),
                             sum(int(row["resident_bytes"]) for row in rows), at)
        process, = run.query("SELECT * FROM processes")
        there, = report("processes", self.run_path)
        for column in "pid", "parent_pid", "command", "peak_bytes", "growth_bytes", "top_line":
            self.assertEqual(str(getattr(process, column)), there[column], column)

    def test_a_forked_process_has_what_its_parent_had(self):
        script = os.path.join(self.folder, "fork.py")
        with open(script, "w") as file:
            file.write("import os\nkept = [bytes(2000) for _ in range(1000)]\n"
                       "if os.fork():\n    os.wait()\n"
                       "else:\n    more = [bytes(2000) for _ in range(100)]\n")
        path = os.path.join(self.folder, "fork.pb")
        subprocess.run([support.PYMEMRUN, "--quiet", "--heap", "all", "-o", path, script],
                       check=True)
        child, = glob.glob(os.path.join(self.folder, "fork.*.pb"))
        inherited, = pymemrun_reader.open(child).query(
            "SELECT count(*) AS blocks FROM blocks WHERE own_line = 2 AND size_bytes / 100 = 20")
        self.assertEqual(inherited.blocks, 1000)
        parent, child = (next(iter(pymemrun_reader.open(each).query(
            "SELECT pid, parent_pid, live_peak_bytes FROM processes"))) for each in (path, child))
        self.assertEqual(child.parent_pid, parent.pid)
        self.assertGreater(child.live_peak_bytes, 2000 * 1000)

    def test_objects_have_relations_too(self):
        dump = pymemrun_reader.objects(self.run_path.replace(".pb", ".obj.pb"))
        types = {row[0]: row[2] for row in dump.relation("types")}
        counted = {}
        for row in dump.relation("nodes"):
            counted[row[2]] = counted.get(row[2], 0) + 1
        for name, count in types.items():
            if count:
                self.assertEqual(counted[name], count, name)
        with self.assertRaisesRegex(ValueError, "expected one of nodes, edges"):
            dump.relation("events")

    def assert_others_read(self, module, rows_of):
        """That another tool reads each table as the tuples are."""
        try:
            tool = importlib.import_module(module)
        except ImportError:
            self.skipTest(module + " is not installed")
        run = pymemrun_reader.open(self.run_path)
        dump = pymemrun_reader.objects(self.run_path.replace(".pb", ".obj.pb"))
        tables = [(run, name) for name in self.names()]
        tables += [(dump, name) for name in ("nodes", "edges", "types")]
        for of, name in tables:
            wanted = list(of.relation(name))
            for row, tuples in zip(rows_of(tool, of.relation(name)), wanted, strict=True):
                self.assertEqual(row, tuples, name)

    def test_pyarrow_reads_them(self):
        self.assert_others_read("pyarrow", lambda pyarrow, relation: [
            tuple(row.values()) for row in pyarrow.table(relation).to_pylist()])

    def test_polars_reads_them(self):
        self.assert_others_read("polars",
                                lambda polars, relation: polars.DataFrame(relation).rows())

    def test_duckdb_reads_them(self):
        self.assert_others_read("duckdb", lambda duckdb, relation: duckdb.sql(
            "SELECT * FROM relation").fetchall())

    def test_pandas_reads_them(self):
        def rows_of(pandas, relation):
            frame = pandas.DataFrame.from_arrow(relation)
            known = frame.astype(object).where(frame.notna(), None)
            return list(known.itertuples(index=False, name=None))
        self.assert_others_read("pandas", rows_of)


if __name__ == "__main__":
    unittest.main()
