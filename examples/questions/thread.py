"""One of several threads takes the memory. Which one?"""
import threading

results = {}


def small():
    results["small"] = list(range(1000))


def large():
    results["large"] = [bytes(1000) for n in range(30_000)]  # large


for work in (small, large):
    thread = threading.Thread(target=work, name=work.__name__)
    thread.start()
    thread.join()
print(len(results))
