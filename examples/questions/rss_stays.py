"""A batch whose memory is freed, and few blocks between that stay. Why does RSS
not return?"""


def batch():
    kept, gone = [], []
    for n in range(400_000):
        gone.append(str(n) * 10)
        if n % 100 == 0:
            kept.append(str(n))  # pins
    return kept


kept = batch()
print(len(kept))
