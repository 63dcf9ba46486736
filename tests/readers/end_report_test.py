"""The end report: the same text from the run as from its file, in lines that a
terminal holds, also when the file could not be written whole."""
import os
import resource
import subprocess
import unittest

import support

SCRIPT = """
import sys
held = []
def grow(): held.append(bytearray(8 << 20))
for i in range(3): grow()
"""
# As many events as fill a small file; the highest RSS comes at the end.
NOISY = """
def work(): pass
for i in range(4000000): work()
held = bytearray(32 << 20)
work()
"""
# A name with a byte that is no UTF-8, and with an escape sequence.
HOSTILE = """
name = "\\udcff\\x1b[31m" + "x" * 3000
code = compile("def f(): return b'a' * n\\nheld = f()\\n", "/tmp/\\udcff.py",
               "exec")
inner = code.co_consts[0].replace(co_name=name, co_qualname=name)
exec(code.replace(co_consts=(inner, *code.co_consts[1:])), {"n": 16 << 20})
"""


SHRINKS = """
kept = bytearray(50_000_000)
len(kept); del kept
def shrunk(): pass
shrunk()
"""


class EndReportTest(support.ProgramTest):
    def summary(self, path):
        return subprocess.run([support.PYMEMCAT, "--summary", path], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def check(self, run, columns=100):
        """Both ways to the report give this text; returns its words."""
        self.assertEqual(run.stderr, self.summary(run.path))
        lines = run.stderr.splitlines()
        # Why there are no page-fault counters may take some lines more.
        reason = run.header.rss_source_reason.decode()
        self.assertLess(len(lines) - len(reason) // 50, 12, run.stderr)
        for line in lines:
            self.assertRegex(line, r"\Apymemrun: ( \s)?\S.*\S\Z")
            self.assertLessEqual(len(line), columns, line)
        return " ".join(line[10:].strip() for line in lines)

    def test_a_short_paragraph(self):
        text = self.check(self.pymemrun(self.write("grow.py", SCRIPT)))
        self.assertRegex(text, r"run1\.pb: [\d,]+ events, \d+ rows ")
        self.assertRegex(text, r" 0 dropped, [\d.]+ (KiB|bytes)\.")
        self.assertRegex(text, r"Highest RSS of any row: [\d.]+ MiB at ")
        self.assertIn("grow.py:4 ", text)
        self.assertRegex(text, r"Exit status 0\. [\d,]+ allocations? sampled, "
                               r"[\d,]+ frees?, 0 lost\. pymemrun's own "
                               r"memory: ")
        self.assertRegex(text, r"RSS source: \w+")

    def test_without_calls_there_is_no_rss_source(self):
        text = self.check(self.pymemrun("--trace", "none",
                                        self.write("grow.py", SCRIPT)))
        self.assertIn("Exit status 0. ", text)
        self.assertNotIn("RSS source", text)

    def test_the_highest_row_may_be_context(self):
        run = self.pymemrun("--min-drss", "0", "--function", "shrunk",
                            self.write("shrinks.py", SHRINKS))
        rows = run.rows()
        highest = max(rows, key=lambda row: row["rss_bytes"])
        self.assertEqual((highest["context"], highest["function"]),
                         ("PREV", "len"))
        self.assertRegex(
            self.check(run),
            r"Highest RSS of any row: %.1f MiB at [\d.]+ s, \S+shrinks.py:3 "
            r"len \(C_RETURN," % (highest["rss_bytes"] / 2**20))

    def test_an_interrupt_that_nothing_catches(self):
        script = self.write("interrupted.py", "import os, time\n"
                            "os.kill(os.getpid(), 2)\ntime.sleep(60)\n")
        path = os.path.join(self.folder, "interrupted.pb")
        for argument in ([script], ["-m", "interrupted"]):
            plain = subprocess.run([support.PYTHON, *argument], cwd=self.folder,
                                   stderr=subprocess.PIPE, text=True)
            found = subprocess.run(
                [support.PYMEMRUN, "--force", "-o", path, *argument],
                cwd=self.folder, stderr=subprocess.PIPE, text=True)
            self.assertEqual(found.returncode, plain.returncode)
            self.assertIn("KeyboardInterrupt\n", plain.stderr)
            self.assertTrue(found.stderr.startswith(plain.stderr), found.stderr)
            found.stderr = found.stderr[len(plain.stderr):]
            self.assertIn("Ended by signal 2." if found.returncode == -2 else
                          "Exit status %d." % found.returncode,
                          self.check(support.Run(path, found)))

    def test_an_interrupt_caught_does_not_hide_the_exit_status(self):
        # CPython leaves its mark of the interrupt standing here.
        run = self.pymemrun("-c", "import sys\ntry: exec('raise "
                            "KeyboardInterrupt')\nexcept KeyboardInterrupt: "
                            "sys.exit(3)", status=3)
        self.assertIn("Exit status 3.", self.check(run))

    def test_one_is_not_many(self):
        run = self.pymemrun("--context", "0", "-c", "", env={
            "PYMEMRUN_EVENTS": "call"})
        self.assertIn(" 1 row, 0 dropped", self.check(run))

    def test_names_are_those_of_the_rows(self):
        run = self.pymemrun(self.write("hostile.py", HOSTILE))
        text = self.check(run, columns=300)
        rows = run.cat("--text").decode()
        for name in (r"/tmp/\udcff.py", r"\udcff\x1b[31mxxx"):
            self.assertIn(name, rows)
            self.assertIn(name, text)
        self.assertNotIn("\x1b", text)

    def with_room_for(self, size_bytes, path, *arguments):
        """A run whose file may become only so large."""
        found = subprocess.run(
            [support.PYMEMRUN, "--min-drss", "0", "--compress", "none", "-o",
             path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (size_bytes, size_bytes)))
        self.assertEqual(found.returncode, 0, found.stderr)
        return support.Run(path, found)

    def test_a_disk_that_fills_up(self):
        script = self.write("noisy.py", NOISY)
        path = os.path.join(self.folder, "full.pb")
        text = self.check(self.with_room_for(7 << 20, path, script))
        self.assertRegex(text, r"[\d,]+ lost because the file could not be")
        # Its place was in what is lost.
        self.assertRegex(text, r"Highest RSS of any row: [\d.]+ MiB at "
                               r"[\d.]+ s\.")

    def test_rows_and_context_are_those_in_the_file(self):
        run = self.with_room_for(
            7 << 20, os.path.join(self.folder, "context.pb"), "--events",
            "call", self.write("noisy.py", NOISY))
        footer, batches = run.footer, run.records("events")
        self.assertGreater(footer.lost_on_write, 0)
        rows = sum(len(batch.site) for batch in batches)
        context = sum(len(batch.context_at) for batch in batches)
        self.assertGreater(context, 0)
        self.assertEqual((footer.rows, footer.context_rows), (rows, context))
        self.assertIn(f" {rows:,} rows ({context:,} as context), ",
                      self.check(run))


if __name__ == "__main__":
    unittest.main()
