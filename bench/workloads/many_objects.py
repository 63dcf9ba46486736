"""Keeps WORK_OBJECTS objects of the usual kinds, and lets WORK_TOOL look at them
WORK_DUMPS times. Prints for how long the program stood still, how long it took until
the file was complete, and RSS before.

pymemrun: dump_objects(), its call alone and with wait=True. json: the lines that
Meliae writes, into WORK_FILE. guppy3: heap(), and the text of it."""
import json
import os
import pathlib
import sys
import time

PEERS = pathlib.Path(__file__).resolve().parents[1] / "peers"


class Record:
    def __init__(self, number):
        self.number = number + 1000
        self.name = "name %d" % number


def build(count):
    # Eight objects each: instance, int, str, list, tuple, int, float, key.
    return {number + 10**7: [Record(number), (number + 10**8, float(number))]
            for number in range(count // 8)}


def by_pymemrun():
    import pymemrun
    began = time.monotonic()
    pymemrun.dump_objects()
    pause = time.monotonic() - began
    time.sleep(2 * pause + float(os.environ.get("WORK_REST", "4")))
    began = time.monotonic()
    path = pymemrun.dump_objects(wait=True)
    return pause, time.monotonic() - began, path


def by_json():
    sys.path.append(str(PEERS))
    import meliae_lines
    began = time.monotonic()
    meliae_lines.dump(os.environ["WORK_FILE"])
    took = time.monotonic() - began
    return took, took, os.environ["WORK_FILE"]


def by_guppy3():
    import guppy
    began = time.monotonic()
    str(guppy.hpy().heap())
    took = time.monotonic() - began
    return took, took, os.devnull


def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


kept = build(int(os.environ["WORK_OBJECTS"]))
before = rss()
look = globals()["by_" + os.environ.get("WORK_TOOL", "pymemrun")]
pauses, whole, paths = zip(*(look() for _ in range(int(os.environ["WORK_DUMPS"]))))
print(json.dumps({"pauses": pauses, "whole": whole, "rss": before,
                  "file": paths[-1], "bytes": os.path.getsize(paths[-1])}))
