"""How Meliae dumps and loads objects, in Python: its C code builds for no Python
that is measured here. Each object is a line of JSON. The loader keeps all of them,
finds who refers to each, and adds up by type.
usage: meliae_lines.py FILE
"""
import gc
import json
import sys


def line_of(thing, referents):
    """What a line says of an object: of texts and numbers the value, too."""
    line = {"address": id(thing), "type": type(thing).__name__,
            "size": sys.getsizeof(thing)}
    if isinstance(thing, (str, bytes, list, tuple, dict, set)):
        line["len"] = len(thing)
    if isinstance(thing, str):
        line["value"] = thing[:100]
    elif isinstance(thing, int):
        line["value"] = thing
    line["refs"] = [id(other) for other in referents]
    return json.dumps(line)


def dump(path):
    """Writes each object that the cycle collector knows, and what they refer to."""
    told = set()
    with open(path, "w") as file:
        for start in gc.get_objects():
            left = [start]
            while left:
                thing = left.pop()
                if id(thing) in told:
                    continue
                told.add(id(thing))
                referents = gc.get_referents(thing)
                file.write(line_of(thing, referents) + "\n")
                left.extend(other for other in referents
                            if not gc.is_tracked(other))


class Loaded:
    __slots__ = ("type", "size", "refs", "parents")

    def __init__(self, kind, size, refs):
        self.type, self.size, self.refs, self.parents = kind, size, refs, ()


def load(path):
    """Objects by their addresses. Equal addresses and types are one object here."""
    objects, same = {}, {}
    with open(path) as lines:
        for line in lines:
            found = json.loads(line)
            address = same.setdefault(found["address"], found["address"])
            kind = same.setdefault(found["type"], found["type"])
            refs = tuple(same.setdefault(ref, ref) for ref in found["refs"])
            objects[address] = Loaded(kind, found["size"], refs)
    return objects


def find_parents(objects):
    parents = {}
    for address, thing in objects.items():
        for ref in thing.refs:
            parents.setdefault(ref, []).append(address)
    for address, found in parents.items():
        if address in objects:
            objects[address].parents = tuple(found)


def summary(objects):
    """Lines of count, bytes, largest, type; the most bytes first."""
    types = {}
    for thing in objects.values():
        count, total, largest = types.get(thing.type, (0, 0, 0))
        types[thing.type] = (count + 1, total + thing.size,
                             max(largest, thing.size))
    rows = sorted(types.items(), key=lambda row: -row[1][1])
    return [f"{count:9} {total:12} {largest:10} {kind}"
            for kind, (count, total, largest) in rows[:20]]


def main():
    gc.disable()  # it would look at millions of objects, repeatedly
    objects = load(sys.argv[1])
    find_parents(objects)
    print(len(objects), "objects")
    print("\n".join(summary(objects)))


if __name__ == "__main__":
    main()
