#!/usr/bin/env python3
"""What is logged is what was asked for: each filter against the same run with
everything logged, and context rows."""
import os
import unittest

import support
from page_support import ALL_CODE_IS_THERE

# Deterministic; three files.
PROGRAM = r'''
import helpers.one, helpers.two
def local(n):
    return abs(n)
class Thing(list):
    def fill(self):
        self.append(local(-1))
def fails():
    try:
        int("x" * len("y")), [].pop()
    except (ValueError, IndexError):
        pass
    try:
        [].pop()
    except IndexError:
        pass
for n in range(5):
    local(n)
    Thing().fill()
    helpers.one.work(n)
    helpers.two.work(n)
    fails()
'''
HELPER = r'''
def work(n):
    return inner(n) + len("abc")
def inner(n):
    return max(n, 1)
'''

# Events at known distances from known growths, in a warm interpreter.
GROWTHS = r'''
import mmap
# Pages that are there for the objects made below: none comes for these.
spare = [bytes(500) for n in range(2000)]
del spare[1000:]
data = memoryview(b"\1" * (64 * 4096))
def quiet(n):
    abs(n)
def grow(pages):
    m = mmap.mmap(-1, 64 * 4096, mmap.MAP_PRIVATE)
    m.write(data[:pages * 4096])
    m.close()
def run(sizes):
    for pages in sizes:
        grow(pages)
        for n in range(8):
            quiet(n)
for n in range(20):
    run([1, 1])
def counted():
    run([1, 2, 3, 10, 40])
counted()
'''

CREEP = ALL_CODE_IS_THERE + r'''
import mmap, pymemrun
page = b"\1" * 4096
def creep(count):
    m = mmap.mmap(-1, count * 4096, mmap.MAP_PRIVATE)
    for n in range(count):
        m.write(page)
    return m
creep(2).close(); pymemrun.mark("counted")
creep(100)
'''

THREADS = r'''
import threading
def work():
    for n in range(20):
        len("x")
for name in ("reader-1", "writer", "reader-2"):
    t = threading.Thread(target=work, name=name)
    t.start()
    t.join()
work()
'''

def logged(rows):
    return [row for row in rows if row["context"] != "PREV"]


def identity(row):
    return (row["event"], *support.event_of(row))


