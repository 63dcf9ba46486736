"""The end report: the answer's first lines, or what the file tells, in lines that a
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
        """The summary's words; the end report is the answer, or the same text."""
        lines = self.summary(run.path).splitlines()
        # Why there are no page-fault counters may take some lines more.
        reason = run.header.rss_source_reason.decode()
        self.assertLess(len(lines) - len(reason) // 50, 12, lines)
        for line in lines + run.stderr.splitlines():
            self.assertRegex(line, r"\Apymemrun: ( +)?\S.*\S\Z")
            self.assertLessEqual(len(line), columns, line)
        self.assertIn(f"pymemrun: More: pymemreport {run.path}\n", run.stderr)
        if "pymemrun: Peak " not in run.stderr:
            self.assertTrue(set(lines) <= set(run.stderr.splitlines()), run.stderr)
        return " ".join(line[10:].strip() for line in lines)

    def test_it_is_the_first_lines_of_the_answer(self):
        run = self.pymemrun(self.write("grow.py", SCRIPT))
        self.check(run)
        lines = [line[10:] for line in run.stderr.splitlines()]
        answer = subprocess.run(
            [support.PYMEMREPORT, "report", "--brief", run.path], check=True,
            stdout=subprocess.PIPE, text=True, env={"COLUMNS": "70"}).stdout
        answer = [line for line in answer.splitlines() if line]
        self.assertEqual(lines[:len(answer)], answer)
        self.assertRegex(answer[0], r"\APeak \d+ MiB at [\d.]+ s\. grow\.py:4 holds 24 MiB ")
        self.assertRegex(run.stderr, r"\n.*24 MiB.* %  grow\.py:4  def grow\(\): held")
        self.assertLess(len(lines), 9)

    def test_a_program_that_fails_or_is_quiet(self):
        script = self.write("fails.py", "import sys; sys.exit(7)\n")
        run = self.pymemrun(script, status=7)
        self.assertIn("pymemrun: Exit status 7.", run.stderr)
        self.assertEqual(self.pymemrun("--quiet", script, status=7).stderr, "")

    def test_a_long_run_has_no_answer_yet(self):
        run = self.pymemrun("--heap", "all", "--trace", "none", self.write(
            "long.py", "for i in range(700000): a = [i]\nfor i in range(700000): a = [i]\n"))
        self.check(run)
        self.assertNotIn("Peak", run.stderr)
        self.assertIn("VmHWM: ", run.stderr)

    def test_a_short_paragraph(self):
        text = self.check(self.pymemrun(self.write("grow.py", SCRIPT)))
        self.assertRegex(text, r"run\d+\.pb: [\d,]+ events, \d+ rows ")
        self.assertRegex(text, r" 0 dropped, [\d.]+ (KiB|bytes)\.")
        self.assertRegex(text, r"Highest RSS at an event: [\d.]+ MiB at ")
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
            r"Highest RSS at an event: %.1f MiB at [\d.]+ s\."
            % (highest["rss_bytes"] / 2**20))

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
        self.check(run, columns=300)
        rows = run.cat("--text").decode()
        self.assertIn(r"/tmp/\udcff.py", rows)
        self.assertIn(r"\udcff.py:1 holds 16 MiB", run.stderr)
        self.assertNotIn("\x1b", run.stderr)

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
        self.assertRegex(text, r"Highest RSS at an event: [\d.]+ MiB at "
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
