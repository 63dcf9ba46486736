"""The records that pymemrun_reader gives. Times are in seconds since the run
began, sizes in bytes."""
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence


class Frame(NamedTuple):
    """A frame of a call stack."""
    file: str
    line: int  # 0: not known
    function: str


class Row(NamedTuple):
    """A call, a return, or another event of the profile hook. Of a C function
    file and line are those of the Python code that calls it."""
    event: int  # counted over the whole process, before any filter
    time_s: float
    what: str  # CALL, RETURN, C_CALL, C_RETURN, C_EXCEPT
    file: str
    line: int
    function: str
    rss_bytes: int
    drss_bytes: int  # change of RSS since the previous event
    thread: str  # "name#native id"
    is_context: bool  # kept beside a row that was logged
    module: str
    rss_exact: bool
    stack: int  # for Run.stack(); 0 without --stacks
    # The thread's change of RSS since its row before; None: page faults were not recorded.
    thread_drss_bytes: Optional[int]
    # Only a RETURN that knows its CALL has these, see --min-call-drss; otherwise None.
    call_event: Optional[int]  # the CALL's number
    call_s: Optional[float]  # how long it took
    call_drss_bytes: Optional[int]  # change of RSS since the CALL
    call_thread_drss_bytes: Optional[int]  # the thread's part of it; None as above


class Allocation(NamedTuple):
    """A block that was allocated."""
    time_s: float
    address: int
    size_bytes: int  # the size requested
    weight: float  # blocks that it stands for; 1.0 if all are recorded; 0.0 for mremap: what was moved keeps its weight
    allocator: str  # obj, mem, raw: CPython's domains; malloc, mmap, mremap: C code's
    thread: str
    stack: int  # for Run.stack()
    module: str  # the file that called malloc; empty for Python's allocators


class Free(NamedTuple):
    """A block that was freed."""
    time_s: float
    address: int
    thread: str


class Unmap(NamedTuple):
    """Addresses that are not mapped any more. The range may hold parts of several
    mappings, or none."""
    time_s: float
    address: int
    size_bytes: int
    moves: bool  # to where the thread's next Allocation by mremap says
    thread: str


class Page(NamedTuple):
    """Pages of memory that came or left."""
    time_s: float
    address: int  # of the first one
    pages: int
    action: str  # came, populated, unmapped, discarded, moved, trimmed
    thread: str
    stack: int  # for Run.stack()
    inferred: bool  # the stack is not that of the moment
    weight: int  # pages that each page stands for; 1 if all are recorded


class Mark(NamedTuple):
    """A label that the program set with pymemrun.mark()."""
    time_s: float
    label: str
    thread: str
    rss_bytes: int


class Gil(NamedTuple):
    """What a thread did with the GIL, or with a lock of a free-threaded interpreter."""
    time_s: float
    action: str  # taken, waiting, giving_way, gave_way, waiter, holder, left, state; lock_waiting, ...
    thread: str
    gil: Optional[int]  # 1: the main interpreter's; None: of a lock
    stack: int  # for Run.stack(); of waiter and holder
    # In taken, waiting and state: what the last thread to take it did until then; otherwise None.
    free_s: Optional[float]  # how long it has been free; 0: that thread has it
    pauses: Optional[int]  # how often the thread released it and took it again at once...
    paused_s: Optional[float]  # ...and how long it was without it
    by: Optional[str]  # in lock_taken and goes_on: the thread that let this thread go on


class End(NamedTuple):
    """How the run ended, and what it came to."""
    how: str  # exit, signal, exec, "killed or exited", unknown
    status: int  # of exit: its status; of signal: which one
    time_s: float
    events: int
    rows: int  # recorded, context included...
    dropped: int  # ...lost because they came too fast
    lost_on_write: int  # ...lost because they could not be written
    hwm_bytes: int  # VmHWM
    own_bytes: int  # resident bytes of the tracer itself; 0: not known
    user_s: float
    system_s: float
    page_events: int
    heap_allocations: int  # recorded
    heap_frees: int
    heap_events_lost: int


