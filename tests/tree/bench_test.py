"""bench/compare and what it is made of: the figures are put together correctly,
peers that are not there are said, and a comparison runs from end to end."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ.get("PYMEMRUN_SOURCE_DIR",
                                     pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("PYMEMRUN_BUILD_DIR",
                                    SOURCE / "build" / "release"))
sys.path.insert(0, str(SOURCE / "bench"))

from comparison import bars, growth, machine, many, modes, processes  # noqa: E402
from comparison import results_file, rounds, run_file, tables  # noqa: E402
from comparison import together, workloads  # noqa: E402


def run_of(cpu, wall=1.0, peak=0, collector=0):
    return processes.Run(wall, cpu, peak, 0.0, collector, b"", "")


def mode(name, **kinds):
    return modes.Mode(name, lambda script, output: [], **kinds)


def series(name, cpus, scale="full", **kinds):
    facts = run_file.Facts(1000, 1000, 0, 500, 1000) if kinds.get("ours") else None
    return rounds.Series(mode(name, **kinds), scale,
                         dict(enumerate(run_of(c) for c in cpus)), facts, 500)


class ReaperReport(unittest.TestCase):
    def test_the_command_is_told_from_what_it_leaves_behind(self):
        command, all_of_them = processes.parse_report(
            "7\n9 pymemrun-coll 2.5 0.25 4096 0\n7 pymemrun 2.0 1.5 8192 139\n")
        self.assertEqual((command.name, command.status, command.peak_rss),
                         ("pymemrun", 139, 8192))
        self.assertEqual([p.cpu for p in all_of_them], [0.25, 1.5])

    def test_all_processes_are_waited_for_and_summed(self):
        reaper = processes.Reaper(BUILD / "bench" / "reaper")
        burn = "i = 0\nwhile i < 1_000_000: i += 1\n"
        script = ("import os\nif os.fork() == 0:\n    if os.fork() == 0:\n"
                  f"        exec({burn!r})\n    os._exit(0)\nos.wait()\n")
        alone = reaper.run([workloads.PYTHON, "-c", "pass"], {}, "/tmp")
        run = reaper.run([workloads.PYTHON, "-c", script], {}, "/tmp")
        self.assertGreater(run.cpu, 2 * alone.cpu)

    def test_peak_rss_is_not_that_of_the_starter(self):
        block = b"x" * (64 << 20)
        run = processes.Reaper(BUILD / "bench" / "reaper").run(
            ["/bin/true"], {}, "/tmp")
        self.assertLess(run.peak_rss, len(block) // 4)

    def test_a_failure_names_status_and_last_words(self):
        reaper = processes.Reaper(BUILD / "bench" / "reaper")
        with self.assertRaisesRegex(processes.RunFailed, "status 3: so long"):
            reaper.run(["/bin/sh", "-c", "echo so long >&2; exit 3"], {}, "/tmp")

    def test_a_run_that_takes_too_long_is_ended(self):
        reaper = processes.Reaper(BUILD / "bench" / "reaper")
        with self.assertRaisesRegex(processes.RunFailed, "longer than 0.1 s"):
            reaper.run(["/bin/sleep", "60"], {}, "/tmp", limit_s=0.1)


class Schedule(unittest.TestCase):
    def setUp(self):
        self.modes = [mode(modes.UNTRACED), mode(modes.FLOOR), mode("default"),
                      mode(modes.ALL_LOGGED), mode("peer", slow=True)]

    def names(self, scale):
        return [(m.name, s) for m, s in rounds.schedule(self.modes, scale)]

    def test_what_is_slow_runs_short_beside_its_references(self):
        short = [name for name, scale in self.names("full") if scale == "short"]
        self.assertEqual(short, [modes.UNTRACED, modes.FLOOR, modes.ALL_LOGGED,
                                 "peer"])
        self.assertNotIn(("peer", "full"), self.names("full"))

    def test_below_the_full_size_all_run_at_the_same(self):
        self.assertEqual({scale for _, scale in self.names("tiny")}, {"tiny"})
        self.assertIn(("peer", "tiny"), self.names("tiny"))

    def test_a_missing_peer_keeps_its_row_and_costs_no_run(self):
        self.modes[-1] = mode("peer", slow=True, missing="not installed")
        short = [name for name, scale in self.names("full") if scale == "short"]
        self.assertEqual(short, ["peer"])


class Figures(unittest.TestCase):
    def test_ratios_are_taken_within_a_round(self):
        base = series("b", [1.0, 10.0, 2.0])
        self.assertEqual(tables.ratio(series("a", [2.0, 30.0, 8.0]), base, "cpu"),
                         3.0)

    def test_only_rounds_that_both_have_count(self):
        self.assertEqual(
            tables.ratio(series("a", [4.0]), series("b", [2.0, 100.0]), "cpu"), 2.0)
        self.assertIsNone(tables.ratio(series("a", []), series("b", [1.0]), "cpu"))

    def result(self, *more):
        return rounds.Result(
            workloads.WORKLOADS["calls"],
            [series(modes.UNTRACED, [1.0]), series(modes.FLOOR, [2.0]),
             series(modes.ALL_LOGGED, [3.0], ours=True, everything=True),
             *more], {"full": 1000})

    def test_a_row_is_beside_untraced_and_beside_the_floor(self):
        lines = tables.workload_lines(self.result())
        row = next(line for line in lines if line.startswith("| --min-drss 0 |"))
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        self.assertEqual(cells[1:5], ["full", "3.00", "3.00", "1.50"])
        self.assertEqual(cells[8], "2,000,000.0")  # 2 s by 1,000 events, in ns
        self.assertEqual(cells[9:12], ["1,000", "all", "0.5000"])

    def test_a_missing_peer_says_so_in_its_row(self):
        missing = rounds.Series(mode("other", peer="other"), "full",
                                failure="not installed: why")
        self.assertIn("| other | full | not installed: why |",
                      "\n".join(tables.workload_lines(self.result(missing))))

    def test_share_of_the_peer_is_of_what_each_adds(self):
        peer = series(bars.PEER_EVERYTHING, [201.0], peer="cPyMemTrace")
        share = bars.share("calls", modes.ALL_LOGGED, bars.PEER_EVERYTHING)
        self.assertAlmostEqual(
            share({"calls": self.result(peer)}, "full"), 0.01)

    def test_bars_say_met_missed_and_not_measured(self):
        text = "\n".join(bars.lines({"calls": self.result()}, "full"))
        self.assertIn("| calls | everything logged, beside the empty callback | 1.3 "
                      "| 1.50 | **missed** |", text)
        self.assertIn("| calls | bytes per event, everything logged | 1.0 | 0.50 "
                      "| met |", text)
        self.assertNotIn("| numpy |", text)
        self.assertIn("| 1.02 | not measured |", text)


class Completeness(unittest.TestCase):
    def verdict(self, events, rows, dropped, decoded, counted=None):
        return run_file.verdict(
            run_file.Facts(events, rows, dropped, 1, decoded), True, counted)

    def test_every_way_to_lose_a_row_is_told_apart(self):
        self.assertEqual(self.verdict(5, 5, 0, 5, counted=5), "all")
        self.assertEqual(self.verdict(5, 4, 1, 4), "1 DROPPED")
        self.assertEqual(self.verdict(5, 5, 0, 4), "4 of 5 READ")
        self.assertEqual(self.verdict(5, 4, 0, 4), "1 MISSING")
        self.assertEqual(self.verdict(5, 5, 0, 5, counted=7), "2 NOT SEEN")


class Together(unittest.TestCase):
    def test_all_run_at_once_on_the_one_processor(self):
        before = os.sched_getaffinity(0)
        processor = max(before)
        both = threading.Barrier(2, timeout=30)

        def run():
            both.wait()   # breaks where they run in turn
            return subprocess.run(["nproc"], stdout=subprocess.PIPE).stdout

        self.assertEqual(together.at_once(processor, [run, run]), [b"1\n"] * 2)
        self.assertEqual(os.sched_getaffinity(0), before)


class Growth(unittest.TestCase):
    def result(self, untraced, ours):
        every = series("ours", [ours], ours=True)
        return rounds.Result(workloads.WORKLOADS["threads"],
                             [series(modes.UNTRACED, [untraced]), every],
                             {"full": 1000})

    def test_it_is_beside_the_growth_that_the_program_has_untraced(self):
        results = {1: self.result(1.0, 2.0), 8: self.result(2.0, 3.0),
                   64: self.result(3.0, 9.0)}
        as_it_is, beyond = growth.worst(results, "ours")
        self.assertEqual((as_it_is, beyond), (4.5, 1.5))
        text = "\n".join(growth.lines(results, ["ours"]))
        self.assertIn("| ours | 64 | 1,000 | 9,000,000.0 | 4.50 | 6,000,000.0 | 6.00 "
                      "| 1,000 | no drop |", text)
        self.assertIn("| 1.5 | 1.50 | **missed** |",
                      "\n".join(growth.bar_lines(results, ["ours"])))


class Numbers(unittest.TestCase):
    def test_every_number_is_there_when_lines_and_bytes_are_right(self):
        for count in (1, 9, 10, 11, 12345):
            text = "".join(f"{n}\r\n" for n in range(count))
            self.assertEqual(many.text_size(count), len(text))
            self.assertEqual(many.numbers_verdict(f"{count} {len(text)}\n", count),
                             "each number once")

    def test_a_number_lost_or_doubled_is_seen(self):
        size = many.text_size(100)
        self.assertEqual(many.numbers_verdict(f"99 {size - 4}", 100),
                         "99 LINES, 386 BYTES")
        self.assertIn("BYTES", many.numbers_verdict(f"100 {size - 1}", 100))


class ResultsFile(unittest.TestCase):
    def test_only_the_own_section_is_replaced(self):
        text = results_file.replaced("# Measured\n", "a", "one")
        text = results_file.replaced(text, "b", "two")
        text = results_file.replaced(text, "a", "three")
        self.assertEqual(text, "# Measured\n\n<!-- BEGIN a -->\nthree\n"
                         "<!-- END a -->\n\n<!-- BEGIN b -->\ntwo\n<!-- END b -->\n")

    def test_a_section_without_an_end_is_left_alone(self):
        with self.assertRaises(ValueError):
            results_file.replaced("<!-- BEGIN a -->\nmuch else", "a", "new")


class Machine(unittest.TestCase):
    def test_without_git_the_revision_is_unknown(self):
        tools = types.SimpleNamespace(python=workloads.PYTHON, version="pymemrun 1")
        with mock.patch.dict(os.environ, PATH="/nowhere"):
            text = "\n".join(machine.description(tools))
        self.assertIn("pymemrun 1 at an unknown revision, as ", text)


class Programs(unittest.TestCase):
    def run_program(self, name, *arguments):
        return subprocess.run([SOURCE / "bench" / name, *arguments], check=True,
                              capture_output=True, text=True).stdout

    def test_compare_runs_from_end_to_end(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder) / "results.md"
            self.run_program(
                "compare", "--build", BUILD, "--scale", "tiny", "--runs", "1",
                "--peers", "none", "--workloads", "calls,threads",
                "--modes", "default,--min-drss 0", "--write", "--output", results)
            text = results.read_text()
        self.assertIn("<!-- END compare calls threads -->", text)
        everything = [line.split("|") for line in text.splitlines()
                      if line.startswith("| --min-drss 0 |")]
        self.assertEqual([cells[11].strip() for cells in everything],
                         ["all", "all"])
        self.assertRegex(text, r"<EmptyCallback>:\n.*\n.*ret")

    def test_a_peer_that_is_not_installed_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.run_program(
                "compare", "--build", BUILD, "--scale", "tiny", "--runs", "1",
                "--peers", "memray,cProfile", "--peers-folder", folder,
                "--workloads", "calls", "--modes", "none")
        self.assertIn("| memray run | tiny | not installed: bench/setup_peers", text)
        self.assertRegex(text, r"\| cProfile \| tiny \| \d")

    def test_no_micro_benchmark_fails(self):
        for name in ("tracer/capture_benchmark", "tracer/call_hooks_benchmark",
                     "collector/event_encoder_benchmark",
                     "readers/readers_benchmark"):
            text = self.run_program(BUILD / name, "--benchmark_min_time=0.001",
                                    "--benchmark_filter=-BM_Encode.*/(20|100|99)/.*")
            self.assertIn("BM_", text)
            self.assertNotIn("ERROR", text)

    def test_start_up_compares_with_python3(self):
        text = self.run_program("start_up", "--build", BUILD, "--runs", "2")
        self.assertRegex(text, r"\| python3 \| [\d.]+ \| 0\.0 \|")
        self.assertRegex(text, r"\| pymemrun \| [\d.]+ \| ")

    def test_sampling_cost_says_what_auto_has_chosen(self):
        text = self.run_program("sampling_cost", "--build", BUILD, "--runs", "2",
                                "--scale", "tiny")
        rows = re.findall(r"^\| allocations.py, (\d+) steps \| [\d.]+ "
                          r"\| [\d.]+ \w+ \|( [+-][\d.]+ % \|){6}$", text, re.M)
        self.assertEqual([steps for steps, _ in rows], ["1", "50", "1000"])

    def test_threads_in_turn_lose_no_event(self):
        text = self.run_program("threads_in_turn", "--build", BUILD, "--scale",
                                "tiny", "--runs", "1", "--threads", "1,100")
        self.assertRegex(text, r"\| --min-drss 0 \| 100 \| .* \| all \|")

    def test_watched_compares_with_the_same_program_alone(self):
        text = self.run_program("watched", "--build", BUILD, "--runs", "2",
                                "--attaches", "2", "--passes", "1000")
        self.assertRegex(text, r"\| CPU \| [\d.]+ \| [\d.]+ \| [\d.]+ \| ")

    def test_gil_peers_has_a_row_for_each_tool(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.run_program("gil_peers", "--build", BUILD, "--runs", "1", "--work",
                                    "20000", "--peers-folder", folder)
        number = r"\| [\d.]+ "
        self.assertRegex(text, r"\| pymemrun --trace gil " + 6 * number + r"\| each take")
        for peer in ("py-spy record --gil", "gil_load", "viztracer"):
            self.assertRegex(text, rf"\| {peer} .*not installed: bench/setup_peers does it \|")

    def test_time_beside_memory_has_a_row_for_each_program_and_mode(self):
        text = self.run_program("time_beside_memory", "--build", BUILD, "--runs", "1",
                                "--scale", "tiny")
        rows = re.findall(r"^\| ([^|]+) \| (\w[\w ]*) \| (untraced|calls) \| [\d.]+ \| "
                          r"[\d.]+ \| [\d.]+ to [\d.]+ \| [\d.]+ \| [\d.]+ \|", text, re.M)
        self.assertEqual([mode for program, mode, _ in rows if program == "one computes"],
                         ["calls", "gil", "states", "counters", "all three"])
        self.assertEqual(len(rows), 15)

    def test_tasks_have_a_row_for_each_program_and_mode(self):
        text = self.run_program("tasks", "--build", BUILD, "--runs", "1", "--scale", "tiny")
        rows = re.findall(r"^\| 100 tasks that (\w+) \| (none|tasks) \| (?:untraced|none) \| "
                          r"[\d.]+ \| [\d.]+ \| [\d.]+ to [\d.]+ \| [\d.]+ \| ([-\d,]*) ?\|",
                          text, re.M)
        self.assertEqual([found[:2] for found in rows],
                         [("switch", "none"), ("switch", "tasks"),
                          ("compute", "none"), ("compute", "tasks")])
        self.assertEqual([ns != "" for _, _, ns in rows], [False, True, False, True])

    def test_objects_are_looked_at_in_three_ways(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.run_program("objects", "--build", BUILD, "--runs", "1",
                                    "--objects", "8000", "--generated", "3000",
                                    "--rest", "0.2", "--peers-folder", folder)
        self.assertRegex(text, r"\| pymemrun, `dump_objects\(\)` \| [\d.]+ ms \|")
        self.assertRegex(text, r"\| Meliae's loader, .* \| [\d.]+ \| [\d.]+ \| \d+ MiB")
        self.assertIn("| guppy3 | not installed: bench/setup_peers", text)

    def test_many_events_are_all_read_back(self):
        text = self.run_program("many_events", "--build", BUILD, "--scale", "tiny",
                                "--millions", "1", "--beside", "1")
        self.assertIn("| all; each number once | met |", text)


if __name__ == "__main__":
    if not (BUILD / "bench" / "empty_callback").exists():
        sys.exit(77)
    unittest.main()
