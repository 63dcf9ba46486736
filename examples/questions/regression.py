"""A nightly report. What got worse since yesterday?"""
import json


def load(count):
    texts = (json.dumps({"id": n, "tag": f"t{n % 7}"}) for n in range(count))
    return [json.loads(text) for text in texts]


def group(records):
    found = {}
    for record in records:
        found.setdefault(record["tag"], []).append(record["id"])
    return found


def render(groups):
    pages = []
    for tag, ids in sorted(groups.items()):
        pages += [f"{tag}: {n}".ljust(200) for n in ids]  # page
    return pages


records = load(20000)
groups = group(records)
pages = render(groups)
print(len(records), len(groups), len(pages))
