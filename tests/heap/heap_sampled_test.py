#!/usr/bin/env python3
"""With `--heap sampled` what the samples stand for is what was allocated: on
the mean, and with the spread that is stated. Each sampled block's free is
there.

    heap_sampled_test.py HeapSampledTest    many rounds in one process
    heap_sampled_test.py GrowingMeanTest    the default mean
    heap_sampled_test.py ManyRunsTest       200 runs
"""
import collections
import math
import unittest

import heap_decoder
import heap_support
import support

# Rounds that each allocate the same, and how much that is. bytes(n) is a block
# of n + HEAD bytes.
HEAD = 33
SIZES = (31, 40, 94, 95, 100, 300, 479, 480, 1000, 8158, 8159, 9000, 40000)
ROUNDS = """
import sys, pymemrun
SIZES = {sizes}
def round():
    kept = []
    for n in SIZES:
        for _ in range({times}): kept.append(bytes(n))  # sampled
    kept.clear()
for n in range({rounds}):
    pymemrun.mark(str(n))
    round()
pymemrun.mark("end")
"""
# A right program fails by chance once in 10^5: normal deviates of that.
SIGMAS = 4.42


def probability(rates, size):
    """That an allocation is sampled, as heap.proto says."""
    if rates.mean_bytes:
        return -math.expm1(-max(size, 1) / rates.mean_bytes)
    for one in rates.classes:
        if size < one.below_bytes:
            return one.probability
    return 1.0


def chi_square_bound(degrees, sigmas):
    """Wilson and Hilferty's, over the degrees of freedom."""
    part = 2 / (9 * degrees)
    return (1 - part + sigmas * math.sqrt(part)) ** 3


class Estimate:
    """What samples stand for: bytes and blocks, and their variances."""

    def __init__(self, events, rates):
        self.bytes = self.blocks = self.variance = self.blocks_variance = 0
        for event in events:
            p = probability(rates, event.size)
            self.bytes += event.size / p
            self.blocks += 1 / p
            self.variance += event.size ** 2 * (1 - p) / p ** 2
            self.blocks_variance += (1 - p) / p ** 2


class SampledTest(support.ProgramTest):
    def run_heap(self, text, rates, *options):
        run = self.run_script(text, "--trace", "none", "--heap", "sampled",
                              "--heap-rates", rates, *options)
        heap = heap_decoder.HeapRun(run)
        self.assertEqual(heap.lost, 0)
        self.assertEqual(len(heap.rates), 1)
        return heap

    def line(self, text, words):
        number, = (number for number, line in enumerate(text.splitlines(), 1)
                   if line.endswith("# " + words))
        return number

    def is_at(self, heap, event, line):
        file, found = heap.place(event.stack)
        return found == line and file.endswith("script.py")

    def samples(self, heap, line):
        """Allocations of that line of the script."""
        return [event for event in heap.events if not event.is_free and
                self.is_at(heap, event, line)]

    def check_estimates(self, pairs, truth):
        """Of (estimate, stated variance), independent and of the same."""
        count = len(pairs)
        variance = sum(stated for _, stated in pairs) / count
        mean = sum(found for found, _ in pairs) / count
        if variance == 0:
            self.assertEqual([found for found, _ in pairs], [truth] * count)
            return
        error = math.sqrt(variance / count)
        self.assertLess(abs(mean - truth), SIGMAS * error,
                        f"mean {mean}, truth {truth}, error {error}")
        spread = sum((found - truth) ** 2 for found, _ in pairs) / count
        # The stated variance is an estimate as well, and the samples are few
        # enough for tails: the bounds of half as many.
        for sigmas in (-SIGMAS, SIGMAS):
            bound = chi_square_bound(count / 2, sigmas)
            self.assertLess((spread / variance - bound) * sigmas, 0,
                            f"spread {spread}, stated {variance}")


