"""Reports on a terminal: as wide as it is, with colours only there, and plain
text where a program reads it."""
import json
import os
import pty
import re
import subprocess
import unittest

import support

SCRIPT = """
import json
held = []
def grow_by_a_function_with_a_long_name(): held.append(bytearray(8 << 20))
for i in range(3): grow_by_a_function_with_a_long_name()
text = json.dumps(list(range(100000)))
"""
COMMANDS = (["report"], ["heap"], ["heap", "--stacks"], ["heap", "--at", "0", "--to", "end"],
            ["resident"], ["resident", "--by", "mapping"], ["resident", "--stacks"], ["top"],
            ["threads"], ["processes"], ["history"], ["snapshot"], ["summary"], ["heap", "--by", "thread"],
            ["tree"], ["tree", "--inverted"], ["stats"], ["top", "--thread", "MainThread"])
QUESTIONS = os.path.join(support.SOURCE, "examples", "questions")


def on_terminal(columns, *words, env=None, error_too=False):
    """What a program prints on a terminal that wide."""
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "cols", str(columns), "-onlcr"], stdin=theirs, check=True)
    env = {"PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8", **(env or {})}
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=subprocess.STDOUT if error_too else subprocess.PIPE,
                          env=env) as program:
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the terminal has no writer any more
                break
            if not piece:
                break
            text += piece
    os.close(ours)
    return text.decode()


class TerminalTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        script = self.write("a_long_name_of_a_script.py", SCRIPT)
        self.run_file = self.pymemrun("--heap", "all", script).path

    def report(self, columns, *words, env=None, error_too=False):
        command, *options = words
        return on_terminal(columns, support.PYMEMREPORT, command, self.run_file, *options,
                           env=env, error_too=error_too)

    def test_each_report_is_as_wide_as_the_terminal(self):
        for columns in 40, 80, 132:
            for words in COMMANDS:
                self.check_width(columns, *words)

    def test_reports_of_other_programs_fit_narrow_terminals(self):
        for name in "thread.py", "leaking_cache.py":
            other, self.run_file = self.run_file, self.pymemrun(
                os.path.join(QUESTIONS, name)).path
            for columns in 40, 53:
                for words in *COMMANDS, ["diff", other], ["diff", self.run_file]:
                    self.check_width(columns, *words)

    def check_width(self, columns, *words):
        with self.subTest(words, columns=columns):
            text = re.sub(r"\x1b\[\d*m", "", self.report(columns, *words))
            for line in text.splitlines():
                self.assertLessEqual(len(line), columns, line)
                # :16 is not shown as :1.
                self.assertNotRegex(line, r"\.py(:\d*)?(\.\.|…)")

    def test_colours_are_on_terminals_only(self):
        self.assertIn("\x1b[1m", self.report(80, "heap"))
        for env, options in (({"NO_COLOR": "1"}, []), ({"TERM": "dumb"}, []),
                             ({}, ["--color", "never"])):
            self.assertNotIn("\x1b", self.report(80, "heap", *options, env=env))
        plain = subprocess.run([support.PYMEMREPORT, "heap", self.run_file], check=True,
                               stdout=subprocess.PIPE, text=True).stdout
        self.assertNotIn("\x1b", plain)
        always = subprocess.run(
            [support.PYMEMREPORT, "heap", self.run_file, "--color", "always"], check=True,
            stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(re.sub(r"\x1b\[\d*m", "", always), plain)

    def test_the_answer_has_the_same_text_in_colours(self):
        colored = self.report(80, "report")
        plain = self.report(80, "report", env={"NO_COLOR": "1"})
        self.assertIn("\x1b[1mPeak ", colored)
        self.assertNotIn("\x1b", plain)
        self.assertEqual(re.sub(r"\x1b\[\d*m", "", colored), plain)
        for line in colored.splitlines():  # less -R forgets colours at its end
            self.assertEqual(line.count("\x1b["), 2 * line.count("\x1b[0m"), line)

    def test_programs_get_whole_paths(self):
        env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        plain = subprocess.run([support.PYMEMREPORT, "heap", self.run_file], check=True,
                               env=env, stdout=subprocess.PIPE, text=True).stdout
        self.assertIn(os.path.join(self.folder, "a_long_name_of_a_script.py"), plain)
        self.assertNotIn(self.folder, self.report(80, "heap"))
        on_a_terminal = json.loads(self.report(40, "heap", "--json"))
        self.assertIn(os.path.join(self.folder, "a_long_name_of_a_script.py"),
                      {row["file"] for row in on_a_terminal})

    def test_pictures_without_a_name_become_files(self):
        os.chdir(self.folder)
        stem = os.path.basename(self.run_file).rpartition(".")[0]
        for command, *options in (["flame"], ["timeline", "--by", "heap"], ["graph"],
                                  ["history", "--svg"]):
            name = f"{stem}.{command}.svg"
            printed = self.report(80, command, *options, error_too=True)
            self.assertEqual(printed, f"pymemreport: wrote {name}\n", command)
            with open(name, encoding="utf-8") as picture:
                self.assertIn("</svg>", picture.read())
            # Scripts that have a pipe get the picture there, as ever.
            piped = subprocess.run([support.PYMEMREPORT, command, self.run_file, *options],
                                   check=True, capture_output=True, text=True)
            self.assertEqual(piped.stdout[-7:], "</svg>\n")
            self.assertEqual(piped.stderr, "")
        self.assertIn("-o", self.report(80, "flame", "-o", "-", error_too=True))

    def test_a_reader_that_goes_is_no_failure(self):
        for words in COMMANDS:
            command, *options = words
            with subprocess.Popen([support.PYMEMREPORT, command, self.run_file, *options],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
                program.stdout.close()
                said = program.stderr.read()
            if b"has no page events" not in said:
                self.assertEqual((program.returncode, said), (0, b""), words)

    def test_a_filter_that_leaves_nothing_says_so(self):
        run = self.run_script("kept = [bytes(100) for _ in range(100_000)]")
        for options, said in (
                ((), "--file '*.rs' leaves no place; --by library-line lists "
                     "those of libraries, too"),
                (("--by", "file"), "--file '*.rs' leaves no place")):
            done = subprocess.run([support.PYMEMREPORT, "heap", run.path,
                                   "--file", "*.rs", *options],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr, f"pymemreport: {said}\n")


if __name__ == "__main__":
    unittest.main()
