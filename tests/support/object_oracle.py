"""In a program under pymemrun: what gc and sys say of every object, before and
after a dump. What is the same both times was so at the dump, too.

    import object_oracle
    kept = ...
    object_oracle.dump(kept, sys.argv[1])
"""
import ctypes
import gc
import json
import sys

import pymemrun


def _bytes_at(address, count):
    return ctypes.string_at(address, count)


def _word_at(address):
    return int.from_bytes(_bytes_at(address, 8), sys.byteorder)


def values_bytes(o):
    """(least, most) bytes of attributes that lie in an instance or beside it, by
    which its size differs from sys.getsizeof(o)."""
    flags = type(o).__flags__
    if isinstance(o, dict):
        return split_bytes(o)
    if sys.version_info >= (3, 13):
        if not flags & 1 << 2:
            return 0, 0
        room = _bytes_at(id(o) + type(o).__basicsize__, 1)[0]
        # It may have been allocated with room for one more.
        return tuple(8 + 8 * room + (room + 7) // 8 * 8 for room in (room, room + 1))
    if sys.version_info < (3, 11) or not flags & 1 << 4:
        return 0, 0
    if sys.version_info >= (3, 12):
        values = _word_at(id(o) - 24)
        if not values & 1:
            return 0, 0
        values += 1
    else:
        values = _word_at(id(o) - 32)
        if not values:
            return 0, 0
    before = _bytes_at(values - 1, 1)[0]
    return before + 8 * (before - 9), before + 8 * (before - 2)


def split_bytes(o):
    """The same of a dictionary whose keys belong to a type."""
    values = _word_at(id(o) + 40)
    if sys.version_info < (3, 11) or not values:
        return 0, 0
    keys = _word_at(id(o) + 32)
    counted = 8 * (_word_at(keys + 16) + _word_at(keys + 24))
    if sys.version_info >= (3, 13):
        room, _, is_embedded, _ = _bytes_at(values, 4)
        # These count in the instance.
        bytes_ = 0 if is_embedded else 8 + 8 * room + (room + 7) // 8 * 8
        return bytes_ - counted, bytes_ - counted
    before = _bytes_at(values - 1, 1)[0]
    return before + 8 * (before - 9) - counted, before + 8 * (before - 2) - counted


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
                size = [size + more for more in values_bytes(o)]
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
