"""Allocations of 100 to 149 bytes; some live a while.  env WORK_N: how many; WORK_STEPS: of work without an
allocation before each."""
import os
from itertools import repeat


def work(steps):
    s = 0
    for _ in repeat(None, steps):
        s = s + 1 & 63
    return s


def main():
    n = int(os.environ.get('WORK_N', '1000000'))
    steps = int(os.environ.get('WORK_STEPS', '50'))
    kept, made = [], 0
    for size in range(100, 150):
        for _ in repeat(None, n // 50):
            kept.append(bytes(size))
            made += 1
            if len(kept) > 1000:
                kept = []
            work(steps)
    print('e:', made)


if __name__ == '__main__':
    main()
