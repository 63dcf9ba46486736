"""Names that a program may have and a terminal, a spreadsheet or a parser must
not obey: escape sequences, NUL, surrogates, bidi marks, formulas."""
import csv
import io
import json
import unicodedata
import unittest

from fault_support import PYMEMCAT, PYMEMREPORT, PYMEMRUN, FaultTest, run

HOSTILE = ["\x1b]0;owned\x07", "\x1b[2J\x1b[31mred", "a\x00b", "\udcff\ud800",
           "\u202egnp.exe", "\u2066x\u2069", "=cmd|' /C calc'!A0", "+1+1",
           "-2+3", "@SUM(A1)", "\tx", "\rx", "a,b\"c\nd", "\u2028", "\x9b31m",
           "</script><img onerror=x>", "\\x1b", "\u200b", "x" * 5000]

# Each name is a function's and a file's; f_hold makes the growth `top` shows.
HOSTILE_SCRIPT = """
names = %r
held = []
def hold(): held.append(bytearray(1 << 20))
for i, name in enumerate(names):
    code = compile("def f(): hold()\\nf()\\n", "h%%d.py" %% i, "exec")
    inner = code.co_consts[0].replace(co_name=name, co_qualname=name,
                                      co_filename=name)
    code = code.replace(co_consts=(inner, *code.co_consts[1:]),
                        co_filename=name)
    exec(code)
import threading
thread = threading.Thread(target=hold, name=names[0] + names[4])
thread.start(); thread.join()
"""

# The RSS is highest at the RETURN of this file's function.
HOSTILE_PLACE = """
name = %a
code = compile("def f(): return b'a' * n\\nheld = f()\\n", "h.py", "exec")
inner = code.co_consts[0].replace(co_filename=name)
exec(code.replace(co_consts=(inner, *code.co_consts[1:])), {"n": 16 << 20})
"""


class HostileNamesTest(FaultTest):
    @classmethod
    def allowed(cls, character):
        if character in "\n ":
            return True
        # Controls, bidi marks and what else is invisible; unassigned or
        # private characters do no harm.
        return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl",
                                                       "Zp")

    def setUp(self):
        super().setUp()
        script = self.script(HOSTILE_SCRIPT % HOSTILE)
        self.same([script])

    def printed(self, *command, status=0):
        found = run([*command, self.output])
        self.assertEqual((found.returncode, found.stderr), (status, b""))
        return found.stdout.decode()  # which fails unless it is UTF-8

    def assert_harmless(self, text, besides=""):
        bad = {c for c in text if not self.allowed(c) and c not in besides}
        self.assertEqual(bad, set())

    def test_text(self):
        text = self.printed(PYMEMCAT)
        self.assert_harmless(text)
        self.assertIn("owned", text)
        self.assertIn("onerror", text)

    def test_summaries(self):
        for command in ([PYMEMCAT, "--summary"], [PYMEMREPORT, "summary"],
                        [PYMEMREPORT, "top", "--limit", "100"],
                        [PYMEMREPORT, "top", "--by", "function"],
                        [PYMEMREPORT, "top", "--by", "file"],
                        [PYMEMREPORT, "top", "--by", "thread"]):
            with self.subTest(command[1:]):
                self.assert_harmless(self.printed(*command))

    def written(self, *command):
        """What the command writes with -o, which is what it prints."""
        path = self.path("table")
        self.assertEqual(self.printed(*command, "-o", path), "")
        with open(path, newline="", encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text, self.printed(*command))
        return text

    def check_cells(self, text):
        # A cell may hold anything but what a spreadsheet takes for a formula;
        # a terminal gets no control characters by it either.
        rows = list(csv.reader(io.StringIO(text, newline="")))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        texts = [i for i, name in enumerate(rows[0])
                 if name.split("_")[-1] in ("file", "function", "thread",
                                            "module", "command", "host")]
        for row in rows[1:]:
            for i in texts:
                self.assertNotIn(row[i][:1], tuple("=+-@\t\r"), row[i])
        return rows

    def test_csv(self):
        for command in ([PYMEMCAT, "--csv"],
                        [PYMEMREPORT, "top", "--csv", "--limit", "1000"]):
            with self.subTest(command[1:]):
                text = self.printed(*command)
                self.check_cells(text)
                self.assertNotIn("\x1b", text)
                self.assertNotIn("\0", text)
                self.assertIn("'=cmd", text)

    def test_tables_of_reports(self):
        for words in (["top"], ["top", "--by", "function"],
                      ["top", "--by", "file"], ["top", "--by", "thread"],
                      ["summary"]):
            for limit in ("0", "3"):
                with self.subTest(words=words, limit=limit):
                    command = [PYMEMREPORT, *words, "--limit", limit]
                    self.assert_harmless(self.written(*command))
                    text = self.written(*command, "--csv")
                    self.assert_harmless(text, "\t\r")
                    self.check_cells(text)
                    text = self.written(*command, "--json")
                    self.assert_harmless(text)
                    self.assertIsInstance(json.loads(text)[0], dict)

    def test_summary_of_a_hostile_place(self):
        name = "=cmd\x1b[2J\u202e\udcff\0,\""
        self.same([self.script(HOSTILE_PLACE % name)])
        text = self.printed(PYMEMREPORT, "summary", "--csv")
        self.assert_harmless(text, "\r")
        row = self.check_cells(text)[1]
        self.assertIn('\'=cmd\\x1b[2J\\u202e\\udcff\\x00,"', row)
        found = json.loads(self.printed(PYMEMREPORT, "summary", "--json"))[0]
        self.assertEqual(found["highest_rss_file"], name)
        self.assertIn("=cmd\\x1b[2J\\u202e\\udcff\\x00,",
                      self.printed(PYMEMREPORT, "summary"))

    def test_csv_of_names_as_they_are(self):
        self.assertIn("=cmd", self.printed(PYMEMCAT, "--csv", "--raw-text"))
        self.assertNotIn("'=cmd",
                         self.printed(PYMEMCAT, "--csv", "--raw-text"))

    def test_jsonl(self):
        text = self.printed(PYMEMCAT, "--jsonl")
        rows = [json.loads(line) for line in text.split("\n")[:-1]]
        self.assertGreater(len(rows), len(HOSTILE))
        self.assertEqual({c for c in text if ord(c) < 0x20}, {"\n"})
        self.assertIn("=cmd|' /C calc'!A0", {row["function"] for row in rows})
        self.assert_harmless(
            self.printed(PYMEMREPORT, "top", "--json", "--limit", "100"),
            "\u2028\u202e\u2066\u2069\u200b")

    def test_end_report(self):
        found = run([PYMEMRUN, "-o", self.new_run(), self.path("s.py")],
                    cwd=self.folder)
        self.assertEqual(found.returncode, 0)
        self.assert_harmless(found.stderr.decode())

    def test_hostile_paths_in_messages(self):
        for name in ("\x1b]0;x\x07.pb", "\u202e.pb", b"\xff\xfe.pb"):
            for tool in ([PYMEMCAT], [PYMEMREPORT, "summary"]):
                found = run([*tool, name])
                self.assertEqual(found.returncode, 1)
                self.assert_harmless(found.stderr.decode())
            found = run([PYMEMRUN, "-o", name, "-c", "pass"], cwd=self.folder)
            self.assertEqual(found.returncode, 0)
            self.assert_harmless(found.stderr.decode())


if __name__ == "__main__":
    unittest.main()