class PlaceRow(NamedTuple):
    """What is alive of what a line, function or file allocated."""
    file: str
    line: int  # of a function its first; 0: none
    function: str  # empty for a file
    live_bytes: int
    live_count: int  # sampled: an estimate, see Snapshot.unseen_count
    error_bytes: int  # one standard error of live_bytes; 0 where it is exact


class NameRow(NamedTuple):
    """What is alive of what a thread, an allocator or a module allocated."""
    name: str
    live_bytes: int
    live_count: int  # sampled: an estimate, see Snapshot.unseen_count
    error_bytes: int


class StackRow(NamedTuple):
    """What is alive of what a stack allocated on a thread."""
    frames: Sequence[Frame]  # the outermost first
    thread: str
    allocator: str
    live_bytes: int
    live_count: int  # sampled: an estimate, see Snapshot.unseen_count
    error_bytes: int


class ObjectAllocation(NamedTuple):
    """Where and when the block of a dump's object was allocated."""
    line: str  # of your own code: "/app/cache.py:4 fill"
    time_s: Optional[float]  # None: before the process was forked
    thread: str
    stack: Sequence[Frame]  # the outermost first
    sure: bool  # False: CPython reuses such blocks; the object may have been made elsewhere


class TypeRow(NamedTuple):
    """The objects of a type in a dump of the object graph."""
    type: str
    count: int
    size_bytes: int
    largest_bytes: int
    retained_bytes: int  # their own, and all that only one of them keeps alive


class TypeRows(List[TypeRow]):
    """What ObjectDump.summarize() gives. It prints as a table with shares of all objects."""
    def __init__(self, rows: Iterable[TypeRow], objects: int, types: int, size_bytes: int) -> None:
        super().__init__(rows)
        self.objects = objects  # of all types, also of those that `limit` left out
        self.types = types
        self.size_bytes = size_bytes

    def __repr__(self) -> str:
        lines = ['{:,} objects of {:,} types take {:,} bytes ({:.1f} MiB)'.format(
                     self.objects, self.types, self.size_bytes, self.size_bytes / 2**20),
                 '{:>4} {:>11} {:>3} {:>15} {:>3} {:>4} {:>13}  {}'.format(
                     '#', 'count', '%', 'size', '%', 'cum%', 'largest', 'type')]
        sum_bytes = 0
        for number, row in enumerate(self):
            sum_bytes += row.size_bytes
            lines.append('{:>4} {:>11,} {:>3.0f} {:>15,} {:>3.0f} {:>4.0f} {:>13,}  {}'.format(
                number, row.count, 100 * row.count / max(self.objects, 1), row.size_bytes,
                100 * row.size_bytes / max(self.size_bytes, 1),
                100 * sum_bytes / max(self.size_bytes, 1), row.largest_bytes, row.type))
        return '\n'.join(lines)


class References(Dict[Any, Any]):
    """The value of DumpedObject.refs_as_dict. Calling it returns the same, as it was once a method."""
    def __call__(self) -> 'References':
        return self


class WhatIf(NamedTuple):
    """How much the heap and RSS would shrink. None: unknown; the last fields say why."""
    objects: int
    object_bytes: int  # their own
    heap_bytes: Optional[int]  # their blocks, with the blocks beside them
    heap_unplaced_bytes: Optional[int]  # part of heap_bytes whose address is unknown
    rss_bytes: Optional[int]  # at the dump
    rss_at_once_bytes: Optional[int]  # what would return as soon as the objects are freed
    rss_alone_bytes: Optional[int]  # pages that hold nothing else: the next five fields add up to it
    rss_arena_bytes: Optional[int]
    arenas: Optional[int]  # CPython's arenas that would be empty
    rss_mapped_bytes: Optional[int]
    rss_trimmed_bytes: Optional[int]  # the end of malloc's heap
    rss_kept_arena_bytes: Optional[int]
    rss_malloc_bytes: Optional[int]  # malloc_trim(0) releases them
    rss_shared_bytes: Optional[int]  # pages shared with other data
    heap_not_known: Optional[str]
    rss_not_known: Optional[str]


class History(NamedTuple):
    """Live bytes over time, as matplotlib.pyplot.stackplot() takes them."""
    x: Sequence[float]  # seconds
    ys: Sequence[Sequence[float]]  # bytes, a row for each label
    labels: Sequence[str]
