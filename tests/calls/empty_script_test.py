#!/usr/bin/env python3
"""An empty program has two events, in every form, and nothing of the tracer's
is ever seen: neither as events nor as memory that grows."""
import os
import subprocess
import unittest
import zipfile

import support

# Prints the resident bytes of each mapping of the tracer's own: the executable
# and what has no name in /proc/self/maps but was there before the interpreter
# began cannot be told apart from the interpreter's, so the header's and the
# footer's own_bytes speak for the private tables and the ring is looked up.
THREADS = r'''
import sys, threading

def ring_kib():
    total = 0
    ours = False
    with open("/proc/self/smaps") as maps:
        for line in maps:
            if "-" in line.split(" ")[0]:
                ours = "pymemrun-ring" in line or "perf_event" in line
            elif ours and line.startswith("Rss:"):
                total += int(line.split()[1])
    return total

def work():
    for n in range(20):
        len(str(n))

before = ring_kib()
count = int(sys.argv[1])
lock = threading.Lock()
lock.acquire()
def wait():
    work()
    with lock:
        pass
    work()
threading.stack_size(1 << 18)
threads = [threading.Thread(target=wait) for n in range(count)]
for t in threads:
    t.start()
during = ring_kib()
lock.release()
for t in threads:
    t.join()
print(before, during, ring_kib())
'''

NEW_PLACES = r'''
def make(n):
    names = {}
    exec(compile(f"def f{n}(x):\n return len(x)\n", f"file{n}.py", "exec"),
         names)
    names[f"f{n}"]("x")
for n in range(3000):
    make(n)
'''

# Of some versions of 3.12. Then its end is the program's, as under any profiler.
RUNPY_IMPORTS_THREADING = subprocess.run(
    [support.PYTHON, "-c", "import runpy, sys; print('threading' in sys.modules)"],
    check=True, capture_output=True, text=True).stdout == "True\n"
without_threading = unittest.skipIf(RUNPY_IMPORTS_THREADING,
                                    "runpy imports threading")


