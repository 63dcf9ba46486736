"""HeapBatch records into heap events, as format/FORMAT.md says and by nothing
else, and which blocks are alive by them."""
import collections

# What a free gives back: a block, or a range of addresses, which may move.
BLOCK, RANGE, MOVED_RANGE = range(3)
Event = collections.namedtuple(
    "Event", "is_free address size stack thread us allocator code free_of",
    defaults=(BLOCK,))

_64 = (1 << 64) - 1
_32 = (1 << 32) - 1


def _key(a, b, c, bits):
    return (a * 0x9E3779B97F4A7C15 + b * 0xC2B2AE3D27D4EB4F +
            c * 0x165667B19E3779F9 & _64) >> 64 - bits


def _class_of(allocator, size):
    if allocator > 1 or size > 512:
        return 0
    return (size + 15) // 16 or 1


class _Pool:
    __slots__ = ("begin", "size_class", "freed", "fresh")

    def __init__(self, begin=0, size_class=0, fresh=0):
        self.begin, self.size_class = begin, size_class
        self.freed, self.fresh = 0, fresh


class _Pools:
    def __init__(self):
        self.pools = [_Pool() for _ in range(2048)]
        self.links = [0] * 32768
        self.lists = [{} for _ in range(33)]  # numbers; the last is the first
        self.newest = 0

    def next_block(self, size_class):
        if not self.lists[size_class]:
            return self.newest + 16432 & _64
        pool = self.pools[next(reversed(self.lists[size_class]))]
        return pool.begin + 16 * (pool.freed or pool.fresh)

    def allocated(self, address, size_class):
        at, unit = address >> 14 & 2047, address >> 4 & 1023
        begin = address >> 14 << 14
        pool = self.pools[at]
        if pool.begin != begin or pool.size_class != size_class:
            self.lists[pool.size_class].pop(at, None)
            pool = self.pools[at] = _Pool(begin, size_class, unit)
            self.newest = begin
        if pool.freed == unit:
            pool.freed = self.links[address >> 4 & 32767]
        if pool.fresh <= unit:
            pool.fresh = unit + size_class
        listed = self.lists[size_class]
        listed.pop(at, None)
        if pool.freed or pool.fresh + size_class <= 1024:
            listed[at] = None

    def freed(self, address):
        at = address >> 14 & 2047
        pool = self.pools[at]
        if pool.begin == address >> 14 << 14 and pool.size_class:
            self.links[address >> 4 & 32767] = pool.freed
            pool.freed = address >> 4 & 1023
            self.lists[pool.size_class].setdefault(at)