class HeapSampledTest(SampledTest):
    def rounds_of(self, rates, times, rounds):
        text = ROUNDS.format(sizes=SIZES, times=times, rounds=rounds)
        heap = self.run_heap(text, rates, "--heap-domains", "obj")
        begins = [heap.marks[str(n)] for n in range(rounds)]
        by_round = collections.defaultdict(list)
        for event in self.samples(heap, self.line(text, "sampled")):
            # Lists grow there too.
            if event.size - HEAD in SIZES:
                by_round[sum(us <= event.us for us in begins) - 1].append(event)
        return heap, [by_round[n] for n in range(rounds)]

    def test_estimates_are_unbiased_and_their_error_is_honest(self):
        for rates, times in (("4KiB", 10), ("64KiB", 100),
                             ("{128:1e-2, 8192:0.1}", 200), ("{64:0}", 3)):
            with self.subTest(rates):
                heap, rounds = self.rounds_of(rates, times, 40)
                stated = heap.rates[0]
                sizes = [n + HEAD for n in SIZES
                         if probability(stated, n + HEAD) > 0]
                estimates = [Estimate(events, stated) for events in rounds]
                self.check_estimates([(e.bytes, e.variance) for e in estimates],
                                     times * sum(sizes))
                self.check_estimates(
                    [(e.blocks, e.blocks_variance) for e in estimates],
                    times * len(sizes))

    def test_classes_have_upper_bounds_that_are_not_included(self):
        heap, rounds = self.rounds_of("{64:0, 8192:1}", 2, 5)
        sizes = sorted(2 * [n + HEAD for n in SIZES if n + HEAD >= 64])
        self.assertEqual(sizes[:2], [64, 64])
        for events in rounds:
            self.assertEqual(sorted(event.size for event in events), sizes)
        self.assertEqual([(one.below_bytes, one.probability)
                          for one in heap.rates[0].classes],
                         [(64, 0), (8192, 1)])

    def test_frees_of_sampled_blocks_are_all_there(self):
        text = """
import threading, pymemrun
def work():
    kept = {}
    for n in range(3000):
        kept[n % 100] = bytes(n % 3000)  # made
        block = bytearray(n)  # made too
        block.extend(block)  # moved
def many():
    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
many()
pymemrun.mark("freed")
"""
        for rates in ("4KiB", "{512:0.1, 2000:0.5}"):
            with self.subTest(rates):
                heap = self.run_heap(text, rates)
                live = heap_support.Live(strict=False)
                for event in heap.events:
                    if event.us > heap.marks["freed"]:
                        break
                    live.take(event)
                # Only what was sampled has its free recorded.
                self.assertEqual(live.unknown_frees, 0)
                for words in ("made", "made too", "moved"):
                    line = self.line(text, words)
                    self.assertGreater(len(self.samples(heap, line)), 100)
                    self.assertEqual([event for event in live.blocks.values()
                                      if self.is_at(heap, event, line)], [])

    def test_while_stopped_only_frees_are_recorded(self):
        for begins, options in (("", ()), ("pymemrun.start()", ("--paused",))):
            text = f"""
import pymemrun
first = bytes(70001)  # first
{begins}
kept = [bytes(80001) for _ in range(10)]  # kept
gone = [bytes(80002) for _ in range(10)]  # gone
pymemrun.stop()
more = [bytes(80003) for _ in range(10)]  # more
del gone, more
pymemrun.start()
again = bytes(80004)  # again
"""
            with self.subTest(options):
                heap = self.run_heap(text, "{1:1}", *options)
                live = heap_support.Live(strict=False)
                found = collections.Counter(
                    event.size - HEAD for event in heap.events)
                self.assertEqual(
                    [found[n] for n in (70001, 80001, 80002, 80003, 80004)],
                    [0 if options else 1, 10, 10, 0, 1])
                gone = {event.address for event in heap.events
                        if event.size == 80002 + HEAD}
                until = min(event.us for event in heap.events
                            if event.size == 80004 + HEAD)
                for event in heap.events:
                    if event.us < until:
                        live.take(event)
                self.assertEqual(gone & live.blocks.keys(), set())
                sizes = [event.size for event in live.blocks.values()]
                self.assertEqual(sizes.count(80001 + HEAD), 10)

    def test_the_context_manager_leaves_recording_as_it_was(self):
        text = """
import pymemrun
def work(k): return [bytes(k + n) for n in range(10)]
with pymemrun.trace(): within = work(70000)
after = work(80000)
pymemrun.stop()
with pymemrun.trace(): again = work(90000)
stopped = work(95000)
"""
        for trace in ("none", "calls"):
            with self.subTest(trace):
                heap = self.run_heap(text, "{1:1}", "--trace", trace)
                found = collections.Counter(
                    event.size // 1000 for event in heap.events)
                self.assertEqual([found[k] for k in (70, 80, 90, 95)],
                                 [10, 10, 10, 0])


GROWS = """
import pymemrun
kept = []
pymemrun.mark("begin")
for _ in range(100):
    kept.append([bytes(n) for n in range(100, 2100)])  # sampled
pymemrun.mark("end")
"""


class GrowingMeanTest(SampledTest):
    RUNS = 10

    def test_small_programs_are_sampled_finely_and_without_bias(self):
        """By the rates that were in force at each sample."""
        pairs = []
        truth = 100 * sum(n + HEAD for n in range(100, 2100))
        for _ in range(self.RUNS):
            run = self.run_script(GROWS, "--trace", "none", env=support.USUAL)
            heap = heap_decoder.HeapRun(run)
            means = [rates.mean_bytes >> 10 for rates in heap.rates]
            self.assertEqual(means, [32, 64, 128, 256, 512][:len(means)])
            self.assertGreater(len(means), 3)
            line = self.line(GROWS, "sampled")
            total = Estimate((), None)
            for rates, after in zip(heap.rates, [*heap.rates[1:], None]):
                part = Estimate(
                    [event for event in self.samples(heap, line)
                     if event.allocator == heap_support.OBJ and
                     event.size >= 100 + HEAD and event.us >= rates.time_us and
                     (after is None or event.us < after.time_us)], rates)
                total.bytes += part.bytes
                total.variance += part.variance
            pairs.append((total.bytes, total.variance))
        for estimate, variance in pairs:
            self.assertLess(abs(estimate - truth), 6 * variance ** 0.5)
        self.assertLess(abs(sum(e for e, _ in pairs) / self.RUNS / truth - 1),
                        0.05)


class ManyRunsTest(SampledTest):
    RUNS = 200

    def test_over_many_runs(self):
        text = ROUNDS.format(sizes=SIZES, times=40, rounds=1)
        pairs = []
        for _ in range(self.RUNS):
            heap = self.run_heap(text, "16KiB", "--heap-domains", "obj")
            events = [event for event in
                      self.samples(heap, self.line(text, "sampled"))
                      if event.size - HEAD in SIZES]
            estimate = Estimate(events, heap.rates[0])
            pairs.append((estimate.bytes, estimate.variance))
        truth = 40 * sum(n + HEAD for n in SIZES)
        self.check_estimates(pairs, truth)


if __name__ == "__main__":
    unittest.main()
