def careful():
    try:
        while True:
            try:
                yield 1
            except KeyError as e:
                yield repr(e)
    finally:
        len("done")

def stubborn():
    try:
        yield 1
    except GeneratorExit:
        yield 2

def delegating():
    yield from careful()

g = careful()
next(g)
g.throw(KeyError("k"))
g.close()
g = careful()
next(g)
try:
    g.throw(ValueError, "v")
except ValueError:
    pass
g = careful(); g.close()         # never begun
g = careful(); next(g); del g    # closed by its destructor
g = stubborn(); next(g)
try:
    g.close()
except RuntimeError:
    pass
del g
g = delegating()
next(g)
g.throw(KeyError)
g.close()
