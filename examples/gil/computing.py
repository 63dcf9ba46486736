"""Two threads that only compute: they share the GIL, and each waits for half of its time.

    pymemrun --trace gil,states -o computing.pb computing.py
    pymemreport gil computing.pb
    pymemreport offgil computing.pb -o computing.svg
"""
import threading
import time


def count_up(steps):
    total = 0
    for number in range(steps):
        total += number
    return total


def main():
    threads = [threading.Thread(target=count_up, args=(6_000_000,), name=f'counter {n}')
               for n in (1, 2)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)  # the main thread needs no GIL while it sleeps
    for thread in threads:
        thread.join()


if __name__ == '__main__':
    main()
