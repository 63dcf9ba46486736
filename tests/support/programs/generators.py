def count(n):
    for i in range(n):
        got = yield i
        if got:
            yield abs(got)

def outer():
    result = yield from count(3)
    yield result

total = sum(count(4))
for value in outer():
    value
g = count(5)
next(g)
g.send(-2)
g.close()
list(x for x in count(3) if x)
dict(zip("abc", count(3)))
