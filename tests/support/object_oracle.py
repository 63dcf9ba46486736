"""In a program under pymemrun: what gc and sys say of every object, before and
after a dump. What is the same both times was so at the dump, too.

    import object_oracle
    kept = ...
    object_oracle.dump(kept, sys.argv[1])
"""
import gc
import json
import sys

import pymemrun


def facts(kept):
    """{id: (type, size, ids of referents, tracked)} of all that gc knows, of
    `kept`, and of what these refer to. gc.get_objects() leaves out the frozen."""
    found = {}
    left = [gc.get_objects(), [kept]]
    skip = {id(found), id(left), id(left[0]), id(left[1])}
    while left:
        for o in left.pop():
            if id(o) in found or id(o) in skip:
                continue
            if isinstance(o, type) and not o.__flags__ & (1 << 9):
                referents = []  # gc.get_referents() has none of static types
            else:
                referents = gc.get_referents(o)
            try:
                size = sys.getsizeof(o)
            except Exception:
                size = None
            found[id(o)] = (type(o).__qualname__, size,
                            tuple(sorted(map(id, referents))), gc.is_tracked(o))
            left.append(referents)
            skip.add(id(referents))
            skip.add(id(left))
    return found


def closure_of(kept):
    """ids of what `kept` reaches without passing modules and frames."""
    seen, left = {}, [kept]
    stops = {id(vars(module)) for module in list(sys.modules.values())
             if hasattr(module, "__dict__")}
    while left:
        o = left.pop()
        if id(o) in seen or id(o) in stops or type(o).__name__ in ("module", "frame"):
            continue
        seen[id(o)] = o
        left.extend(gc.get_referents(o))
    return list(seen)


def dump(kept, path, **options):
    gc.collect()
    gc.disable()
    facts(kept)
    before = facts(kept)
    file = pymemrun.dump_objects(wait=True, **options)
    after = facts(kept)
    same = {i: known for i, known in before.items() if after.get(i) == known}
    with open(path, "w") as out:
        json.dump({"file": file, "before": len(before), "kept": closure_of(kept),
                   "same": [[i, *known] for i, known in same.items()]}, out)
    gc.enable()
