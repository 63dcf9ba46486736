"""Generators that hand rows on, and one step that keeps them all. Which step?"""


def numbers(count):
    for n in range(count):
        yield n


def records(rows):
    for n in rows:
        yield {"n": n, "text": str(n)}  # kept


def in_order(rows):
    kept = list(rows)
    kept.sort(key=lambda row: -row["n"])
    yield from kept


total = 0
for row in in_order(records(numbers(100_000))):
    total += row["n"]
print(total)
