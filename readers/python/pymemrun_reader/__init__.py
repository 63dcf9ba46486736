"""Reads the run files of pymemrun.

    import pymemrun_reader

    with pymemrun_reader.open('run.pb') as run:
        for event in run.events('heap'):
            ...
        x, ys, labels = run.heap_history(0.5)

Times are in seconds since the run began, sizes in bytes. A file that ends early,
or is damaged inside, is read as far as it can be; Run.torn and Run.damages tell.
"""
from ._reader import Run, Snapshot, __version__, open
from ._records import (Allocation, End, Frame, Free, History, Mark, NameRow, Page, PlaceRow, Row,
                       StackRow, Unmap)

__all__ = ['Allocation', 'End', 'Frame', 'Free', 'History', 'Mark', 'NameRow', 'Page', 'PlaceRow',
           'Row', 'Run', 'Snapshot', 'StackRow', 'Unmap', 'open']
