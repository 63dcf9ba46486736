"""Rows of an answer in SQL, as named tuples."""
import collections as _collections


def named(names, rows):
    """A QueryRow for each of the rows; a column whose name is no identifier is _0, _1, ..."""
    row = _collections.namedtuple('QueryRow', names, rename=True)
    return [row(*values) for values in rows]
