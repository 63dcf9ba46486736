"""A loop over calls that raise audit events or look at code objects: id,
f.__code__, copy.deepcopy.  env WORK_N: rounds."""
import copy
import os

NESTED = {"name": ["a", "b", {"c": (1, 2, 3)}], "more": [[4, 5], [6, 7]]}


def function():
    pass


def main():
    n = int(os.environ.get("WORK_N", "1000000"))
    total = 0
    for i in range(n):
        for _ in range(8):
            total += id(function) == id(main)
            total += function.__code__ is main.__code__
        if i % 8 == 0:
            total += len(copy.deepcopy(NESTED))
    print("e:", total)


if __name__ == "__main__":
    main()
