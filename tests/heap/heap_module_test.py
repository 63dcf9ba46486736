"""What a script does about the heap by `import pymemrun`, and --heap stats."""
import json
import os
import unittest

import support

RULE = "-" * 43 + "\nHEAP USAGE SUMMARY\n"


def rows(table):
    """{upper bound: (count, bytes)} of the table that stands in the text."""
    lines = table.split(RULE)[1].splitlines()
    assert lines[0].split() == ["Size", "Count", "Bytes"], lines[0]
    found = {}
    for line in lines[1:]:
        words = line.split()
        if len(words) != 5 or words[1] != "-":
            break
        found[int(words[2])] = (int(words[3]), int(words[4]))
    return found


class StartTest(support.ProgramTest):
    def test_rates_may_be_set_again_and_again(self):
        run = self.run_script(
            "import pymemrun\n"
            "pymemrun.start(heap={128: 1e-4, 8192: 0.1})\n"
            "pymemrun.start(heap=65536)\n"
            "pymemrun.start(heap={64: 0})\n", "--heap", "sampled")
        self.assertEqual(run.returncode, 0, run.stderr)
        rates = [(r.mean_bytes,
                  [(c.below_bytes, c.probability) for c in r.classes])
                 for r in run.records("heap_rates")]
        self.assertEqual(rates, [
            (32 * 1024, []), (0, [(128, 1e-4), (8192, 0.1)]), (65536, []),
            (0, [(64, 0.0)])])

    def test_what_is_no_rate_is_refused(self):
        run = self.run_script(
            "import pymemrun\n"
            "for heap in ({}, {8: 2}, {0: .5}, 0, {'a': 1}, {1: 'x'}, 'x',\n"
            "             {n: 1 for n in range(1, 18)}):\n"
            "    try: pymemrun.start(heap=heap)\n"
            "    except Exception as e: print(type(e).__name__, end=' ')\n",
            "--heap", "sampled")
        self.assertEqual(run.stdout.split(), ["ValueError"] * 4 +
                         ["TypeError"] * 3 + ["ValueError"])

    def test_what_is_refused_changes_nothing(self):
        run = self.run_script(
            "import os, pymemrun\n"
            "for arguments in (dict(heap='all', output='p.pb'),\n"
            "                  dict(output='-'), dict(output='')):\n"
            "    try: pymemrun.start(**arguments)\n"
            "    except (TypeError, ValueError): print(os.listdir('.'))\n"
            "pymemrun.start(output='q.pb')\n", "--paused")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("p.pb", run.stdout)
        self.assertEqual(run.stdout.count("["), 3)

    def test_a_run_that_never_starts_has_no_heap_events(self):
        run = self.run_script("kept = [str(i) for i in range(1000)]\n",
                              "--paused", "--heap", "all")
        self.assertEqual(run.records("heap"), [])

    def test_without_samples_there_are_no_rates_to_set(self):
        run = self.run_script("import pymemrun\n"
                              "try: pymemrun.start(heap=4096)\n"
                              "except RuntimeError as e: print(e)\n",
                              "--heap", "all")
        self.assertIn("--heap sampled", run.stdout)

    def test_nothing_is_recorded_while_stopped_but_frees(self):
        run = self.run_script(
            "import pymemrun\n"
            "kept = [bytes(100000) for i in range(50)]\n"
            "pymemrun.stop()\n"
            "other = [bytes(70001) for i in range(50)]\n"
            "del kept\n", "--heap", "all", "--trace", "none")
        # With its header a bytes object is 33 bytes longer.
        found = run.cat("--csv", "--records", "heap").decode()
        self.assertEqual(found.count(",100033,"), 50)
        self.assertNotIn(",70034,", found)
        self.assertNotIn("100033", run.report("snapshot", "--at", "exit"))
        places = json.loads(run.report("heap", "--at", "exit", "--json"))
        self.assertLess(sum(p["live_bytes"] for p in places), 50 * 100000)

    def test_a_paused_run_gets_its_name_at_its_start(self):
        code = ("import os, pymemrun\n"
                "os.mkdir('sub'); os.chdir('sub')\n"
                "pymemrun.start(heap={1 << 20: 1}, output='part.pb')\n"
                "kept = [str(i) for i in range(1000)]\n"
                "pymemrun.stop()\n"
                "try: pymemrun.start(output='b.pb')\n"
                "except RuntimeError: print('too late')\n")
        run = self.pymemrun("--paused", self.write("s.py", code))
        self.assertEqual(run.stdout, "too late\n")
        self.assertFalse(os.path.exists(run.path))
        part = os.path.join(os.path.dirname(run.path), "sub", "part.pb")
        self.assertIn(os.path.basename(part), run.stderr)
        records = [r.WhichOneof("kind") for r in support.file_records(part)]
        self.assertEqual((records[0], records[-1]), ("header", "footer"))
        self.assertIn("heap", records)

    def test_no_other_file_is_overwritten(self):
        run = self.run_script("import pymemrun\n"
                              "open('there', 'w').close()\n"
                              "try: pymemrun.start(output='there')\n"
                              "except FileExistsError as e: print(e.filename)\n",
                              "--paused")
        self.assertEqual(run.stdout, "there\n")
        self.assertEqual(len(run.records("footer")), 1)


class SizesTest(support.ProgramTest):
    CODE = ("import pymemrun\n"
            "%s\n"
            "kept = [bytes(3000) for i in range(1000)]\n"
            "%s\n")

    def test_the_table_is_all_and_there_is_no_file(self):
        run = self.run_script(self.CODE % ("", ""), "--heap", "stats",
                              env=support.USUAL)
        self.assertEqual(run.returncode, 0)
        # With its header a bytes object is 33 bytes longer.
        count, size = rows(run.stderr)[4096]
        self.assertGreaterEqual(count, 1000)
        self.assertGreaterEqual(size, 1000 * 3033)
        self.assertNotIn("pymemrun:", run.stderr)
        self.assertFalse(os.path.exists(run.path))

    def test_a_stretch_of_the_program_is_gathered(self):
        run = self.run_script(
            self.CODE % ("pymemrun.gather_stats()",
                         "pymemrun.stop(); kept += [bytes(3000)] * 5"))
        table = rows(run.stderr)
        self.assertEqual(table[4096][0] // 10, 100)
        self.assertNotIn(1 << 20, table)

    def test_starting_what_runs_forgets_nothing(self):
        run = self.run_script(self.CODE % ("", "pymemrun.start()"),
                              "--heap", "stats")
        self.assertGreaterEqual(rows(run.stderr)[4096][0], 1000)
        self.assertEqual(run.stderr.count(RULE), 1)

    def test_what_nobody_stops_is_printed_at_the_end(self):
        run = self.run_script(self.CODE % ("pymemrun.gather_stats()", ""))
        self.assertGreaterEqual(rows(run.stderr)[4096][0], 1000)

    def test_children_print_no_table(self):
        run = self.run_script("import os\n"
                              "if os.fork() == 0: raise SystemExit\n"
                              "os.wait()\n", "--heap", "stats")
        self.assertEqual(run.stderr.count(RULE), 1)


if __name__ == "__main__":
    unittest.main()
