#!/usr/bin/env python3
"""What RSS changes by while tracing is off belongs to no event: the first one
after it begins from RSS as it was at start()."""
import unittest

import support

SLACK = 1_000_000
HIDDEN, SEEN = 40_000_000, 5_000_000

STOPPED = f'''
import pymemrun
keep = []
def hidden():
    for i in range(2000): keep.append(bytearray({HIDDEN // 2000}))
def seen():
    keep.append(bytearray({SEEN}))
def shrinks():
    keep.clear()
pymemrun.stop(); hidden(); pymemrun.start()
seen()
pymemrun.stop(); shrinks(); pymemrun.start()
seen()
pymemrun.start()  # no effect
'''

PAUSED = f'''
import pymemrun
keep = [bytearray({HIDDEN})]
pymemrun.stop()  # no effect
with pymemrun.trace():
    keep.append(bytearray({SEEN})); len(keep)
keep.append(bytearray({HIDDEN}))
'''


class PausesTest(support.ProgramTest):
    def assert_about(self, found, wanted):
        self.assertLess(abs(found - wanted), SLACK)

    def assert_adds_up(self, run, rows, pauses):
        """RSS at the end is that at the begin, and all changes since."""
        changes = [row["drss_bytes"] for row in rows]
        changes += [p.to_rss_bytes - p.from_rss_bytes for p in pauses]
        first = 0 if rows[0]["drss_bytes"] == rows[0]["rss_bytes"] else (
            run.header.first_rss_bytes)
        self.assertEqual(first + sum(changes), rows[-1]["rss_bytes"])

    def test_stopped(self):
        for source in ("statm", "auto", "rusage", "hints"):
            with self.subTest(source):
                run = self.run_script(STOPPED, "--min-drss", "0",
                                      "--rss-source", source)
                rows = run.rows()
                self.assert_nothing_lost(run, rows)
                pauses = run.records("pause")
                self.assertEqual(len(pauses), 2)
                grown, shrunk = (p.to_rss_bytes - p.from_rss_bytes
                                 for p in pauses)
                self.assert_about(grown, HIDDEN)
                self.assert_about(shrunk, -HIDDEN - SEEN)
                self.assert_adds_up(run, rows, pauses)
                for pause in pauses:
                    first = rows[pause.next_number]
                    self.assertEqual((first["what"], first["function"]),
                                     ("CALL", "seen"))
                    self.assertLess(abs(first["drss_bytes"]), SLACK)
                    self.assertEqual(first["rss_bytes"] - first["drss_bytes"],
                                     pause.to_rss_bytes)
                    self.assertLess(pause.from_us, pause.to_us)
                    self.assertLessEqual(pause.to_us / 1e6,
                                         float(first["clock_s"]) + 1e-6)

    def test_blames_nobody_in_a_profile(self):
        for since in ("previous", "logged"):
            with self.subTest(since):
                run = self.run_script(STOPPED, "--min-drss", "1M",
                                      "--context", "0", "--drss-since", since)
                rows = run.rows()[1:]
                self.assertEqual([(row["what"], row["function"])
                                  for row in rows],
                                 [("C_CALL", "list.append")] * 2)
                for row in rows:
                    self.assert_about(row["drss_bytes"], SEEN)

    def test_paused_from_the_begin(self):
        run = self.run_script(PAUSED, "--min-drss", "0", "--paused")
        rows = run.rows()
        self.assert_nothing_lost(run, rows)
        pause, last = run.records("pause")
        self.assertEqual(pause.next_number, 0)
        self.assertEqual(pause.from_rss_bytes, run.header.first_rss_bytes)
        self.assert_about(pause.to_rss_bytes - pause.from_rss_bytes, HIDDEN)
        self.assert_about(sum(row["drss_bytes"] for row in rows), SEEN)
        self.assert_adds_up(run, rows, [pause])
        self.assertGreater(last.from_us, pause.to_us)
        self.assertIn(f"{pause.to_rss_bytes / 2**20:.1f} MiB when tracing "
                      "began", run.report("summary"))

    def test_what_a_pause_until_the_end_hides_is_not_called_free(self):
        code = f"import pymemrun\npymemrun.stop()\nb = bytearray({HIDDEN})\n"
        for options in (["--trace", "calls,pages", "--heap", "sampled"], ["--light"]):
            with self.subTest(options):
                run = self.run_script(code, *options)
                pause, = run.records("pause")
                self.assertLessEqual(pause.to_us, run.footer.end_us)
                text = run.report("report")
                self.assertIn("free, or not recorded", text)
                self.assertIn("Not recorded: what was allocated while tracing was off",
                              text)

    def test_pauses_without_calls(self):
        code = "import pymemrun\n" + 2 * "pymemrun.stop()\npymemrun.start()\n"
        run = self.run_script("import pymemrun\npymemrun.start()\n" + code, "--light",
                              "--paused")
        pauses = run.records("pause")
        self.assertEqual(len(pauses), 3)
        self.assertEqual(pauses, sorted(pauses, key=lambda pause: pause.from_us))
        for pause in pauses:
            self.assertLessEqual(pause.from_us, pause.to_us)
            self.assertEqual((pause.from_rss_bytes, pause.to_rss_bytes), (0, 0))


if __name__ == "__main__":
    unittest.main()
