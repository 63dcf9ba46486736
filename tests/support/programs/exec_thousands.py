# Code objects made and dropped by the thousand: their addresses come back with
# other names and lines.
function = type(lambda: 0)


def define(n):
    names = {}
    source = "\n" * (n % 40) + "def f%d(x):\n    return g%d(x)\n" % (n, n) + \
        "\n" * (n % 3) + "def g%d(x): return abs(x)\n" % n
    exec(compile(source, "file%d.py" % (n % 5), "exec"), names)
    return names["f%d" % n]


addresses = set()
for n in range(3000):
    f = define(n)
    addresses.add(id(f.__code__))
    f(-n)
assert len(addresses) < 2500, len(addresses)


# The same code under other names and lines.
def plain(x):
    return len(str(x))


addresses = set()
for n in range(3000):
    code = plain.__code__.replace(co_name="plain%d" % n,
                                  co_qualname="c.plain%d" % n,
                                  co_firstlineno=n + 1)
    addresses.add(id(code))
    function(code, {})(n)
    del code
assert len(addresses) < 2500, len(addresses)

# Generators that outlive every other reference to their code.
kept = []
for n in range(1000):
    names = {}
    exec("def gen%d():\n  x = yield abs(-%d)\n  yield x\n" % (n, n), names)
    generator = names["gen%d" % n]()
    next(generator)
    names.clear()
    if n % 3 == 0:
        kept.append(generator)
    else:
        generator.close()
    del generator
    define(n)(n)
for generator in kept[::-2]:
    generator.send(1)
del kept[::2]
for n in range(500):
    define(n)(n)
for generator in kept:
    generator.close()
