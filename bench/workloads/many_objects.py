"""Keeps WORK_OBJECTS objects of the usual kinds, and dumps them WORK_DUMPS
times. Prints for how long the calls of dump_objects() took: alone, which is the
pause, and until the file was complete."""
import json
import os
import time

import pymemrun


class Record:
    def __init__(self, number):
        self.number = number + 1000
        self.name = "name %d" % number


def build(count):
    # Eight objects each: instance, int, str, list, tuple, int, float, key.
    return {number + 10**7: [Record(number), (number + 10**8, float(number))]
            for number in range(count // 8)}


kept = build(int(os.environ["WORK_OBJECTS"]))
pauses, whole, paths = [], [], []
for _ in range(int(os.environ["WORK_DUMPS"])):
    begin = time.monotonic()
    paths.append(pymemrun.dump_objects())
    pauses.append(time.monotonic() - begin)
    time.sleep(2 * pauses[-1] + float(os.environ.get("WORK_REST", "4")))
    begin = time.monotonic()
    paths.append(pymemrun.dump_objects(wait=True))
    whole.append(time.monotonic() - begin)
with open("/proc/self/statm") as file:
    rss = int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
print(json.dumps({"pauses": pauses, "whole": whole, "rss": rss,
                  "bytes": os.path.getsize(paths[-1])}))
