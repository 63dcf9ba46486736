#!/usr/bin/env python3
"""`pymemreport top` books growth where it came about, and its rows add up to
what RSS changed by, whatever the filters left out."""
import json
import unittest

import support

BLAME = """
def innocent():
    return 1
def guilty():
    held = bytearray(50_000_000)
    innocent()
    return held
held = guilty()
"""
CREEP = """
held = []
def creep():
    for _ in range(2000):
        held.append(bytearray(20000))
creep()
"""


class TopPlacesTest(support.ProgramTest):
    def top(self, run, *options):
        rows = json.loads(run.report("top", "--json", "--limit", "0", *options))
        self.assertEqual(rows.pop()["file"], "tracing itself")
        changed = run.footer.last_rss_bytes - run.header.first_rss_bytes
        self.assertEqual(sum(row["net_bytes"] for row in rows), changed)
        return rows

    def test_growth_at_a_call_is_the_callers(self):
        for options in ([], ["--min-drss", "0"], ["--min-drss", "1M"],
                        ["--drss-since", "logged"]):
            run = self.run_script(BLAME, *options)
            first, *others = self.top(run, "--by", "function")
            self.assertEqual((first["function"], first["line"]), ("guilty", 4))
            self.assertGreater(first["growth_bytes"], 49e6)
            self.assertLess(sum(row["growth_bytes"] for row in others), 2e6)

    def test_growth_in_a_library_is_that_of_the_own_line(self):
        """Unless every event is logged: then without --stacks nobody knows."""
        # From Debian 13 on C code would indent.
        run = self.run_script("import json; json.encoder.c_make_encoder = None\n"
                              "rows = list(range(300_000))\n"
                              "text = json.dumps(rows, indent=1)\n")
        first, *_ = self.top(run)
        self.assertEqual((first["file"].rpartition("/")[2], first["line"]),
                         ("script.py", 3))
        first, *_ = self.top(run, "--by", "library-line")
        self.assertTrue(first["file"].endswith("/json/encoder.py"), first)
        first, *_ = self.top(run, "--own", "*/json/*")
        self.assertTrue(first["file"].endswith("/json/__init__.py") or
                        first["file"].endswith("/json/encoder.py"), first)

    def test_what_no_row_has_is_said(self):
        run = self.run_script(CREEP, "--min-drss", "1M")
        last = self.top(run)[-1]
        self.assertEqual(last["file"], "in no logged row")
        self.assertGreater(last["growth_bytes"], 30e6)
        self.assertIsNone(last["share"])
        self.assertIn("  in no logged row", run.report("top", "--limit", "1"))
        self.assertIn("1.0 MiB or more since the event before",
                      run.report("summary"))

    def test_the_whole_is_there_without_filters(self):
        rows = self.top(self.run_script(CREEP, "--min-drss", "0"))
        self.assertNotIn("in no logged row", [row["file"] for row in rows])

    def test_creeping_growth_counts_from_the_last_logged_row(self):
        run = self.run_script(CREEP, "--min-drss", "1M", "--drss-since",
                              "logged")
        first = self.top(run)[0]
        self.assertEqual(first["function"], "creep")
        self.assertGreater(first["growth_bytes"], 30e6)

    def test_what_came_while_tracing_was_off_is_no_rows(self):
        for options in ([], ["--drss-since", "logged"], ["--min-drss", "0"]):
            run = self.run_script("import pymemrun\npymemrun.stop()\n" + CREEP +
                                  "pymemrun.start()\nlen(held)\n", *options)
            *places, last = self.top(run)
            self.assertEqual(last["file"], "in no logged row")
            self.assertGreater(last["growth_bytes"], 30e6)
            self.assertLess(sum(row["growth_bytes"] for row in places), 2e6)


if __name__ == "__main__":
    unittest.main()