class EmptyScriptTest(support.ProgramTest):
    def assert_two_events(self, run, file=None):
        rows = run.rows()
        self.assertEqual([(row["event"], row["what"], row["function"])
                          for row in rows],
                         [(0, "CALL", "<module>"), (1, "RETURN", "<module>")])
        if file is not None:
            self.assertEqual({row["file"] for row in rows}, {file})
        self.assertEqual(rows[0]["rss_bytes"], rows[0]["drss_bytes"])
        self.assertEqual(run.footer.events, 2)
        self.assertEqual(run.header.own_bytes, run.footer.own_bytes)
        self.assertGreater(run.header.own_bytes, 0)

    def traced(self, *arguments, **kwargs):
        return self.pymemrun("--quiet", "--min-drss", "0", *arguments,
                             **kwargs)

    def test_script(self):
        script = self.write("empty.py", "")
        self.assert_two_events(self.traced(script), script)
        self.assert_two_events(self.traced("--", script), script)
        for option in (["--stacks"], ["--context", "5"], ["--rss-source",
                       "statm"], ["--rss-source", "hints"], ["--rss-source",
                       "rusage"], ["--compress", "none"], ["--no-argv"]):
            with self.subTest(option):
                self.assert_two_events(self.traced(*option, script), script)

    def test_no_argv_leaves_the_script_out_too(self):
        script = self.write("secret_name.py", "")
        header = self.traced("--no-argv", script, "secret_word").header
        self.assertEqual((list(header.argv), header.script), ([], b""))

    def test_compiled_script(self):
        self.write("compiled.py", "")
        self.run_python("-c", "import py_compile;"
                        "py_compile.compile('compiled.py', 'compiled.pyc')")
        self.assert_two_events(self.traced("compiled.pyc"))

    def test_code(self):
        self.assert_two_events(self.traced("-c", ""), "<string>")
        self.assert_two_events(self.traced("-Ic", "pass"), "<string>")
        self.assert_two_events(self.traced("-X", "dev", "-c", "pass"))
        self.assert_two_events(self.traced("-S", "-c", "pass"))

    def test_standard_input(self):
        self.assert_two_events(self.traced("-", stdin=""), "<stdin>")
        self.assert_two_events(self.traced(stdin="pass\n"), "<stdin>")

    @without_threading
    def test_directory_and_zip(self):
        main = self.write("folder/__main__.py", "")
        self.assert_two_events(self.traced("folder"), main)
        with zipfile.ZipFile(os.path.join(self.folder, "app.zip"), "w") as app:
            app.writestr("__main__.py", "")
        self.assert_two_events(self.traced("app.zip"))

    @without_threading
    def test_module(self):
        module = self.write("module.py", "")
        self.assert_two_events(self.traced("-m", "module"), module)
        self.assert_two_events(self.traced("-mmodule"), module)

    @without_threading
    def test_package(self):
        """Its __init__ is the program's own code too: it runs as itself."""
        package = self.write("package/__init__.py", "")
        main = self.write("package/__main__.py", "")
        inner = self.write("package/inner.py", "")
        for name, last in (("package", main), ("package.inner", inner)):
            with self.subTest(name):
                rows = self.traced("-m", name).rows()
                self.assertEqual([support.event_of(row)[::3] for row in rows],
                                 [("CALL", "<module>"),
                                  ("RETURN", "<module>")] * 2)
                self.assertEqual([row["file"] for row in rows],
                                 [package, package, last, last])

    def test_interactive(self):
        """Each statement typed is a <module> of its own. Between the program
        and them Python readies its prompt, by Python code."""
        run = self.traced("-i", "-q", "-c", "", stdin="pass\npass\n")
        rows = [(row["what"], row["file"]) for row in run.rows()]
        program = [("CALL", "<string>"), ("RETURN", "<string>")]
        self.assertEqual(rows[:2], program)
        # CPython 3.13 numbers them: <stdin>-0, <stdin>-1.
        self.assertEqual([what for what, file in rows[2:]
                          if file.startswith("<stdin")],
                         ["CALL", "RETURN"] * 2)
        self.assertEqual(rows[2][1], "<frozen site>")

    def test_paused_has_none(self):
        for form in (["-c", ""], ["-m", "module"], [self.write("e.py", "")]):
            with self.subTest(form):
                self.write("module.py", "")
                run = self.traced("--paused", *form)
                self.assertEqual(run.rows(), [])
                self.assertEqual(run.footer.events, 0)
                self.assertEqual(run.header.own_bytes, run.footer.own_bytes)

    def test_paused_until_the_script_says_so(self):
        run = self.traced("--paused", "-c", "import pymemrun\n"
                          "abs(-1)\npymemrun.start()\nabs(-1)\n")
        # As with sys.setprofile, a C call that began unseen ends unseen.
        self.assertEqual([support.event_of(row) for row in run.rows()], [
            ("C_CALL", "<string>", 4, "abs"),
            ("C_RETURN", "<string>", 4, "abs"),
            ("RETURN", "<string>", 4, "<module>")])

    def test_startup_on_request(self):
        run = self.traced("--trace-startup", self.write("empty.py", ""))
        rows = run.rows()
        self.assert_nothing_lost(run, rows)
        self.assertGreater(len(rows), 100)
        self.assertTrue(any(row["file"] == "<frozen site>" for row in rows))
        self.assertEqual([row["file"] for row in rows
                          if row["file"].endswith("empty.py")],
                         [os.path.join(self.folder, "empty.py")] * 2)

    def test_own_memory_does_not_grow_with_threads(self):
        script = self.write("threads.py", THREADS)
        for count in (0, 50, 1000):
            with self.subTest(threads=count):
                run = self.traced(script, str(count))
                before, during, after = map(int, run.stdout.split())
                self.assertGreater(before, 0)
                self.assertEqual((during, after), (before, before))
                self.assertEqual(run.header.own_bytes, run.footer.own_bytes)
                # One that was sampled before it had its name is there twice.
                self.assertEqual(
                    len({thread.native_id for thread in run.records("thread")}),
                    count + 1)

    def test_own_memory_does_not_grow_with_places(self):
        for options in ([], ["--stacks"]):
            run = self.traced(*options, self.write("places.py", NEW_PLACES))
            self.assertEqual(run.header.own_bytes, run.footer.own_bytes)


if __name__ == "__main__":
    unittest.main()
