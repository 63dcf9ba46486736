"""Two threads whose work is done by C code that lets go of the GIL, beside one that computes.
It has the GIL for most of the time, and hardly anybody waits.

    pymemrun --trace gil,states -o letting_go.pb letting_go.py
    pymemreport gil letting_go.pb
"""
import hashlib
import threading

DATA = bytes(32 << 20)


def digest(rounds):
    for _ in range(rounds):
        hashlib.sha256(DATA)  # without the GIL


def main():
    threads = [threading.Thread(target=digest, args=(8,), name=f'digest {n}') for n in (1, 2)]
    for thread in threads:
        thread.start()
    total = 0
    for number in range(6_000_000):
        total += number
    for thread in threads:
        thread.join()


if __name__ == '__main__':
    main()
