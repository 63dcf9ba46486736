"""Reads dumps of the object graph by zstd, protobuf and trace.proto alone."""
import support


class Node:
    __slots__ = ("number", "address", "type", "size", "length", "text", "hash",
                 "flags", "line", "edges", "beside", "beside_bytes")

    def __init__(self, number, address, type_, size):
        self.number, self.address, self.type, self.size = number, address, type_, size
        self.length = self.text = None
        self.hash = self.flags = self.line = self.beside = self.beside_bytes = 0
        self.edges = []  # (kind, name, target's number)

    def __repr__(self):
        return f"{self.number}:{self.type}({self.address:#x} {self.size}B {self.text!r})"


class Dump:
    """A whole file: `nodes` by number, `at` by address."""

    def __init__(self, path):
        self.kinds = support.trace_pb2().EdgeKind
        self.types, self.names = {0: "?"}, {0: None}
        self.type_defs = {}
        self.nodes, self.at = [], {}
        self.header = self.begin = self.end = None
        self._next_new = 1
        for record in support.file_records(path):
            kind = record.WhichOneof("kind")
            getattr(self, "_" + kind)(getattr(record, kind))

    def _header(self, header):
        self.header = header

    def _objects_begin(self, begin):
        self.begin = begin

    def _objects_end(self, end):
        self.end = end

    def _object_type(self, definition):
        self.types[definition.id] = definition.name.decode("utf-8", "surrogatepass")
        self.type_defs[definition.id] = definition

    def _object_name(self, definition):
        self.names[definition.id] = definition.text.decode("utf-8", "surrogatepass")

    def _objects(self, batch):
        address = 0
        first = len(self.nodes)
        assert batch.first_node == first, (batch.first_node, first)
        for i, step in enumerate(batch.address_step):
            address += step
            node = Node(first + i, address, self.types[batch.type[i]],
                        batch.size_bytes[i])
            self.nodes.append(node)
            if address:
                assert address not in self.at
                self.at[address] = node
        self._sparse(batch, first)
        self._references(batch, first)

    def _sparse(self, batch, first):
        for field, name in (("length", "length"), ("text", "text"), ("hash", "hash"),
                            ("flags", "flags"), ("line", "line")):
            row = 0
            for step, value in zip(getattr(batch, field + "_at"),
                                   getattr(batch, field)):
                row += step
                setattr(self.nodes[first + row], name, value)
        row = 0
        for step, size, address in zip(batch.beside_at, batch.beside_bytes, batch.beside_step):
            row += step
            node = self.nodes[first + row]
            node.beside, node.beside_bytes = node.address + address, size

    def _references(self, batch, first):
        sources = []
        for down, count in zip(batch.late_node, batch.late_edges):
            sources += [first - down] * count
        for i, count in enumerate(batch.edges):
            sources += [first + i] * count
        names, row = {}, 0
        for step, value in zip(batch.edge_name_at, batch.edge_name):
            row += step
            names[row] = self.names[value]
        next_new = batch.first_new
        assert next_new == self._next_new
        assert len(sources) == len(batch.target) == len(batch.edge_kind)
        for i, (source, down) in enumerate(zip(sources, batch.target)):
            if down == 0:
                target = next_new
                next_new += 1
            else:
                target = next_new - down
            self.nodes[source].edges.append((batch.edge_kind[i], names.get(i), target))
        self._next_new = next_new

    def targets(self, node, *kinds):
        """(name, node) of its references of these kinds, of all without any."""
        wanted = [self.kinds.Value("EDGE_" + kind) for kind in kinds]
        return [(name, self.nodes[target]) for kind, name, target in node.edges
                if not wanted or kind in wanted]

    def target(self, node, name):
        found = [node for called, node in self.targets(node) if called == name]
        assert len(found) == 1, (node, name, found)
        return found[0]

    def group(self, text):
        return next(node for _, node in self.targets(self.nodes[0])
                    if node.text == text.encode())

    def strong_from(self, numbers):
        """The numbers of all that these reach without weak references."""
        weak = self.kinds.Value("EDGE_WEAK")
        seen, left = set(numbers), list(numbers)
        while left:
            for kind, _, target in self.nodes[left.pop()].edges:
                if kind != weak and target not in seen:
                    seen.add(target)
                    left.append(target)
        return seen
