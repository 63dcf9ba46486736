def letters():
    for c in "abc":
        yield c.upper()
",".join(letters())
"".join(chr(x) for x in range(65, 70))
b"".join(bytes([x]) for x in range(3))
tuple(letters())
set(letters())
[*letters(), *letters()]
a, *b = letters()
any(x == "B" for x in letters())
all(x for x in letters())
max(letters())
"%s %r" % (letters, [abs(-1)])
f"{len('x')!r:>{abs(-5)}}"
