#!/usr/bin/python3
"""Prints which lines held how much memory, over the time of a run.

    pymemrun -- script.py
    heap_history.py run.pb [SECONDS]        # every SECONDS; 1

With matplotlib the same numbers make a picture:

    x, ys, labels = run.heap_history(1)
    plt.stackplot(x, *ys, labels=labels)
"""
import sys

import pymemrun_reader


def main(path, interval_s=1.0):
    with pymemrun_reader.open(path) as run:
        x, ys, labels = run.heap_history(interval_s, top=5)
    for number, label in enumerate(labels, 1):
        print('[%d] %s' % (number, label))
    print('%10s' % 'time [s]', *('%9s' % ('[%d] MiB' % n) for n in range(1, len(labels) + 1)))
    for step, time_s in enumerate(x):
        print('%10.2f' % time_s, *('%9.2f' % (y[step] / 2**20) for y in ys))


if __name__ == '__main__':
    if not 2 <= len(sys.argv) <= 3:
        sys.exit('usage: heap_history.py RUN_FILE [SECONDS]')
    main(sys.argv[1], *map(float, sys.argv[2:]))