class FiltersTest(support.ProgramTest):
    def setUp(self):
        # Once: their bytecode, made by the first run, is to stay valid.
        if os.path.exists(os.path.join(self.folder, "helpers")):
            return
        self.write("helpers/__init__.py", "")
        self.write("helpers/one.py", HELPER)
        self.write("helpers/two.py", HELPER)

    def everything(self):
        if not hasattr(type(self), "_full"):
            # Once before: the bytecode of the helpers is there then.
            self.run_python(self.write("program.py", PROGRAM))
            self.run_python(self.write("program.py", PROGRAM))
            run = self.run_script(PROGRAM, "--min-drss", "0",
                                  name="program.py")
            type(self)._full = run.rows()
            self.assert_nothing_lost(run, self._full)
        return self._full

    def check(self, options, passes):
        with self.subTest(options):
            expected = [identity(row) for row in self.everything()
                        if passes(row)]
            self.assertTrue(expected)
            run = self.run_script(PROGRAM, "--min-drss", "0", "--context", "0",
                                  *options, name="program.py")
            rows = run.rows()
            self.assertEqual([identity(row) for row in rows], expected)
            self.assertEqual(run.footer.events, len(self.everything()))
            self.assertEqual(run.footer.rows, len(rows))

    def test_kinds(self):
        for kinds in ("call", "return", "c_call", "c_return", "c_except",
                      "call,c_except", "c_call,c_return"):
            names = kinds.upper().split(",")
            self.check(["--events", kinds], lambda row: row["what"] in names)

    def test_files(self):
        one, two = "helpers/one.py", "helpers/two.py"
        self.check(["--include", "*/helpers/one.py"],
                   lambda row: row["file"].endswith(one))
        self.check(["--include", "*/helpers/one.py", "--include", "*two*"],
                   lambda row: row["file"].endswith((one, two)))
        self.check(["--exclude", "*/helpers/*", "--exclude", "<frozen*"],
                   lambda row: "/helpers/" not in row["file"] and
                   not row["file"].startswith("<frozen"))
        self.check(["--include", self.folder + "/*", "--exclude", "*/two.py"],
                   lambda row: row["file"].startswith(self.folder) and
                   not row["file"].endswith("two.py"))

    def test_functions(self):
        self.check(["--function", "work"],
                   lambda row: row["function"] == "work")
        self.check(["--function", "Thing.*", "--function", "loc?l"],
                   lambda row: row["function"].startswith("Thing.") or
                   row["function"] == "local")
        self.check(["--function", "inner", "--include", "*/two.py",
                    "--events", "return"],
                   lambda row: row["function"] == "inner" and
                   row["file"].endswith("two.py") and row["what"] == "RETURN")

    def test_threads(self):
        for option, names in (("reader-*", ["reader-1", "reader-2"]),
                              ("MainThread", ["MainThread"]),
                              ("writer", ["writer"])):
            run = self.run_script(THREADS, "--min-drss", "0", "--thread",
                                  option)
            rows = logged(run.rows())
            self.assertEqual(sorted({row["thread"].rpartition("#")[0]
                                     for row in rows}), sorted(names))
            work = [row for row in rows if row["function"] == "work" and
                    row["what"] == "CALL"]
            self.assertEqual(len(work), len(names))

    def test_sizes(self):
        """Each way to write a size; in the region only known changes."""
        source = self.exact_sources()[0]
        for size, limit in (("4096", 1), ("1", 1), ("4KiB", 1), ("8k", 2),
                            ("8192", 2), ("12288", 3), ("0x9", None),
                            ("40000", 10), ("160KiB", 40), ("1M", 256)):
            with self.subTest(size):
                if limit is None:
                    result = self.pymemrun("--min-drss", size, "-c", "",
                                           status=2)
                    self.assertIn("--min-drss", result.stderr)
                    continue
                run = self.run_script(GROWTHS, "--min-drss", size,
                                      "--rss-source", source)
                changes = [row["drss_bytes"] // 4096
                           for row in logged(run.rows())
                           if row["function"] in ("mmap.write", "mmap.close")]
                expected = []
                for pages in (1, 2, 3, 10, 40):
                    if pages >= limit:
                        expected += [pages, -pages]
                self.assertEqual(changes[len(changes) - len(expected):],
                                 expected)
                if limit > 1:
                    self.assertEqual(changes, expected)

    def test_context(self):
        for context in (0, 1, 2, 3, 5, 100):
            for options in ([], ["--min-drss", "8KiB"]):
                with self.subTest(context=context, options=options):
                    run = self.run_script(GROWTHS, "--context", str(context),
                                          *options)
                    self.check_context(run, context)

    def check_context(self, run, context):
        rows = run.rows()
        limit = run.header.filters.min_drss_bytes
        numbers = [row["event"] for row in rows]
        self.assertEqual(numbers, sorted(set(numbers)))
        expected = set()
        last = None
        for row in rows:
            if row["context"] == "PREV":
                self.assertLess(abs(row["drss_bytes"]), limit)
            else:
                self.assertEqual(row["context"], "NEXT")
                self.assertGreaterEqual(abs(row["drss_bytes"]), limit)
                first = max(0, row["event"] - context)
                expected.update(range(first, row["event"] + 1))
            # The distance is from the last NEXT row, for both kinds.
            self.assertEqual(row["devent"],
                             0 if last is None else row["event"] - last)
            if row["context"] == "NEXT":
                last = row["event"]
        self.assertEqual(set(numbers), expected)
        self.assertEqual(run.footer.rows, len(rows))
        self.assertEqual(run.footer.context_rows,
                         len(rows) - len(logged(rows)))
        # Every row says the RSS at its event: no step is lost between rows
        # that follow one another.
        for before, row in zip(rows, rows[1:]):
            if row["event"] == before["event"] + 1:
                self.assertEqual(row["rss_bytes"] - row["drss_bytes"],
                                 before["rss_bytes"])

    def test_context_of_what_a_filter_lets_pass(self):
        """--min-drss 0 with another filter: rows have their context, too."""
        full = self.everything()
        for context in (None, 1, 3, 1000):
            for options, passes in (
                    (["--function", "work"],
                     lambda row: row["function"] == "work"),
                    (["--events", "c_except"],
                     lambda row: row["what"] == "C_EXCEPT"),
                    (["--include", "*/two.py"],
                     lambda row: row["file"].endswith("/two.py"))):
                with self.subTest(context=context, options=options):
                    self.check_filtered_context(full, context, options, passes)

    def check_filtered_context(self, full, context, options, passes):
        if context is not None:
            options = options + ["--context", str(context)]
        run = self.run_script(PROGRAM, "--min-drss", "0", *options,
                              name="program.py")
        rows = run.rows()
        expected = {}
        for row in full:
            if passes(row):
                first = max(0, row["event"] - (context or 1))
                expected.update({number: "PREV" for number in
                                 range(first, row["event"])
                                 if number not in expected})
                expected[row["event"]] = "NEXT"
        self.assertIn("PREV", expected.values())
        self.assertEqual([(row["event"], row["context"]) for row in rows],
                         sorted(expected.items()))
        self.assertEqual([identity(row) for row in rows],
                         [identity(full[row["event"]]) for row in rows])
        self.assertEqual(run.footer.context_rows, len(rows) -
                         len(logged(rows)))

    def test_everything_logged_has_no_context(self):
        for options in ([], ["--context", "5"], ["--stacks"]):
            run = self.run_script(PROGRAM, "--min-drss", "0", *options,
                                  name="program.py")
            self.assertEqual({row["context"] for row in run.rows()}, {""})
            self.assertEqual(run.footer.context_rows, 0)

    def test_the_row_before_a_growth(self):
        rows = self.run_script(GROWTHS, "--rss-source",
                               self.exact_sources()[0]).rows()
        at = [n for n, row in enumerate(rows) if row["what"] == "C_RETURN" and
              row["function"] == "mmap.write"]
        self.assertGreaterEqual(len(at), 5)
        for n in at:
            self.assertEqual((rows[n]["context"], rows[n - 1]["context"]),
                             ("NEXT", "PREV"))
            self.assertEqual(rows[n - 1]["event"], rows[n]["event"] - 1)
            self.assertEqual(support.event_of(rows[n - 1])[::3],
                             ("C_CALL", "mmap.write"))

    def test_creep(self):
        """Growth in steps below the limit is seen against the last row."""
        def written(*options):
            run = self.run_script(CREEP, "--min-drss", "64KiB", *options)
            # What grew before may have made a row.
            first = run.records("mark")[0].next_number
            return [row for row in logged(run.rows())
                    if row["function"] == "mmap.write" and row["event"] >= first]
        self.assertEqual(written(), [])
        self.assertEqual(written("--drss-since", "previous"), [])
        rows = written("--drss-since", "logged")
        self.assertIn(len(rows), (6, 7))  # of 100 pages; what grew before may count
        for before, row in zip(rows, rows[1:]):
            self.assertEqual(row["rss_bytes"] - before["rss_bytes"], 65536)
            self.assertEqual(row["event"] - before["event"], 32)
            self.assertEqual(row["drss_bytes"], 4096)


if __name__ == "__main__":
    unittest.main()
