"""Reads the run files of pymemrun.

    import pymemrun_reader

    with pymemrun_reader.open('run.pb') as run:
        for event in run.events('heap'):
            ...
        x, ys, labels = run.heap_history(0.5)

    for run in pymemrun_reader.open_all('runs'):  # a folder
        print(run.pid, run.parent_pid, run.script)

Times are in seconds since the run began, sizes in bytes. A file that ends early,
or is damaged inside, is read as far as it can be; Run.torn and Run.damages tell.
"""
import os as _os
import re as _re
from typing import List as _List, Union as _Union

from ._reader import DumpedObject, ObjectDump, Relation, Run, Snapshot, __version__, objects, open
from ._records import (Allocation, End, Frame, Free, Gil, History, Mark, NameRow,
                       ObjectAllocation, Page, PlaceRow, References,
                       Row, StackRow, TypeRow, TypeRows, Unmap, WhatIf)

__all__ = ['Allocation', 'DumpedObject', 'End', 'Frame', 'Free', 'Gil', 'History', 'Mark', 'NameRow',
           'ObjectAllocation', 'ObjectDump', 'Page', 'PlaceRow', 'References', 'Relation', 'Row', 'Run', 'Snapshot', 'StackRow', 'TypeRow', 'TypeRows', 'Unmap', 'WhatIf',
           'objects', 'open', 'open_all']


def _repr_of(of):
    shown = of.__dict__['__repr__'].__func__

    def __repr__(self):
        return shown(self)
    return __repr__


# pprint() looks it up in a dict, and pybind11's own cannot be a key.
for _class in (DumpedObject, Relation, Run):
    _class.__repr__ = _repr_of(_class)

_is_dump_name = _re.compile(r'[.]obj(-[^.]*)?[.]pb$').search


def open_all(*paths: _Union[str, '_os.PathLike[str]']) -> _List[Run]:
    """Opens several run files, those first that began first. A folder stands for the files
    in it that end in ".pb", without dumps of objects. Raises as open() does."""
    names: _List[str] = []
    for path in map(_os.fspath, paths):
        if _os.path.isdir(path):
            names += sorted(_os.path.join(path, name) for name in _os.listdir(path)
                            if name.endswith('.pb') and not _is_dump_name(name))
        else:
            names.append(path)
    return sorted(map(open, names), key=lambda run: run.start_time)
