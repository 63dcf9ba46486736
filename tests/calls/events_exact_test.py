#!/usr/bin/env python3
"""The events of a run are those that a sys.setprofile recorder sees: kind, file,
line and function, in order, on each thread, with nothing lost."""
import json
import os
import shutil
import subprocess
import unittest

import support

SUPPORT = os.path.dirname(os.path.abspath(support.__file__))
# Deterministic scripts on one thread.
SCRIPTS = """generators generator_close_and_throw coroutines async_generators
exceptions recursion comprehensions c_callbacks decorators classes
subclasses_of_c_types exec_eval_compile context_managers joins_of_generators
lambdas descriptors weakrefs_and_destructors imports pattern_matching
exec_thousands method_definitions""".split()

# What the interpreter's end calls, after the script.
AT_THE_END = {"weakrefs_and_destructors": [("CALL", "_exitfunc"),
                                           ("RETURN", "_exitfunc")]}


def without_shutdown(events):
    """Without what the end of `threading` calls, where a script imported it, as
    ctypes does from 3.14 on."""
    begin, end = ("CALL", "_shutdown"), ("RETURN", "_shutdown")
    if begin not in events:
        return events
    return events[:events.index(begin)] + events[events.index(end) + 1:]


def from_first(events, function):
    """(before, from): split at the first CALL of `function`."""
    for at, (what, _, _, name) in enumerate(events):
        if what == "CALL" and name == function:
            return events[:at], events[at:]
    return events, []


class EventsExactTest(support.ProgramTest):
    def program(self, name):
        return shutil.copy(os.path.join(SUPPORT, "programs", name + ".py"),
                           self.folder)

    def record(self, script):
        recorder = shutil.copy(os.path.join(SUPPORT, "event_recorder.py"),
                               self.folder)
        output = os.path.join(self.folder, "recorded.json")
        self.run_python(recorder, script, output)
        with open(output) as file:
            return [[tuple(event) for event in thread]
                    for thread in json.load(file)]

    def trace(self, script, *options):
        run = self.pymemrun("--quiet", "--min-drss", "0", *options, script)
        self.assert_nothing_lost(run)
        return [[support.event_of(row) for row in rows]
                for rows in run.threads().values()]

    def assert_same(self, expected, found):
        for at, (e, f) in enumerate(zip(expected, found)):
            if e != f:
                self.fail("event %d: recorded %s, traced %s; before it %s"
                          % (at, e, f, expected[max(0, at - 3):at]))
        self.assertEqual(len(expected), len(found),
                         (expected[len(found):] + found[len(expected):])[:5])

    def is_too_new(self, script):
        """Versions before 3.11 do not know all that the programs use."""
        return support.VERSION < (3, 11) and subprocess.run(
            [support.PYTHON, script], capture_output=True).returncode != 0

    def test_scripts(self):
        for name in SCRIPTS:
            with self.subTest(name):
                script = self.program(name)
                if self.is_too_new(script):
                    continue
                [expected] = self.record(script)
                [found] = self.trace(script)
                self.assertGreater(len(expected), 20)
                self.assert_same(expected, found[:len(expected)])
                rest = [e[0::3] for e in found[len(expected):]]
                self.assertEqual(without_shutdown(rest),
                                 AT_THE_END.get(name, []))

    def test_stored_like_a_filtered_run(self):
        """The hook for filtered runs sees the same events."""
        script = self.program("c_callbacks")
        [expected] = self.record(script)
        [found] = self.trace(script, "--stacks")
        self.assert_same(expected, found)

    def test_two_threads(self):
        """A recording begins inside each thread; `body` is where it has in
        both runs."""
        script = self.program("two_threads")
        main, *recorded = self.record(script)
        traced_main, *traced = self.trace(script)
        self.assert_same(main, traced_main)
        self.assertEqual((len(recorded), len(traced)), (2, 2))
        expected, found = [], []
        for events in recorded:
            before, body = from_first(events, "body")
            # From CPython 3.12 on a thread hears of the end of its own
            # sys.setprofile when another one is profiled already.
            self.assertEqual([e[0::3] for e in before],
                             [("C_RETURN", "setprofile")]
                             if support.PROFILERS_SHARE else [])
            expected.append(body)
        for events in traced:
            before, body = from_first(events, "body")
            self.assertEqual([e[0::3] for e in before],
                             [("CALL", "thread_main")])
            found.append(body)
        for e, f in zip(sorted(expected), sorted(found)):
            self.assert_same(e, f)

    def test_threading(self):
        script = self.program("threading_threads")
        main, *recorded = self.record(script)
        traced_main, *traced = self.trace(script)
        # How long Thread.start and join wait is chance; the script's own lines
        # are not. The recorder's are the arming by threading.setprofile, which
        # is no line of a C event or of a call.
        def own(events):
            return [e for e in events if e[1] == script]
        self.assert_same(own(main), own(traced_main))
        self.assertEqual((len(recorded), len(traced)), (2, 2))
        expected = [from_first(events, "run")[1] for events in recorded]
        found = []
        for events in traced:
            before, after = from_first(events, "run")
            self.assertEqual(before[0][0::3], ("CALL", "_bootstrap"))
            found.append(after)
        for e, f in zip(sorted(expected), sorted(found)):
            self.assertGreater(len(e), 1000)
            self.assert_same(e, f)


if __name__ == "__main__":
    unittest.main()
