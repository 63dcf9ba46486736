"""Prints a run file's heap events as CSV, by zstd, protobuf and trace.proto alone.

    apt install protobuf-compiler python3-protobuf zstd
    protoc --python_out=. *.proto
    zstd -dc run.pb | /usr/bin/python3 example_heap_reader.py

What is predicted of them follows FORMAT.md word for word. The same lines, to the
byte, come from `pymemcat run.pb --csv --raw-text --records heap
--columns clock_s,what,address,size_bytes,allocator,file,line,function` where no
name holds a control character.
"""
import csv, sys
from google.protobuf.internal.decoder import _DecodeVarint
from trace_pb2 import Record

M64, M32 = 2**64 - 1, 2**32 - 1


def key(a, b, c, bits):
    return (a * 0x9E3779B97F4A7C15 + b * 0xC2B2AE3D27D4EB4F + c * 0x165667B19E3779F9 & M64) >> 64 - bits


class Pools:
    def __init__(self):
        self.pools = [[0, 0, 0, 0] for _ in range(2048)]  # begin, class, freed, fresh
        self.lists = [[] for _ in range(33)]  # of numbers of pools
        self.links, self.newest = [0] * 32768, 0

    def next(self, kind):
        if not self.lists[kind]:
            return self.newest + 16432 & M64
        begin, _, freed, fresh = self.pools[self.lists[kind][0]]
        return begin + 16 * (freed or fresh) & M64

    def leave(self, number):
        of = self.lists[self.pools[number][1]]
        if number in of:
            of.remove(number)

    def allocated(self, address, kind):
        number, unit, begin = address >> 14 & 2047, address >> 4 & 1023, address >> 14 << 14
        if self.pools[number][:2] != [begin, kind]:
            self.leave(number)
            self.pools[number] = [begin, kind, 0, unit]
            self.newest = begin
        pool = self.pools[number]
        if pool[2] == unit:
            pool[2] = self.links[address >> 4 & 32767]
        if pool[3] <= unit:
            pool[3] = unit + kind
        self.leave(number)
        if pool[2] != 0 or pool[3] + kind <= 1024:
            self.lists[kind].insert(0, number)

    def freed(self, address):
        number = address >> 14 & 2047
        pool = self.pools[number]
        if pool[0] != address >> 14 << 14 or pool[1] == 0:
            return
        self.links[address >> 4 & 32767], pool[2] = pool[2], address >> 4 & 1023
        if number not in self.lists[pool[1]]:
            self.lists[pool[1]].insert(0, number)


class Predictions:
    def __init__(self):
        self.stacks, self.sizes, self.steps = [0] * 4096, [0] * 4096, [1] * 4096
        self.large, self.last, self.lane = [0] * 256, [0] * 33, [0] * 8
        self.order, self.known = [0] * 8192, [(0, 0)] * 8192
        self.last_stacks, self.last_sizes, self.last_steps = [0] * 3, [0] * 2, [0] * 3
        self.n = self.f = self.m = 0
        self.pools = Pools()

    def allocation(self, op, stacks, sizes, steps):
        """Its stack, size, allocator and address."""
        at = key(*self.last_stacks, 12)
        if op & 4:
            self.stacks[at] = next(stacks)
        stack = self.stacks[at]
        at = key(stack, *self.last_sizes, 12)
        if op & 8:
            self.sizes[at] = next(sizes)
        size, allocator = self.sizes[at], op >> 5
        self.last_stacks = [stack] + self.last_stacks[:2]
        self.last_sizes = [size] + self.last_sizes[:1]
        kind = max(1, (size + 15) // 16) if allocator < 2 and size <= 512 else 0
        if op & 2:
            address = self.last[kind] + next(steps) * (1 if op & 16 else 16) & M64
        else:
            address = self.pools.next(kind) if kind else self.large[key(size, 0, 0, 8)]
        self.last[kind] = address
        if kind:
            self.pools.allocated(address, kind)
        else:
            self.large[key(size, 0, 0, 8)] = address
        self.order[self.n & 8191] = address
        self.known[self.slot(address)] = (address >> 4 & M32, self.n)
        self.n = self.n + 1 & M32
        return stack, size, allocator, address

    def free(self, op, steps):
        """The address."""
        at = key(*(step & M32 for step in self.last_steps), 12)
        how = op >> 1 & 7
        if how == 0:
            address = self.order[self.f + self.steps[at] & 8191]
        elif how == 1:
            address = self.order[self.n - 1 & 8191]
        else:
            address = self.lane[op >> 5] + next(steps) * (1 if op & 16 else 16) & M64
        self.lane[self.m & 7] = address
        self.m += 1
        tag, number = self.known[self.slot(address)]
        if tag == address >> 4 & M32:
            step = self.steps[at] = (number - self.f + 2**31 & M32) - 2**31
            self.last_steps = [step] + self.last_steps[:2]
            self.f = number
        self.pools.freed(address)
        return address

    @staticmethod
    def slot(address):
        return (address >> 5 ^ address >> 20) & 8191


def events(batch):
    """(time_us, what, address, size, allocator, stack) of each entry."""
    guess, us, time_at = Predictions(), batch.first_us, 0
    stacks, sizes, steps = iter(batch.stack), iter(batch.size), iter(batch.address_step)
    times = {}
    for distance, step in zip(batch.time_at, batch.time_step):
        time_at += distance
        times[time_at] = step
    for i, op in enumerate(batch.op):
        us += times.get(i, 0)
        if op & 15 in (7, 9):
            address = guess.lane[op >> 5] + next(steps) * (1 if op & 16 else 16) & M64
            yield us, "UNMAP" if op & 15 == 7 else "MOVE", address, next(sizes), "", 0
        elif op & 1:
            yield us, "FREE", guess.free(op, steps), "", "", 0
        else:
            stack, size, allocator, address = guess.allocation(op, stacks, sizes, steps)
            yield us, "ALLOC", address, size, "obj mem raw malloc mmap mremap".split()[allocator], stack


def main():
    data, at, known, write = sys.stdin.buffer.read(), 0, {}, csv.writer(sys.stdout).writerow
    write("clock_s what address size_bytes allocator file line function".split())
    while at < len(data):
        size, at = _DecodeVarint(data, at)
        record, at = Record.FromString(data[at:at + size]), at + size
        for kind, value in record.ListFields():
            known[kind.name, getattr(value, "id", 0)] = value
        for us, what, address, size, allocator, stack in events(record.heap):
            place = ["", "", ""] if what != "ALLOC" else ["?", 0, "?"]
            if stack:
                node = known["stack", stack]
                code = known["code", node.code]
                place = [code.file.decode(errors="replace"), node.line, code.name.decode(errors="replace")]
            write([f"{us / 1e6:.6f}", what, hex(address), size, allocator, *place])


if __name__ == "__main__":
    main()
