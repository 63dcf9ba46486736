"""Grows a little with each round. What creeps?"""
import time

history = []
for n in range(200):
    work = [str(i) for i in range(20_000)]
    history.append("".join(work))  # creeps
    time.sleep(0.002)
print(len(history))
