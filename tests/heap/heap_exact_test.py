#!/usr/bin/env python3
"""With `--heap all` the run file says of every line which blocks are alive, at
any moment, exactly as a layer of allocators below ours counts them."""
import json
import unittest

import fault_support
import heap_programs
import heap_support
import support
from heap_support import TRACING

PROGRAMS = {"allocates": heap_programs.ALLOCATES,
            "calls": heap_programs.CALLS,
            "threads": heap_programs.THREADS,
            "finalises": heap_programs.FINALISES}
# Two words for the garbage collector, then the object.
BOUND_BYTES = 16 + type(len).__basicsize__

class HeapExactTest(heap_support.HeapTest):
    def check(self, text, *options, env=None, python=()):
        """That each moment is as the oracle has it; returns what was found."""
        run, heap, oracle = self.run_above_oracle(
            text, "--heap", "all", *(options or ("--trace", "none")), *python,
            env=env)
        self.assert_complete(run, heap)
        found, live = heap_support.live_at_marks(heap)
        self.assertEqual(found.keys(), oracle.keys())
        for name in found:
            with self.subTest(moment=name):
                self.compare(found[name], oracle[name], self.own_lines(text))
        self.assertGreater(live.allocations, 500)
        return found

    def test_live_blocks_of_each_line_are_those_of_the_layer_below(self):
        for name, text in PROGRAMS.items():
            with self.subTest(name):
                self.check(text)

    def test_what_makes_a_frame_ready_is_the_callers(self):
        """The generator and coroutine objects, and cells, stand where the
        function is called, not on its `def`."""
        text = """
def numbers():
    yield [0] * 50
async def wait():
    pass
def closes(x):
    return lambda: x
def makes():
    return [[numbers() for i in range(1000)],
            [wait() for i in range(1000)],
            [closes(None) for i in range(1000)]]
kept = makes()
import os
os._exit(0)
"""
        for options in (("--heap", "all", "--trace", "none"),
                        ("--heap", "all", "--trace", "calls"),
                        ("--heap", "sampled", "--heap-rates", "{1:1}",
                         "--trace", "none")):
            if support.FREE_THREADED and "calls" in options:
                continue  # refused there
            with self.subTest(options):
                run = self.run_script(text, *options)
                fault_support.wait_for_collector_to_end(run.path)
                blocks = {}
                for entry in json.loads(run.report("snapshot", "--json",
                                                   "--at", "exit")):
                    frame = entry["stack"][-1] if entry["stack"] else {}
                    if frame.get("file", "").endswith("script.py"):
                        blocks[frame["line"]] = (blocks.get(frame["line"], 0)
                                                 + entry["live_count"])
                # Each `def` makes a function object or two.
                for line, most in ((2, 5), (4, 5), (6, 5)):
                    self.assertLess(blocks.get(line, 0), most)
                # One generator each, one coroutine, with their frames before
                # 3.11; one cell; a function and its closure, some from free lists.
                begun = 1000 if support.VERSION >= (3, 11) else 2000
                for line, about in ((9, begun), (10, begun), (11, 1000), (7, 1995)):
                    self.assertIn(blocks[line], range(about - 10, about + 10))

    def test_what_a_look_at_the_threads_name_frees(self):
        """Else the next block at that address would have two owners."""
        for trace in ("none", "calls"):
            with self.subTest(trace):
                self.check(heap_programs.NAMES, "--trace", trace)

    def test_with_calls_traced_too(self):
        for name, text in PROGRAMS.items():
            with self.subTest(name):
                found = self.check(text, "--trace", "calls")
                self.assertGreater(found["end"][TRACING][1], 1000)

    def test_what_profiling_makes_is_not_the_programs(self):
        """Frame objects, bound objects, arrays of lines. But dead bound objects
        of the program's, too, are kept for calls that are profiled."""
        text = heap_programs.CALLS
        class_line = 1 + (heap_support.PREAMBLE + text).splitlines().index("class Thing:")
        plain = self.check(text)
        profiled = self.check(text, "--trace", "calls")
        for moment in plain:
            self.assertGreater(profiled[moment].pop(TRACING)[1], 1000)
            kept = 0
            for place in plain[moment].keys() | profiled[moment].keys():
                if not place[0].endswith("script.py"):
                    continue
                ours = profiled[moment].get(place, (0, 0))
                theirs = plain[moment].get(place, (0, 0))
                more = ours[0] - theirs[0]
                with self.subTest(moment=moment, place=place):
                    off = abs(ours[1] - theirs[1] - more * BOUND_BYTES)
                    # A class stands among its base's under its address, an int
                    # of 28 bytes below 2^30, which is where the heap may begin.
                    self.assertIn(off, (0, 4) if place[1] == class_line else (0,))
                kept += abs(more)
            self.assertLess(kept, 10)


if __name__ == "__main__":
    unittest.main()