class _Batch:
    """One batch; its predictions begin anew."""

    def __init__(self, batch):
        self.address_step = iter(batch.address_step)
        self.stack = iter(batch.stack)
        self.size = iter(batch.size)
        self.pools = _Pools()
        self.stacks, self.sizes, self.steps, self.large = {}, {}, {}, {}
        self.last_stacks, self.last_sizes = (0, 0, 0), (0, 0)
        self.last_of = [0] * 33
        self.order, self.known = [0] * 8192, [(0, 0)] * 8192
        self.lanes, self.freed = [0] * 8, 0  # how many
        self.last_steps = (0, 0, 0)
        self.number = self.freed_number = 0  # n and f

    def step(self, op):
        step = next(self.address_step)
        return step if op & 16 else step * 16

    def allocation(self, op):
        allocator = op >> 5
        key = _key(*self.last_stacks, 12)
        if op & 4:
            self.stacks[key] = next(self.stack)
        stack = self.stacks.get(key, 0)
        key = _key(stack, *self.last_sizes, 12)
        if op & 8:
            self.sizes[key] = next(self.size)
        size = self.sizes.get(key, 0)
        self.last_stacks = stack, *self.last_stacks[:2]
        self.last_sizes = size, self.last_sizes[0]
        size_class, large = _class_of(allocator, size), _key(size, 0, 0, 8)
        if op & 2:
            address = self.last_of[size_class] + self.step(op) & _64
        elif size_class:
            address = self.pools.next_block(size_class)
        else:
            address = self.large.get(large, 0)
        self.last_of[size_class] = address
        if size_class:
            self.pools.allocated(address, size_class)
        else:
            self.large[large] = address
        self.order[self.number & 8191] = address
        self.known[(address >> 5 ^ address >> 20) & 8191] = (
            address >> 4 & _32, self.number)
        self.number += 1
        return address, size, stack, allocator

    def freed_address(self, op, key):
        how = op >> 1 & 7
        if how == 0:
            step = self.steps.get(key, 1)
            return self.order[self.freed_number + step & 8191]
        if how == 1:
            return self.order[self.number - 1 & 8191]
        assert how == 2, how
        return self.lanes[op >> 5] + self.step(op) & _64

    def range(self, op):
        """Address and size."""
        return self.lanes[op >> 5] + self.step(op) & _64, next(self.size)

    def free(self, op):
        key = _key(*self.last_steps, 12)
        address = self.freed_address(op, key)
        self.lanes[self.freed & 7] = address
        self.freed += 1
        tag, number = self.known[(address >> 5 ^ address >> 20) & 8191]
        if tag == address >> 4 & _32:
            step = number - self.freed_number
            self.steps[key] = step
            self.last_steps = step & _32, *self.last_steps[:2]
            self.freed_number = number
        self.pools.freed(address)
        return address


def _changes(at, values):
    """{entry: value} of a sparse column."""
    entry, found = 0, {}
    for distance, value in zip(at, values, strict=True):
        entry += distance
        found[entry] = value
    return found


def decoded(batch):
    """The events of one HeapBatch."""
    state = _Batch(batch)
    times = _changes(batch.time_at, batch.time_step)
    threads = _changes(batch.thread_at, batch.thread)
    codes = _changes(batch.code_at, batch.code)
    us, thread, code = batch.first_us, 0, 0
    for entry, op in enumerate(batch.op):
        us += times.get(entry, 0)
        thread = threads.get(entry, thread)
        code = codes.get(entry, code)
        if op & 1 and op >> 1 & 7 > 2:
            address, size = state.range(op)
            yield Event(True, address, size, 0, thread, us, 0, 0,
                        (op >> 1 & 7) - 2)
        elif op & 1:
            yield Event(True, state.free(op), 0, 0, thread, us, 0, 0)
        else:
            address, size, stack, allocator = state.allocation(op)
            yield Event(False, address, size, stack, thread, us, allocator,
                        code)
    for column in (state.address_step, state.stack, state.size):
        assert next(column, None) is None, "a column is too long"


class HeapRun:
    """The heap events of a run file, by its records alone."""

    def __init__(self, run):
        self.stacks, self.codes, self.mappings = {}, {}, {}
        self.marks, self.rates, self.events = {}, [], []
        self.lost = 0
        for record in run.records():
            kind = record.WhichOneof("kind")
            if kind == "stack":
                self.stacks[record.stack.id] = record.stack
            elif kind == "code":
                self.codes[record.code.id] = record.code
            elif kind == "mapping":
                self.mappings[record.mapping.id] = record.mapping.name.decode()
            elif kind == "mark":
                self.marks[record.mark.label.decode()] = record.mark.time_us
            elif kind == "heap_rates":
                self.rates.append(record.heap_rates)
            elif kind == "heap_loss":
                self.lost += record.heap_loss.events
            elif kind == "heap":
                self.events.extend(decoded(record.heap))

    def place(self, stack):
        """(file, line) of a stack's innermost frame."""
        definition = self.stacks[stack]
        code = self.codes[definition.code]
        return ((code.file or code.name).decode("utf-8", "surrogateescape"),
                definition.line)

    def functions(self, stack):
        """Names of a stack's functions, innermost first."""
        names = []
        while stack:
            definition = self.stacks[stack]
            names.append(self.codes[definition.code].name.decode())
            stack = definition.parent
        return names
