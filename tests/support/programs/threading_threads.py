import threading
try:
    RECORDER
except NameError:
    RECORDER = None
if RECORDER:
    threading.setprofile(RECORDER)
def first(n):
    return [abs(x) for x in range(n)]
def second(n):
    return sorted(range(n), key=lambda x: -x)
class Worker(threading.Thread):
    def run(self):
        for n in range(50):
            second(n)
def body():
    for n in range(50):
        first(n)
threads = [threading.Thread(target=body), Worker()]
for t in threads:
    t.start()
for t in threads:
    t.join()
