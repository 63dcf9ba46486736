"""Runs of several modes at once on one processor: where a machine's speed changes
from one second to the next, it changes for all of them alike."""
import concurrent.futures
import os


def at_once(processor, runs):
    """What each of `runs` (functions without arguments) returns. All that they
    start stays on the processor."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})   # threads and processes inherit it
    try:
        with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
            started = [pool.submit(run) for run in runs]
            return [run.result() for run in started]
    finally:
        os.sched_setaffinity(0, before)
